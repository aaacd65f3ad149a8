. "$parts/heatmap.sh"
title="Reported latency of MPI_Reduce, 4 B, by reduction and by barrier before it"
papers="EuroMPI 2023, Figure 2"
look="Within a row the operation is the same: any color is distortion caused by the barrier before it. A column whose
colors differ from row to row changes the order of the algorithms. Arrows mark values off the scale."
needs=mpix_bench

# The first launches for an algorithm are harmonized, too, to see how far repeated runs agree.
measure() {
    local reduce barrier options run
    options="reduce -m 4:4 $(calls_for 20 50000 0.5)"
    for reduce in $(algorithms reduce); do
        choose_algorithms reduce "$reduce"
        run=1
        # shellcheck disable=SC2086
        bench_own_barriers $max_ranks algorithm,run "$reduce,$run" $options || return
        for barrier in $(algorithms barrier); do
            choose_algorithms reduce "$reduce" barrier "$barrier"
            run=$((run + 1))
            {
                echo "$options --release barrier"
                [ $run -gt 3 ] || echo "$options --release harmonize"
            } >"$work/jobs"
            bench $max_ranks algorithm,run,source "$reduce,$run,$barrier" --jobs "$work/jobs" || return
        done
    done
}
