#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_bench: each scheme, format and option does what the manual says. No claim about speed is tested here.
. "$(dirname "$0")/../../test/programs/run.sh"
give_way
past_libtool

# A busy machine interrupts processes, and that is not to make samples invalid here: the tolerance is a second.
export MPIX_HARMONIZE_TOLERANCE_NS=1000000000

figures="median_ns median_low_ns median_high_ns avg_ns min_mean_ns max_mean_ns makespan_ns mean_ns deviation_ns min_ns \
max_ns p50_ns p90_ns p95_ns p99_ns slowest_rank fastest_rank"

# ROWS WANTED: so many rows, all with figures of as many valid samples. check_recompute.sh says what the figures are.
check_rows() {
    # shellcheck disable=SC2086
    expect_silence awk -F, -v rows="$1" -v wanted="$2" '
        tolower($0) ~ /nan|inf/ || /[?]/ || /,,/ { print "no number: " $0 }
        $1 != wanted || $2 + $3 > 9 * wanted { print "counts: " $0 }
        END { if (NR != rows) print NR " rows, not " rows }' <(columns valid missed late $figures)
}

keys="comm ranks datatype reduction root buffers cache run_time"
schemes="harmonize barrier barrier2 window round-time none"
algorithms="linear tree binomial doublering recursivedoubling bruck"

check_schemes() {
    for sync in $schemes; do
        echo "allreduce -m 4,64 --release $sync --time-slice-s 60"
    done >"$scratch/jobs"
    for algorithm in $algorithms; do
        echo "bcast -m 8 --release barrier --barrier $algorithm # a comment"
    done >>"$scratch/jobs"
    printf '\n# nothing\n' >>"$scratch/jobs"
    succeeds run 2 mpix_bench --jobs "$scratch/jobs" -i 31 -x 5 --time-slice-s 60 --format csv
    # A bcast without a colon in its sizes has all up to 8 bytes.
    check_rows $((6 * 2 + 6 * 4)) 31
    columns operation release cadence $keys >"$scratch/keys"
    for sync in $schemes; do
        cadence=isolated
        [ "$sync" != none ] || cadence=streaming
        [ "$(grep -cx "allreduce,$sync,$cadence,world,2,mpi_float,sum,,separate,warm,local" "$scratch/keys")" -eq 2 ] ||
            complain "no two rows of $sync"
    done
    columns barrier operation release cadence $keys >"$scratch/keys"
    for algorithm in $algorithms; do
        [ "$(grep -cx "$algorithm,bcast,barrier,isolated,world,2,mpi_char,,0,separate,warm,local" "$scratch/keys")" \
            -eq 4 ] || complain "no four rows of $algorithm"
    done
}

# Communicators, roots, buffers, caches, and other options that only have to be passed on.
check_options() {
    cat >"$scratch/jobs" <<'END'
allreduce -m 8,16 --comm node
allreduce -m 8,16 --comm cart:2x1:0
allreduce -m 8,16 --comm cart:2x1:1
allreduce -m 8,16 --comm every:2
reduce -m 8,16 --root 1 --run-time makespan -T mpi_double --op max
reduce -m 8,16 --root rotate --cache rotate
gather -m 8,16 --in-place --cache cold
bcast -m 8:32 --size-factor 4 --release window --window-us 500
END
    succeeds run 2 mpix_bench --jobs "$scratch/jobs" -i 31 -x 5 --format csv --max-repeat 100
    check_rows 16 31
    columns operation $keys | sort -u >"$scratch/keys"
    sort >"$scratch/expected" <<'END'
allreduce,node,2,mpi_float,sum,,separate,warm,local
allreduce,cart:2x1:0,2,mpi_float,sum,,separate,warm,local
allreduce,cart:2x1:1,1,mpi_float,sum,,separate,warm,local
allreduce,every:2,1,mpi_float,sum,,separate,warm,local
reduce,world,2,mpi_double,max,1,separate,warm,makespan
reduce,world,2,mpi_float,sum,rotating,separate,rotate,local
gather,world,2,mpi_char,,0,in place,cold,local
bcast,world,2,mpi_char,,0,separate,warm,local
END
    cmp -s "$scratch/keys" "$scratch/expected" || complain "keys: $(diff "$scratch/keys" "$scratch/expected")"
}

# Each two of three ranks, in both operations; one has no other rank.
check_matrix() {
    succeeds run 3 mpix_bench latency bw --matrix -m 8,16 -i 3 -x 0 --release barrier -c --format csv
    [ "$(columns operation rank partner size_bytes wrong | sort | xargs)" = "$(
        for operation in bw latency; do for pair in 0,1 0,2 1,2; do for size in 16 8; do
            echo "$operation,$pair,$size,0"
        done; done; done | sort | xargs)" ] || complain "other rows: $(columns operation rank partner size_bytes wrong)"
    columns latency_ns mb_per_s | awk -F, '($1 == "") == ($2 == "") { print "no figure: " $0 }' \
        >"$scratch/problems"
    [ ! -s "$scratch/problems" ] || complain "$(cat "$scratch/problems")"
    succeeds run 3 mpix_bench bw --matrix -m 8:8 -i 3 -x 0 --release barrier
    grep -q '^# *Rank  *Partner  *Size' "$scratch/out" || complain "no columns of ranks"
    [ "$(grep -c '^# 1:bw, ' "$scratch/out")" -eq 1 ] && ! grep -q '^# 2:bw, ' "$scratch/out" ||
        complain "other lines of jobs"
    refuses "allreduce is not of two ranks" run 2 mpix_bench allreduce --matrix
    refuses "together with --comm node, give world" run 2 mpix_bench latency --matrix --comm node
    refuses "latency needs at least 2 ranks" run alone mpix_bench latency --matrix
}

# RANKS TRANSFERS NAME...: so many blocks are moved in a call, and they are right.
check_accesses() {
    local left
    succeeds run "$1" mpix_bench "${@:3}" --file "$scratch/data" -m 1,4096 -i 3 -x 1 -c --format csv
    columns wrong size_bytes mb_per_s median_ns | awk -F, -v transfers="$2" '
        { expected = transfers * $2 * 1e3 / $4; difference = $3 > expected ? $3 - expected : expected - $3 }
        $1 != 0 || difference > 0.06 + expected / 100 { print "wrong, or another bandwidth: " $0 }
        END { if (NR == 0) print "no rows" }' >"$scratch/problems"
    [ ! -s "$scratch/problems" ] || complain "$(cat "$scratch/problems")"
    ! left=$(find "$scratch" -name "*data*" | grep .) || complain "files are left: $left"
}

check_files() {
    local left
    check_accesses 3 1 s_{,i}{write,read}_{indv,expl}
    succeeds run 3 mpix_bench p_iwrite_expl s_iread_indv c_iwrite_indv c_iwrite_shared --overlap \
        --test-calls 3 --file "$scratch/data" -m 4096:4096 -i 3 -x 1 -c --format csv
    columns wrong overlap_percent | grep -cx '0,[0-9.]*' | grep -qx 4 || complain "not four rows of overlap"
    succeeds run 3 mpix_bench open_close --file "$scratch/data" -i 3 -x 1 -c --format csv
    columns size_bytes datatype valid | grep -qx '0,,3' || complain "not one row of opening and closing"
    check_accesses 3 3 {p,c}_{,i}{write,read}_{indv,expl,shared} p_{,i}{write,read}_priv
    columns operation synchronization | sort -u | grep -cx '[pc]_write_[a-z]*,each\|[pc]_read_[a-z]*,' | grep -qx 14 ||
        complain "not what was synced"
    succeeds run 2 mpix_bench p_write_expl --file "$scratch/data" -m 8:8 -i 3 --file-sync none
    grep -q '^# .*/data.1: not synced, so ' "$scratch/out" || complain "does not say what was not synced"
    succeeds run 2 mpix_bench p_read_expl --file "$scratch/data" -m 8:8 -i 3
    grep -q '^# .*/data.1: written just before, so memory' "$scratch/out" || complain "does not say who may answer"
    echo kept >"$scratch/data.1"
    run 2 mpix_bench p_write_expl --file "$scratch/data" -m 8:8 -i 3
    expect_status 2
    [ "$(cat "$scratch/data.1")" = kept ] || complain "a file that was there is not kept"
    rm "$scratch/data.1"
    # The second rank's alone.
    echo kept >"$scratch/data.1.1"
    run 2 mpix_bench p_read_priv --file "$scratch/data" -m 8:8 -i 3
    expect_status 2
    grep -q "failed on rank 1: " "$scratch/err" || complain "does not say on which rank the file is there"
    [ "$(cat "$scratch"/data*)" = kept ] || complain "a file that was there is not kept, or others are left"
    rm "$scratch/data.1.1"
    # A limit of files, which messages exceed: the job ends, and the files go.
    (trap '' XFSZ && ulimit -f 60000 && run 2 mpix_bench p_write_priv s_read_expl --file "$scratch/data" \
        -m 64M:64M -i 3 --mem-limit 200M && [ "$status" -ne 0 ]) || complain "a file could grow beyond its limit"
    ! left=$(find "$scratch" -name "*data*" | grep .) || complain "files are left after a failure: $left"
    refuses "give --file PATH" run 2 mpix_bench p_read_expl
    refuses "before a colon" run 2 mpix_bench p_read_expl --file "ufs:$scratch/data"
    refuses "bcast accesses no file" run 2 mpix_bench bcast --file "$scratch/data"
    refuses "p_read_indv writes no file" run 2 mpix_bench p_read_indv --file "$scratch/data" --file-sync none
    refuses "nobody could set the pointer" run 2 mpix_bench p_read_shared --file "$scratch/data" --release none
}

# WHERE OPERATION: each rank has a folder of its own, as nodes have; that of rank WHERE has a file of the name already.
# Leaves what capture leaves, and in left.RANK what is in the folder of a rank afterwards.
run_apart() {
    command="mpix_bench $2 (in folders of their own, a file is there on rank $1)" program=mpix_bench
    rm -f "$scratch"/apart.*
    mkdir -p "$scratch/apart"
    # The flags of the launcher are words; the other variables are those of the shells in the namespaces.
    # shellcheck disable=SC2016,SC2086
    capture "${own_mounts[@]}" "${MPIEXEC:-mpiexec}" ${MPIEXEC_FLAGS-} -n 2 unshare --mount sh -c '
        mount -t tmpfs none "$0" || exit
        rank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}
        [ "$rank" != "$1" ] || echo kept >"$0/data.1"
        "$2" "$3" --file "$0/data" -m 8:8 -i 3
        echo $? >"$0.status.$rank"
        (cd "$0" && grep -s "" data.1 /dev/null) >"$0.left.$rank"
        :' "$scratch/apart" "$1" "$(path_of mpix_bench)" "$2"
    status=$(sort -u "$scratch"/apart.status.?)
}

can_be_apart() { launches && "${own_mounts[@]}" mount -t tmpfs none /mnt; }

# The file of one node is not that of another.
check_files_apart() {
    local where
    for where in 1 none; do
        run_apart $where p_write_expl
        expect_status 2
        expect_message "which rank 0 made, failed on rank 1: "
        [ ! -s "$scratch/apart.left.0" ] || complain "left on rank 0: $(cat "$scratch/apart.left.0")"
        [ $where = none ] || [ "$(cat "$scratch/apart.left.1")" = data.1:kept ] || complain "the file is not kept"
    done
    run_apart 1 s_write_indv
    expect_status 0
    [ "$(cat "$scratch/apart.left.1")" = data.1:kept ] || complain "the file is not kept"
    [ ! -s "$scratch/apart.left.0" ] || complain "left on rank 0: $(cat "$scratch/apart.left.0")"
}

# Of the messages of both groups: two pairs of ranks that send 64 messages each.
check_bandwidth() {
    succeeds run 4 mpix_bench bw mbw_mr -m 64K:64K -i 2 -x 0 --comm cart:2x2:0 --release barrier --format csv
    expect_silence awk -F, '
        { pairs = $1 * $2 / 64 / 65536 / 1e3 }
        pairs < 1.99 || pairs > 2.01 { print pairs " pairs" }
        END { if (NR != 2) print NR " rows" }' <(columns mb_per_s median_ns)
}

# The operations of rank 0's calls, in time, each once until another one follows.
raw_order() {           # SIZE
    from=raw columns size_bytes rank start_ns operation |
        awk -F, -v size="$1" '$1 == size && $2 == 0 { print $3, $4 }' | sort -n | cut -d' ' -f2 | uniq
}

# A batch has at most 16 calls of 100, so each operation has seven turns at least, of which two may follow each other.
check_turns() {
    for seed in 3 3 4; do
        succeeds run 2 mpix_bench allreduce bcast reduce+bcast -m 8,64 -i 100 -x 0 --seed $seed --raw "$scratch/raw"
        for operation in allreduce bcast reduce+bcast; do
            [ "$(raw_order 8 | grep -cFx $operation)" -ge 4 ] || complain "$operation has no turns: $(raw_order 8)"
        done
        [ "$(from=raw columns start_ns size_bytes | sort -n | cut -d, -f2 | uniq | xargs)" = "8 64" ] ||
            complain "sizes are mixed"
        raw_order 8 | head -n 12 | xargs >>"$scratch/orders"
        jobs=$(sed -n 's/^# \([1-9]:.*\): 2 ranks.*/\1/p' "$scratch/out" | tr '\n' ';')
        [ "$jobs" = "1:allreduce, MPI_Allreduce;2:bcast, MPI_Bcast;3:reduce+bcast, MPI_Reduce, MPI_Bcast;" ] ||
            complain "jobs: $jobs"
        rows=$(awk '!/^#/ { print $1, $2 }' "$scratch/out" | sort -n | tr '\n' ' ')
        [ "$rows" = "$(for size in 8 64; do echo $size 1:allreduce $size 2:bcast $size 3:reduce+bcast; done |
            tr '\n' ' ')" ] || complain "rows: $rows"
        grep -q "; seed $seed; " "$scratch/out" || complain "no seed"
    done
    [ "$(sed -n 1p "$scratch/orders")" = "$(sed -n 2p "$scratch/orders")" ] ||
        complain "the same seed, other orders: $(cat "$scratch/orders")"
    [ "$(sed -n 1p "$scratch/orders")" != "$(sed -n 3p "$scratch/orders")" ] ||
        complain "other seeds, the same order: $(cat "$scratch/orders")"
}

# Only those with the same communicator, whatever their buffers need: these are never in use together.
check_groups_of_turns() {
    run 2 mpix_bench bcast allreduce -m 4K:4K -i 10 -x 0 --format csv -M 8192
    grep -qx "# order: interleaved" "$scratch/out" || complain "two operations do not take turns"
    printf 'bcast\nbcast --comm node\nallreduce --comm node\n' >"$scratch/jobs"
    run 2 mpix_bench -m 8:8 -i 10 -x 0 --format csv --jobs "$scratch/jobs"
    grep -qx "# order: interleaved in 2 groups" "$scratch/out" || complain "other communicators take turns"
    for comm in world every:2; do echo "bcast --comm $comm"; done >"$scratch/jobs"
    run 2 mpix_bench -m 8:8 -i 10 -x 0 --format csv --jobs "$scratch/jobs"
    grep -qx "# order: one after the other" "$scratch/out" || complain "one operation takes turns"
}

# With several operations, whose rows come later, a comment says whose window it tells.
check_windows() {
    succeeds run 2 mpix_bench bcast -m 4,8 -i 5 -x 0 --release window --window-us 5000
    [ "$(sed -n '/^# Window/,$p' "$scratch/out" | sed 's/^ *\([48]\) .*/\1/' | paste -sd ';')" = "\
# Window at 4 bytes: 5000.00 us;4;# Window at 8 bytes: 5000.00 us;8" ] || complain "not a comment before each row"
    succeeds run 2 mpix_bench bcast reduce -m 8:8 -i 5 -x 0 --release window --window-us 5000
    [ "$(grep '^# Window' "$scratch/out" | sort | paste -sd ';')" = "\
# Window of 1:bcast at 8 bytes: 5000.00 us;# Window of 2:reduce at 8 bytes: 5000.00 us" ] || complain "other windows"
}

check_widths() {
    run 2 mpix_bench bcast allreduce -m 8:8 -i 10 -x 0 --arrival bell:1
    grep -q '^# \{5\}Size \{10\}Job \{3\}Arrival  ' "$scratch/out" || complain "other widths: $(cat "$scratch/out")"
    check_table 15 4
}

# For programs, a row is written as soon as it is measured: here another operation fails later at the same size.
check_early_rows() {
    printf 'allreduce -i 3\nbcast -i 1000\n' >"$scratch/jobs"
    CHECK_FAULT=fails run 2 check_faults -m 8:8 -x 0 --format csv --jobs "$scratch/jobs"
    [ "$status" -ne 0 ] || complain "no call has failed"
    columns operation size_bytes valid | grep -qx allreduce,8,3 || complain "no row of allreduce"
}

# Measured calls have one root after the other. The call before a batch, which is not measured, has that of the next.
check_roots() {
    CHECK_FAULT=roots succeeds run 2 check_faults bcast -m 8:8 -i 100 -x 0 --root rotate --release none --format csv
    sed -n 's/^root //p' "$scratch/err" >"$scratch/roots"
    [ "$(uniq "$scratch/roots" | wc -l)" -eq 100 ] && [ "$(wc -l <"$scratch/roots")" -gt 100 ] ||
        complain "$(uniq "$scratch/roots" | wc -l) changes of root in $(wc -l <"$scratch/roots") calls: not 100"
}

# test_report has the other formats.
check_no_sample() {
    CHECK_FAULT=never run 2 check_faults bcast -m 4,8 -i 5 -x 0 --max-repeat 2 --format csv
    expect_status 1
    # shellcheck disable=SC2086
    [ "$(columns valid $figures | sort -u)" = 0,,,,,,,,,,,,,,,,, ] || complain "figures without samples"
    [ "$(own_messages | grep -c 'only 0 valid samples in 10 calls, the limit (--max-repeat)')" -eq 2 ] ||
        complain "does not tell the limit"
    CHECK_FAULT=never run 2 check_faults ibcast --overlap -m 8,8 -i 5 -x 0 --max-repeat 2 --format csv
    expect_status 1
    [ "$(columns pure_ns compute_ns total_ns overlap_percent | sort -u)" = ,,, ] ||
        complain "an overlap without samples"
}

check_validation() {
    CHECK_FAULT=wrong run 2 check_faults bcast -m 4,8,16 -i 5 -x 0 -c --format csv
    expect_status 1
    [ "$(columns size_bytes wrong | tr '\n' ' ')" = "4,0 8,3 16,3 " ] || complain "not 3 wrong elements above 4 bytes"
    [ "$(own_messages | grep -c 'validation found 3 wrong elements')" -eq 2 ] || complain "does not tell"
}

# FAULT TEXT ARGUMENT...: a run with the fault ends with one line that has the text.
expect_failure() {
    CHECK_FAULT=$1 run 2 check_faults "${@:3}" -x 0
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ] || complain "does not end with an error"
    expect_line ": $2 failed on rank 1: "
}

check_failing_call() {
    expect_failure fails MPI_Bcast bcast -m 4,8 -i 50
    expect_failure graph "MPI_Dist_graph_create_adjacent for neighbor_allgather" neighbor_allgather -m 4 -i 5
}

check_overlap() {
    succeeds run 2 mpix_bench ibcast -m 64,65536 --overlap -t 2 -i 31 -x 5 --format csv
    overlap_problems=$(columns pure_ns compute_ns total_ns overlap_percent | awk -F, '
        !($1 > 0 && $2 > 0 && $3 > 0 && $4 >= 0 && $4 <= 100) { print "overlap: " $0 }
        { percent = 100 * (1 - ($3 - $2) / $1); percent = percent < 0 ? 0 : percent > 100 ? 100 : percent }
        (percent - $4) ^ 2 > 1 { print "overlap is not " percent ": " $0 }')
    [ -z "$overlap_problems" ] || complain "$overlap_problems"
}

# When to stop: by the interval, where it is wide; else by the number, or the time.
check_stopping() {
    succeeds run alone mpix_bench allreduce -m 8 --ci-percent 50 --format csv
    columns valid median_ns median_low_ns median_high_ns | awk -F, '
        $1 < 100000 && ($4 - $2 > $2 / 2 || $2 - $3 > $2 / 2) { print "interval: " $0 }
        $1 < 30 { print "too few: " $0 }'
    succeeds run alone mpix_bench allreduce -m 8,8 --time-slice-s 0.02 -i 1000000000 --format csv
    [ "$(own_messages | grep -c 'the limit (--time-slice-s)')" -eq 2 ] || complain "does not tell of the time slice"
    succeeds run alone mpix_bench allreduce -m 8,8 --release round-time --time-slice-s 0.02 --format csv
    [ -z "$(own_messages)" ] || complain "complains although time is the aim"
    run alone mpix_bench allreduce -m 8:8 --release round-time --time-slice-s 0.02 -i 1000000000 --format csv
    [ "$(own_messages | grep -c 'the limit (--time-slice-s)')" -eq 1 ] ||
        complain "does not tell that samples are missing"
    run alone mpix_bench allreduce -m 8:8 --release barrier -i 30 --ci-percent 100 --format csv
    [ -z "$(own_messages)" ] || complain "complains although the interval is narrow"
    run alone mpix_bench allreduce -m 8:8 --release barrier -i 5 --ci-percent 100 --format csv
    own_messages | grep -q 'not within 100 % after 5 valid samples, the limit (--iterations)' ||
        complain "does not tell that there is no interval"
}

sizes_in_order() {
    columns size_bytes | tr '\n' ' '
}

check_shuffle() {
    run alone mpix_bench bcast -m 1:128 -i 3 -x 0 --format csv --shuffle --seed 5
    first=$(sizes_in_order)
    run alone mpix_bench bcast -m 1:128 -i 3 -x 0 --format csv --shuffle --seed 5
    [ "$(sizes_in_order)" = "$first" ] || complain "another order with the same seed"
    run alone mpix_bench bcast -m 1:128 -i 3 -x 0 --format csv --shuffle --seed 6
    [ "$(sizes_in_order)" != "$first" ] || complain "the same order with another seed"
    [ "$(columns size_bytes | sort -n | tr '\n' ' ')" = "1 2 4 8 16 32 64 128 " ] || complain "other sizes"
}

check_refusals() {
    # A terabyte in each process.
    if [ "$(awk '/^MemAvailable/ { print int($2 / 1e9) }' /proc/meminfo)" -eq 0 ]; then
        refuses "more than there is" run 2 mpix_bench bw -m 16000000000 -T mpi_c_double_complex --mem-limit 1024G
    fi
    ! is_persistent_there || run alone mpix_bench bcast_persistent --cache rotate
    ! is_persistent_there || expect_refusal --cache
}

is_persistent_there() {
    "$programs/mpix_bench" --list 2>/dev/null </dev/null | grep -q '^bcast_persistent '
}

# What ./quickstart makes of it.
check_shown() {
    sed -n '/^show() {/,/^}/p; /^ *show .*reduce/s/ |.*//p' "$top/quickstart" >"$scratch/show"
    succeeds run 2 mpix_bench reduce -m 4,16 -i 5 --format csv
    cp "$scratch/out" "$scratch/reduce.csv"
    [ "$(cd "$scratch" && bash ./show | grep -cE '^ +[0-9]+ +harmonize +[0-9.]+$')" -eq 2 ] || complain "not two rows"
}

# Of a group, each operation heeds what it can, and an empty one is told.
check_groups() {
    run alone mpix_bench persistent --cache rotate -m 8 -i 3 -x 0 --format csv
    if is_persistent_there; then
        expect_status 0
        columns operation cache size_bytes valid | grep -qx bcast_persistent,warm,8,3 ||
            complain "no warm row of bcast_persistent"
    else
        expect_refusal persistent
    fi
}

# Of ping-pong, the time of one message, too; of many messages at once, the bandwidth.
check_latency() {
    succeeds run 2 mpix_bench latency bibw bcast -m 8 -i 31 -x 5 --format csv -c -u 1 --tail 25,99.9
    grep -q ',p25_ns,p99.9_ns,' "$scratch/rows" || complain "not these quantiles"
    columns operation size_bytes median_ns latency_ns mb_per_s | awk -F, '
        $1 == "latency" && !($4 > 0 && (2 * $4 - $3) ^ 2 <= 0.09) { print "not half of the call: " $0 }
        $1 == "bcast" && $4 != "" { print "latency of a broadcast: " $0 }
        { expected = 128e3 * $2 / $3 }
        $1 == "bibw" && !(($5 - expected) ^ 2 <= (0.1 + expected / 1000) ^ 2) { print "not " expected " MB/s: " $0 }
        $1 != "bibw" && $5 != "" { print "a bandwidth: " $0 }
        END { if (NR != 12) print NR " rows" }'
    for in_place in '' --in-place; do
        # shellcheck disable=SC2086 # none is no word
        succeeds run 2 mpix_bench sendrecv $in_place -m 8:8 -i 2 -x 0 --release barrier
        grep -q "^# MPI_Sendrecv${in_place:+_replace}: " "$scratch/out" || complain "another function in the head"
    done
}

# COMMAND...: where the first processor seems to have a cache of 480 MiB.
cache_size=/sys/devices/system/cpu/cpu0/cache/index0/size
with_large_cache() {
    echo 491520K >"$scratch/size"
    "${own_mounts[@]}" sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' sh "$scratch/size" "$cache_size" "$@"
}

check_large_cache() {
    for mode in rotate cold; do
        program=mpix_bench command="mpix_bench --cache $mode (480 MiB of cache)"
        with_large_cache "$programs/mpix_bench" reduce -m 8,16 -i 12 -x 1 --cache $mode --format csv \
            >"$scratch/out" 2>"$scratch/err" </dev/null
        status=$?
        expect_status 0
        check_rows 2 12
        own_messages | grep -q -- "--cache $mode takes 384 MiB of memory, for 480 MiB of cache" ||
            complain "does not say that buffers may stay in the cache"
    done
}

quick tap_check "what quickstart shows" check_shown
quick tap_check "each scheme and barrier" check_schemes
tap_check "communicators, roots, buffers" check_options
quick tap_check "operations take turns" check_turns
tap_check "operations that take turns together" check_groups_of_turns
tap_check "windows told in the table" check_windows
tap_check "widths of columns" check_widths
quick tap_check "rows are written as soon as they are measured" check_early_rows
quick tap_check "roots that rotate" check_roots
quick tap_check "no valid sample" check_no_sample
quick tap_check "validation sees a wrong result" check_validation
quick tap_check "a call that fails" check_failing_call
tap_check "overlap" check_overlap
tap_check "when to stop" check_stopping
tap_check "order of sizes" check_shuffle
tap_check "options that not all can heed" check_refusals
tap_check "groups of operations" check_groups
quick tap_check "latency and bandwidth" check_latency
tap_check "each two ranks" check_matrix
tap_check_if launches "a simulator has no files" "files" check_files
tap_check_if can_be_apart "it takes a launcher and a user namespace, which is not allowed here" "files of other nodes" \
    check_files_apart
tap_check "bandwidth of groups that send at once" check_bandwidth
tap_check_if "with_large_cache true" "no other size can be shown here" \
    "a cache larger than the memory for buffers" check_large_cache
tap_done
