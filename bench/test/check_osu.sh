#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_osu NAME: there is a NAME for each osu_NAME, its table has OSU's figures in OSU's columns, and OSU's options work
# as typed, or one line says what to use instead. check_osu_options.sh has the options of programs that take one rank.
. "$(dirname "$0")/../../test/programs/run.sh"
past_libtool
give_way
. "$here/osu_options.sh"

collective="allgather allgatherv allreduce alltoall alltoallv alltoallw barrier bcast gather gatherv reduce \
reduce_scatter reduce_scatter_block scatter scatterv"

check_list() {
    local name
    {
        printf '%s\n' {,i}neighbor_{allgather,allgatherv,alltoall,alltoallv,alltoallw} \
            {latency,bw,bibw}{,_persistent} multi_lat mbw_mr bw_fan_{in,out} \
            init hello latency_{mt,mp} $(grep -x partitioned_latency "$scratch/listed") \
            {put,get,acc,get_acc,fop,cas}_latency {put,get}_bw put_bibw get_multi_lat get_mbw
        for name in $collective; do
            printf '%s\n' $name i$name
            # MPI libraries before MPI 4 lack them.
            ! grep -q bcast_persistent "$scratch/listed" || echo ${name}_persistent
        done
    } | sort | diff - "$scratch/listed" >"$scratch/differences" || complain "other names: $(cat "$scratch/differences")"
}

check_names() {
    succeeds run alone mpix_osu reduce -m 4:8 -i 10 --format csv
    columns operation size_bytes | tr '\n' ' ' | grep -qx 'reduce,4 reduce,8 ' || complain "not two rows of reduce"
    run alone mpix_osu --help
    grep -qx 'Usage: .* mpix_osu NAME \[OPTION\]\.\.\.' "$scratch/out" || complain "no usage of its own"
    refuses "did you mean latency_m" run alone mpix_osu latency_mq
}

# NAME TITLE COLUMN [FACTOR BYTES]: the figure is in its column; it is FACTOR times the median, or BYTES by it in MB/s,
# with one decimal. In nine calls, percentile 50 is the median.
check_columns() {
    local name title place factor bytes last=
    while read -r name title place factor bytes; do
        grep -qx "$name" "$scratch/listed" || continue
        [ "$name" = "$last" ] || succeeds run 2 mpix_osu "$name" -i 9 -x 1 --release barrier -m 8:8 -z50
        last=$name
        problems=$(tail -n 2 "$scratch/out" | awk -v title="$title" -v place="$place" -v factor="$factor" \
            -v bytes="$bytes" '
            NR == 1 { sub(/^#/, ""); for (i = 1; i <= NF; i++) column[$i] = i; next }
            { median = $column["Median(us)"]; expected = bytes ? bytes / median : factor * median; figure = $place }
            column[title] != place { print title " is in column " column[title] }
            factor != "" && (figure - expected) ^ 2 > (0.05 * expected + (bytes ? 0.051 : 0.011)) ^ 2 {
                print figure ", not " expected
            }' 2>&1)
        [ -z "$problems" ] || complain "$problems"
    done <<'END'
latency Latency(us) 2 0.5
latency P50Lat(us) 3 0.5
partitioned_latency Latency(us) 2 0.5
bw MB/s 2 1 512
bw P50(MB/s) 3 1 512
bibw MB/s 2 1 1024
bw_fan_in MB/s 2 1 512
bw_fan_out P50(MB/s) 3 1 512
mbw_mr MB/s 2 1 512
mbw_mr Messages/s 3 1 64e6
iallreduce Total(us) 2
iallreduce Overlap(%) 5
iallreduce P50Total(us) 6
reduce Avg(us) 2
reduce P50(us) 3 1
barrier Avg(us) 1
put_latency Latency(us) 2 1
put_latency P50Lat(us) 3 1
get_bw MB/s 2 1 512
put_bibw MB/s 2 1 1024
END
}

# High percentiles of bandwidths are of short calls.
check_tail() {
    succeeds run 2 mpix_osu bw -i 50 -x 1 --release barrier -m 64:64 -z1,50,99
    tail -n 1 "$scratch/out" | awk '!($3 <= $4 && $4 <= $5) { print "not in their order: " $0 }' >"$scratch/problems"
    [ ! -s "$scratch/problems" ] || complain "$(cat "$scratch/problems")"
}

# SIZES: those of the rows
expect_sizes() {
    expect_status 0
    [ "$(awk '{ print $1 }' "$scratch/rows" | xargs)" = "$1" ] || complain "the sizes are not $1"
}

check_sizes() {
    run 2 mpix_osu latency -i 1 -x 0 --release barrier
    expect_sizes "0 $(for ((size = 1; size <= 4194304; size *= 2)); do echo $size; done | xargs)"
    run alone mpix_osu bcast -i 1 -x 0 -m 262144:
    expect_sizes "262144 524288 1048576"
    run alone mpix_osu allgather -i 1 -x 0 -m 131072: -M 1K
    expect_sizes "131072 262144 524288"
    expect_line "the memory limit is 1M"
    refuses "more than --mem-limit 1048576 allows" run alone mpix_osu allgather -m 1M:1M -M 1M
    run alone mpix_osu reduce -i 1 -x 0 -m 1:16
    expect_sizes "4 8 16"
    run 2 mpix_osu latency -i 1 -x 0 --release barrier -c -m 0:2 -T MPI_CHAR
    expect_sizes "0 1 2"
}

# One of two pairs.
check_pairs() {
    succeeds run 4 mpix_osu mbw_mr -i 5 -x 1 --release barrier -m 8:8 -p 1 -W 10 -c --format csv
    columns pairs messages wrong | grep -qx 1,10,0 || complain "other pairs and messages"
    columns messages_per_s median_ns | awk -F, '
        ($1 * $2 / 10e9 - 1) ^ 2 > 1e-4 { print "not the rate of 10 messages: " $0 }' >"$scratch/problems"
    [ ! -s "$scratch/problems" ] || complain "$(cat "$scratch/problems")"
    succeeds run 4 mpix_osu get_mbw -i 5 -x 1 --release barrier -m 8:8 -c --format csv
    columns pairs window synchronization wrong | grep -qx 2,allocate,flush,0 || complain "other pairs of two"
    succeeds run 4 mpix_osu fop_latency -i 5 -x 1 --release barrier -p 1 -w create -s pscw -c --format csv
    columns pairs window synchronization wrong | grep -qx 1,create,pscw,0 || complain "another pair, window or epoch"
    refuses "give 1 to 1, half of the ranks" run 2 mpix_osu mbw_mr -p 2
    refuses "bcast is not for many pairs" run alone mpix_osu bcast -p 2
    refuses "bcast has one message at once" run alone mpix_osu bcast -W 2
}

# IMB's, of which OSU has none. check_operations has each synchronization and window at fewer ranks.
check_targets() {
    local operations="one_put_all one_get_all all_put_all all_get_all exchange_put exchange_get get_bibw"
    local ranks sync syncs
    ! grep -E "^(${operations// /|})$" "$scratch/listed" || complain "mpix_osu has others than OSU"
    for ranks in 2 4; do
        syncs="fence,create flush,allocate"
        [ $ranks = 2 ] || syncs="fence,create flush_local,allocate lock_all,dynamic"
        for sync in $syncs; do
            # They are words.
            # shellcheck disable=SC2086
            succeeds run $ranks mpix_bench ${operations% *} -i 3 -x 0 --release barrier -m 0,8,65536 -c --format csv \
                -s "${sync%,*}" -w "${sync#*,}"
            columns window synchronization wrong | sort | uniq -c | awk '{ print $1 " " $2 }' |
                grep -qx "18 ${sync#*,},${sync%,*},0" || complain "not 18 right rows"
        done
        succeeds run $ranks mpix_bench get_bibw -i 3 -x 0 --release barrier -m 8,1024 -c --format csv
        columns synchronization wrong mb_per_s | grep -c '^pscw,0,[0-9]' | grep -qx 2 || complain "not two rates"
        succeeds run $ranks mpix_bench exchange_put exchange_get -i 3 -x 0 --release barrier -m 8:8 -c --format csv \
            --neighborhood faces:2
        columns neighborhood wrong | uniq -c | awk '{ print $1 " " $2 }' | grep -qx "2 faces:2,0" ||
            complain "not two right rows of a grid"
    done
}

# OPERATION SENDERS OPTION...: one message of 64 KiB of each sender
check_fan() {
    succeeds run 4 mpix_osu "$1" -i 5 -x 1 --release barrier -m 64K:64K -W 1 -c --format csv "${@:3}"
    columns wrong mb_per_s median_ns | awk -F, -v senders="$2" '
        $1 != 0 || ($2 * $3 / 65536e3 / senders - 1) ^ 2 > 1e-4 {
            print "not the bandwidth of " senders " messages: " $0 }' >"$scratch/problems"
    [ ! -s "$scratch/problems" ] || complain "$(cat "$scratch/problems")"
}

# Three ranks with rank 0, or ranks 2 and 3 with ranks 0 and 1.
check_fans() {
    check_fan bw_fan_in 3
    columns pairs messages | grep -qx 1,1 || complain "not one rank in the middle"
    check_fan bw_fan_out 3
    check_fan bw_fan_in 2 -p 2
    check_fan bw_fan_out 2 -p 2
    columns pairs | grep -qx 2 || complain "not two ranks in the middle"
    # MPICH makes nodes up: of ranks 0 and 2, or 0 and 1.
    if grep -q '^MPI_LIBRARY = MPICH' "$build/Makefile"; then
        MPIR_CVAR_ODD_EVEN_CLIQUES=1 check_fan bw_fan_in 3
        columns pairs | grep -qx 1 || complain "not rank 0 in the middle of ranks that alternate between nodes"
        MPIR_CVAR_NUM_CLIQUES=2 MPIR_CVAR_CLIQUES_BY_BLOCK=1 check_fan bw_fan_in 2
        columns pairs | grep -qx 2 || complain "not the ranks of the first node in the middle"
    fi
    refuses "give 1 to 1, half of the ranks" run 2 mpix_osu bw_fan_in -p 2
    refuses "bw_fan_in needs at least 2 ranks" run alone mpix_osu bw_fan_in
}

# Sizes that do not divide into so many partitions, too.
check_partitions() {
    succeeds run 4 mpix_osu partitioned_latency -i 5 -x 1 --release barrier -m 0,1,7,64,4096 -q 4 -c --format csv
    columns size_bytes partitions wrong | tr '\n' ' ' | grep -qx '0,4,0 1,4,0 7,4,0 64,4,0 4096,4,0 ' ||
        complain "not five sizes of right messages"
    refuses "latency has no partitions" run 2 mpix_osu latency -q 4
    refuses "partitioned_latency has no derived datatype" run 2 mpix_osu partitioned_latency -D cont
    refuses "give a whole number from 1 to 65536" run 2 mpix_osu partitioned_latency -q 0
}

# One sample of each rank, and what follows MPI_Init takes longer than it.
check_startup() {
    for ranks in 2 4; do
        succeeds run $ranks mpix_osu init -c --format csv
        columns release cadence ranks valid wrong | grep -qx "none,once,$ranks,1,0" || complain "not one start"
        columns min_mean_ns avg_ns max_mean_ns makespan_ns | awk -F, '
            !(0 < $1 && $1 <= $2 && $2 <= $3 && $3 <= $4) { print "not in their order: " $0 }' >"$scratch/problems"
        [ ! -s "$scratch/problems" ] || complain "$(cat "$scratch/problems")"
    done
    succeeds run 2 mpix_bench hello latency_mt -m 8:8 -i 1 -x 0 --release barrier
    grep -q "MPI_Init_thread, MPI_Barrier: " "$scratch/out" || complain "another function in the head"
    succeeds run 2 mpix_bench init hello --format csv --raw "$scratch/raw"
    columns operation min_mean_ns avg_ns max_mean_ns | awk -F, '
        { for (i = 2; i <= 4; i++) time[$1, i] = $i }
        END { for (i = 2; i <= 4; i++) if (!(time["hello", i] > time["init", i])) print "hello is not longer" }
        ' >"$scratch/problems"
    [ ! -s "$scratch/problems" ] || complain "$(cat "$scratch/problems")"
    # Both began at once, within what clocks are apart.
    from=raw columns rank start_ns | sort | awk -F, '
        NR > 1 && $1 == rank && ($2 - start) ^ 2 > 1e12 { print "two starts of rank " rank }
        { rank = $1; start = $2 }' >"$scratch/problems"
    [ ! -s "$scratch/problems" ] || complain "$(cat "$scratch/problems")"
    refuses "option --iterations: 2 is not allowed for init, give 1" run 2 mpix_osu init -i 2
    refuses "there is no clock yet" run 2 mpix_bench init --arrival ascending
    echo hello >"$scratch/jobs"
    succeeds run 2 mpix_bench --jobs "$scratch/jobs"
}

# PROGRAM NAME...: with the command line on rank 0 and none on rank 1
run_on_first() {
    program=$1 command="$* on rank 0, $1 alone on rank 1"
    launch 1 "$(path_of "$1")" "${@:2}" : -n 1 "$(path_of "$1")" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
}

# What stands on the command line of rank 0 counts.
check_first_line() {
    succeeds run_on_first mpix_bench hello --format csv
    columns operation valid | grep -qx hello,1 || complain "not one start"
    refuses "latency_mt needs MPI_THREAD_MULTIPLE" run_on_first mpix_osu latency_mt
}

# Ranks of which one alone begins so never meet: a line says why.
check_session() {
    succeeds run 2 mpix_osu hello -I --format csv
    grep -qx "# begun_by: MPI_Session_init, MPI_Comm_create_from_group, then MPI_Init" "$scratch/out" ||
        complain "the head does not say how MPI began"
    [ -z "$(columns min_mean_ns max_mean_ns makespan_ns | awk -F, '!(0 < $1 && $1 <= $2 && $2 <= $3)')" ] ||
        complain "not in their order"
    run alone mpix_osu hello -I
    [ $status -eq 0 ] || expect_message "MPI_Comm_create_from_group failed: -I may need a launcher"
    # Its signal comes early. Debian's launcher of Open MPI 5.0.7 crashes at several commands.
    cat >"$scratch/begin" <<END
#!/bin/sh
[ "\${PMI_RANK-\${OMPI_COMM_WORLD_RANK-}}" = 0 ] || exec "$(path_of mpix_osu)" init
echo \$\$ >"$scratch/session" && exec "$(path_of mpix_osu)" init -I
END
    chmod +x "$scratch/begin"
    { launch 2 "$scratch/begin"; echo $? >"$scratch/status"; } >"$scratch/out" 2>"$scratch/err" </dev/null &
    command="mpix_osu init on rank 1, with -I on rank 0"
    until grep -q "still waiting for ranks in MPI_Comm_create_from_group: -I has to stand on the command line of each" \
        "$scratch/err" || ! kill -0 $! 2>/dev/null; do
        sleep 0.1
    done
    kill -s ALRM "$(cat "$scratch/session")"
    wait $!
    expect_message "no communicator of all ranks after 60 s: -I has to stand on the command line of each"
    [ "$(cat "$scratch/status")" != 0 ] || complain "it ends well"
}

# A call of three receivers is three messages there and back, of two senders three each of six.
check_threads() {
    local per_thread ranks threads
    run 2 mpix_osu latency_mt -i 1 -x 0 --release barrier -m 8:8
    ! own_messages | grep -q 'needs MPI_THREAD_MULTIPLE\|SimGrid' || return 0
    expect_status 0
    while read -r threads per_thread; do
        succeeds run 2 mpix_osu latency_mt -i 5 -x 1 --release barrier -m 0,8,65536 -c -t "$threads" --format csv
        grep -qx "# thread_level: multiple" "$scratch/out" || complain "the head does not say how MPI began"
        columns threads wrong latency_ns median_ns | awk -F, -v threads="${threads/#3/1:3}" -v count="$per_thread" '
            $1 != threads || $2 != 0 || ($4 / $3 / 2 / count - 1) ^ 2 > 1e-4 { print "wrong or no latency: " $0 }
            END { if (NR != 3) print NR " rows" }' >"$scratch/problems"
        [ ! -s "$scratch/problems" ] || complain "$(cat "$scratch/problems")"
    done <<'END'
3 3
1:1 1
2:3 3
2:2 1
END
    succeeds run 4 mpix_osu latency_mt -i 3 -x 0 --release barrier -m 8:8 -c --format csv
    columns threads wrong | grep -qx 1:2,0 || complain "not the usual threads"
    refuses "give RECEIVERS or SENDERS:RECEIVERS" run 2 mpix_osu latency_mt -t 2:
    refuses "latency has one thread of each rank" run 2 mpix_bench latency --send-threads 2
    for ranks in 2 3; do
        succeeds run $ranks mpix_bench allreduce_mt barrier_mt bcast_mt reduce_mt --receive-threads 3 -i 5 -x 1 \
            --release barrier -m 8,4096 -c --format csv
        [ "$(columns threads wrong | uniq -c | xargs)" = "7 3,0" ] || complain "not seven rows of three threads"
    done
    refuses "give --receive-threads" run 2 mpix_bench bcast_mt --send-threads 2
    echo latency_mt >"$scratch/jobs"
    refuses "latency_mt needs MPI_THREAD_MULTIPLE" run 2 mpix_bench --jobs "$scratch/jobs"
}

# Forked processes, which have the variable, end before the ranks do.
check_forks() {
    FORK_MARK=$scratch succeeds run 2 mpix_osu latency_mp -i 5 -x 1 --release barrier -m 0,8,65536 -c -t 2:3 \
        --format csv
    columns forks wrong latency_ns median_ns | awk -F, '
        $1 != "2:3" || $2 != 0 || ($4 / $3 / 2 - 1) ^ 2 > 1e-4 { print "wrong or no latency: " $0 }
        END { if (NR != 3) print NR " rows" }' >"$scratch/problems"
    [ ! -s "$scratch/problems" ] || complain "$(cat "$scratch/problems")"
    ! grep -qs "FORK_MARK=$scratch" /proc/[0-9]*/environ || complain "a forked process is left"
    succeeds run 4 mpix_osu latency_mp -i 3 -x 0 --release barrier -m 8:8 -c --format csv
    columns forks wrong | grep -qx 1:2,0 || complain "not the usual processes"
    refuses "processes from 1 to 128" run 2 mpix_osu latency_mp -t 129
}

# On four ranks, a grid of two by two, with the ranks at its corners or without, and a graph whose ranks have 0 to 2
# sources and destinations.
check_neighborhoods() {
    local operations ranks grid
    operations=$(grep -x "i*neighbor_.*" "$scratch/listed" | tr '\n' ' ')
    [ -n "$operations" ] || return 0
    printf '%s\n' '# source, destination' '2, 0' '0, 1' '1, 2' '2, 3' '1,3' >"$scratch/graph"
    for ranks in 2 4; do
        # They are words.
        # shellcheck disable=SC2086
        succeeds run $ranks mpix_bench $operations -i 3 -x 0 --release barrier -m 1,1024 -c --format csv \
            --neighborhood cart:2:1
        columns neighborhood wrong | sort | uniq -c | awk '{ print $1 " " $2 }' | grep -qx "20 cart:2:1,0" ||
            complain "not 20 rows of a grid"
    done
    if grep -q '^MPI_LIBRARY = MPICH.*[^0-9.]4\.0' "$build/Makefile"; then
        refuses "which may not return with MPICH 4.0, as rank 3 has more sources than destinations" \
            run 2 mpix_osu neighbor_alltoallw -N "graph:$scratch/graph"
        operations=$(grep -x "i*neighbor_.*[^w]" "$scratch/listed" | tr '\n' ' ')
    fi
    # shellcheck disable=SC2086
    succeeds run 4 mpix_bench $operations -i 3 -x 0 --release barrier -m 1,1024 -c --format csv \
        --neighborhood "graph:$scratch/graph"
    # shellcheck disable=SC2086
    columns wrong | sort | uniq -c | awk '{ print $1 " " $2 }' | grep -qx "$(wc -w <<<"$operations $operations") 0" ||
        complain "not two rows of each operation on a graph"
    for ranks in 2 4; do
        # Between two ranks, further dimensions have one rank.
        for grid in faces:1 $([ $ranks = 2 ] || echo faces:2 faces:3) cart:2:1; do
            succeeds run $ranks mpix_bench halo -i 3 -x 0 --release barrier -m 0,1,1024 -c --format csv \
                --neighborhood $grid
            columns neighborhood wrong | uniq -c | awk '{ print $1 " " $2 }' | grep -qx "3 $grid,0" ||
                complain "not three sizes of $grid"
        done
    done
    refuses "has edges of 4 ranks, and there are 2" run 2 mpix_osu neighbor_allgather -N "graph:$scratch/graph"
    echo '0, 1' >>"$scratch/graph"
    refuses 'has the edge 0, 1 twice' run 2 mpix_osu neighbor_allgather -N "graph:$scratch/graph"
    echo '0 1' >"$scratch/graph"
    refuses "is not allowed, give SOURCE, DESTINATION" run 2 mpix_osu neighbor_allgather -N "graph:$scratch/graph"
    : >"$scratch/graph"
    refuses "is empty, give lines of SOURCE, DESTINATION" run 2 mpix_osu neighbor_allgather -N "graph:$scratch/graph"
}

# RANKS LAYOUT EXPECTED NAME...: of 8, 64 and 1024 bytes so many are data, and right.
check_layout() {
    succeeds run "$1" mpix_bench "${@:4}" -i 3 -x 0 --release barrier -m 8,64,1024 -c --format csv --layout "$2"
    [ "$(columns size_bytes data_bytes wrong | sort -u | sort -n | xargs)" = "$3" ] ||
        complain "not $3: $(columns size_bytes data_bytes wrong | sort -u | xargs)"
}

check_layouts() {
    local copying="latency bw bcast alltoall ialltoallw gatherv scatter allgather" ranks
    printf '%s\n' "# displacement, length$(printf '%300s')50, 4" '2, 10 # comment' '50,4#2' '60, 100' '2000, 1' \
        >"$scratch/blocks"
    for ranks in 2 4; do
        # They are words.
        # shellcheck disable=SC2086
        {
            # check_operations has these of two ranks.
            if [ $ranks = 4 ]; then
                check_layout $ranks cont "8,8,0 64,64,0 1024,1024,0" $copying
                check_layout $ranks vect:16:4 "8,0,0 64,16,0 1024,256,0" $copying
            fi
            check_layout $ranks "indx:$scratch/blocks" "8,0,0 64,14,0 1024,114,0" $copying
        }
    done
    succeeds run 2 mpix_osu bw -i 5 -x 1 --release barrier -m 64K:64K -W 1 -D vect:16:4 --format csv
    columns mb_per_s median_ns | awk -F, '($1 * $2 / 16384e3 - 1) ^ 2 > 1e-4 { print "not of 16 KiB: " $0 }' \
        >"$scratch/problems"
    [ ! -s "$scratch/problems" ] || complain "$(cat "$scratch/problems")"
    # Each pair of a matrix is a job, and a pipe can be read once.
    mkfifo "$scratch/pipe"
    timeout $tap_limit_s tee "$scratch/pipe" <"$scratch/blocks" >/dev/null &
    check_layout 3 "indx:$scratch/pipe" "8,0,0 64,14,0 1024,114,0" latency --matrix
    refuses "allreduce has no derived datatype" run 2 mpix_bench allreduce --layout cont
    refuses "a block from 1 to the stride" run 2 mpix_osu bw -D vect:4:5
    refuses "give cont, vect:STRIDE:BLOCK or indx:FILE" run 2 mpix_osu bw -D struct
    echo '11, 1' >>"$scratch/blocks"
    refuses "block 5 of" run 2 mpix_osu bw -D "indx:$scratch/blocks"
    echo "2, 1$(printf '%300s')3, 1" >"$scratch/blocks"
    refuses "line 1 of" run 2 mpix_osu bw -D "indx:$scratch/blocks"
}

# Of two launches, the best; of tables of IMB, the first, or of bandwidths the last.
check_side_by_side() {
    local words
    mkdir -p "$scratch/osu/deep" "$scratch/imb"
    cat >"$scratch/osu/deep/osu_latency" <<END
#!/bin/sh
printf '# Size Latency(us)\\n8 %s\\n1024 3000\\n' "\$(cat "$scratch/figure")"
END
    cat >"$scratch/imb/IMB-RMA" <<END
#!/bin/sh
titles='#bytes #repetitions t[usec] Mbytes/sec'
printf '%s\\n' "\$titles" '8 9 5000 7' "\$titles" "8 9 6000 \$(cat "$scratch/figure")"
END
    cat >"$scratch/count" <<END
#!/bin/sh
echo \$((\$(cat "$scratch/figure") + 1)) >"$scratch/figure"
exec "\$@"
END
    chmod +x "$scratch/osu/deep/osu_latency" "$scratch/imb/IMB-RMA" "$scratch/count"
    echo 1000 >"$scratch/figure"
    words=("$scratch/count" "${MPIEXEC:-mpiexec}")
    # shellcheck disable=SC2206 # they are words
    words+=(${MPIEXEC_FLAGS-} -n 2 "${yielding[@]}")
    program=side_by_side.py command="side_by_side.py latency get_bw"
    capture "$python" "$here/performance/side_by_side.py" --osu "$scratch/osu" --imb "$scratch/imb" --rounds 2 \
        --calls 10 --bench "$(path_of mpix_osu)" --launcher "${words[*]}" latency get_bw
    expect_status 0
    tr -d ' ,' <"$scratch/out" | awk -F'|' '
        $2 ~ /^latency/ && $3 == 8 { good += $4 >= 1001 && $4 <= 1003 && $5 == "" && $6 > 0 && $7 != "" }
        $2 ~ /^latency/ && $3 == 1024 { good += $4 == 3000 && $6 > 0 }
        $2 ~ /^get_bw/ && $3 == 8 {
            good += $4 == "" && $5 >= 1010 && $5 <= 1012 && $9 > 0 && ($8 - $6 / $5) ^ 2 < 2e-4
        }
        $3 == 65536 { good += $4 == "" && $5 == "" && $6 > 0 }
        END { if (good != 5) print good + 0 " of 5 rows are as they are to be" }' >"$scratch/problems"
    [ ! -s "$scratch/problems" ] || complain "$(cat "$scratch/problems")"
    : >"$scratch/imb/IMB-RMA"
    printf '#!/bin/sh\nprintf "size_bytes,mb_per_s\\n8,9\\n"\n' >"$scratch/own"
    chmod +x "$scratch/own"
    capture "$python" "$here/performance/side_by_side.py" --imb "$scratch/imb" --rounds 1 --bench "$scratch/own" \
        --launcher env get_bw
    expect_status 1
    grep -q "no figures of IMB in what this prints: $scratch/imb/IMB-RMA Unidir_get" "$scratch/err" ||
        complain "does not say whose figures are missing"
}

quick tap_check "the names are those of OSU" check_list
quick tap_check "mpix_osu NAME measures NAME" check_names
quick tap_check "OSU's figure in OSU's column" check_columns
tap_check "percentiles of bandwidths" check_tail
quick tap_check "sizes as OSU" check_sizes
tap_check "pairs and messages at once" check_pairs
tap_check "messages of several threads" check_threads
tap_check "accesses to several ranks" check_targets
tap_check "messages of ranks that have forked" check_forks
tap_check "neighborhoods: grids and graphs" check_neighborhoods
tap_check "derived datatypes" check_layouts
tap_check "the start of the program" check_startup
takes_several() { [[ $(basename "${MPIEXEC:-mpiexec}") == mpi* ]]; }
tap_check_if takes_several "the launcher starts one command" \
    "ranks with command lines of their own" check_first_line
begins_sessions() { takes_several && has_sessions; }
tap_check_if begins_sessions "the launcher starts one command, or the MPI library has no sessions" \
    "the start by a session" check_session
tap_check "several ranks send to one, and one to several" check_fans
side_by_side_works() { takes_several && command -v "$python"; }
tap_check_if "side_by_side_works" "the launcher starts one command, or there is no Python 3" \
    "figures beside those of other programs" check_side_by_side
if grep -qx partitioned_latency "$scratch/listed"; then
    tap_check "messages in partitions" check_partitions
else
    tap_skip "messages in partitions" "the MPI library has none"
fi
check_classes yes
tap_done
