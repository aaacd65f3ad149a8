. "$parts/arrivalmap.sh"
title="Collective operations by algorithm and by arrival pattern, 4 B"
papers="after CLUSTER 2024, algorithm selection by process arrival patterns"
look="A column is an arrival pattern. If the fastest algorithm of an operation is not the same in all columns, how
processes arrive decides which one to choose. With two processes, most patterns are ascending or descending."
needs=mpix_bench

measure() {
    local operation algorithm run
    for operation in reduce $(amount "bcast allreduce" ""); do
        for algorithm in $(algorithms "$operation"); do
            choose_algorithm "$operation" "$algorithm"
            for run in $(amount "1 2 3" "1 2"); do
                progress "$max_ranks ranks, $operation $algorithm, launch $run"
                # shellcheck disable=SC2046
                bench $max_ranks algorithm,run "$algorithm,$run" "$operation" -m 4:4 $(calls_for 20 2000 1) \
                    --arrival "$(all_arrivals 20)" || return
            done
        done
        choose_algorithm "$operation" library
    done
}
