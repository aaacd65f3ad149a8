#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_tune: it finds what gains, writes a file that the MPI library uses, and recommends no other. A script measures in
# place of mpix_bench, so what gains is known; the files are those of the MPI library at hand, which is run with them.
#
# Environment: MPIX_TEST_BRIEF  yes: without the tests of what mpix_tune does itself, whatever the MPI library
. "$(dirname "$0")/../../test/programs/run.sh"
need_tool mpix_tune
launches || skip_all "processes of the simulator have no tuning files"

case ${MPI_LIBRARY-} in
MPICH*) algorithm=reduce_scatter_allgather suffix=json variable=MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE ;;
"Open MPI"*) algorithm=nonoverlapping suffix=rules variable=OMPI_MCA_coll_tuned_dynamic_rules_filename ;;
*) skip_all "only MPICH and Open MPI are tuned" ;;
esac
export variable algorithm

# In place of mpix_bench: a launch takes 1 us, but with the file of an algorithm alone, or with "tuned", as $gains says:
# on each line a size, a ratio in percent, that with "tuned" if it is another one, and the algorithm if it is another
# one. If all come together, nothing gains from the last arrival on. $damage is what it does to the file "tuned".
export log=$scratch/log gains damage= gaining=median_ns # the column that gains
head=$(json_head mpix-bench "$bench_columns from_last_ns,ns,figure,number")
export head
cat >"$scratch/bench" <<'END'
#!/bin/sh
# There are thousands of launches, so it starts no program itself, but to take long.
name=default sizes='' arrivals=together option='' random=$$
eval "file=\${$variable-}"
if [ -n "$file" ]; then name=${file##*/} name=${name%.*}; fi
echo "$name" >>"$log"
[ -z "${pause-}" ] || [ "$(wc -l <"$log")" -lt "${from_launch-0}" ] || sleep "$pause"
[ "$name" != tuned ] || [ -z "$damage" ] || [ -e "$log.damaged" ] || { eval "$damage"; : >"$log.damaged"; }
printf '%s\n' "$head"
for word; do
    case $option in --message-size) sizes=$word ;; --arrival) arrivals=$arrivals,$word ;; esac
    option=$word
done
case $sizes in *[,:]*) ;; *) exit 1 ;; esac # that would be a range
IFS=,
for size in $sizes; do
    size=${size%:*} percent=''
    while IFS=' ' read -r at alone tuned gaining_one; do
        [ "$at" = "$size" ] || continue
        case $name in tuned) percent=${tuned:-$alone} ;; "${gaining_one:-$algorithm}") percent=$alone ;; esac
    done <<GAINS
$gains
GAINS
    for arrival in $arrivals; do
        random=$(((random * 75 + 74) % 65537))
        median=$((1000 + random % 10)) from_last=$((1000 + random / 10 % 10))
        case $percent/$gaining-$arrival in
        /* | */from_last_ns-together) ;;
        *) eval "${gaining%_ns}=$((percent * 10 + random / 100 % 10))" ;;
        esac
        printf '{"operation":"%s","size_bytes":%d,"arrival":"%s","median_ns":%d,"from_last_ns":%d}\n' "$word" \
            "$size" "$arrival" $median $from_last
    done
done
exit 0
END
# RANKS PROGRAM...: the script needs no launcher. Of a program of the build tree, the script of libtool, which takes
# longer than the program itself, is run once, here. On hosts, what is preloaded is set already.
give_way
built=$programs/.libs/mpix_tune
libraries=$build/lib/.libs${LD_LIBRARY_PATH+:$LD_LIBRARY_PATH}
LD_LIBRARY_PATH=$libraries "$built" --version >/dev/null 2>&1 || built=$programs/mpix_tune libraries=${LD_LIBRARY_PATH-}
cat >"$scratch/launch" <<END
#!/bin/sh
ranks=\$1 program=\$2
shift 2
[ "\$program" != "$scratch/bench" ] || . "\$program"
[ "\$program" != "$programs/mpix_tune" ] || program=$built
if [ -n "\${on_hosts-}" ]; then
    exec \$on_hosts -n "\$ranks" env "LD_LIBRARY_PATH=$libraries" "\$program" "\$@"
fi
exec ${MPIEXEC:-mpiexec} ${MPIEXEC_FLAGS-} -n "\$ranks" \
    ${yielding[@]:-env} "LD_LIBRARY_PATH=$libraries" "\$program" "\$@"
END
chmod +x "$scratch/bench" "$scratch/launch"

# [OPTION]... OPERATION: with the script.
tune() {
    rm -f "$log" "$log.damaged"
    program=mpix_tune command="mpix_tune $*"
    capture "${beside[@]}" "$programs/mpix_tune" -o "$scratch/tuning" -m 4K,64,1K,16K,1K --budget-s 100 \
        --bench "$scratch/bench" "$@" -- "$scratch/launch" '{ranks}'
}
beside=()

# Ends the memory of what was measured before, but for which algorithms of allreduce are right.
again() {
    rm -rf "$scratch/tuning"
    [ ! -e "$scratch/checks.json" ] || { mkdir "$scratch/tuning" && cp "$scratch/checks.json" "$scratch/tuning"; }
}

# ALGORITHM [PARAMETERS]: the others that are known and not checked yet count as wrong, which saves their launches.
leave_one() {
    local name checks=$scratch/tuning/checks.json known="basic_linear binary binary_tree binomial bruck brucks butterfly
        chain in-order_binary knomial linear linear_nb linear_sync modified_bruck neighbor non-overlapping
        noncommutative nonoverlapping pairwise pairwise_sendrecv_replace pipeline rabenseifner recursive_doubling
        recursive_halving reduce_scatter_allgather reduce_scatter_gather ring scatter_allgather scatter_allgather_ring
        scatter_recursive_doubling_allgather scatter_ring_allgather scattered segmented_ring smp split_binary_tree
        two_proc"
    for name in $known; do
        [ "$name" = "$1" ] || grep -q "\"$name${2-}\":" "$checks" || sed -i "1s/{/{\"$name${2-}\": 1, /" "$checks"
    done
}

# The same, where nothing else is known.
again_with_one() {
    rm -rf "$scratch/tuning"
    mkdir "$scratch/tuning"
    echo '{"none": 0}' >"$scratch/tuning/checks.json"
    leave_one "$@"
}

# FIRST LAST [ALGORITHM]: the table has this rule alone, in force.
expect_rule() {
    [ "$(columns first_bytes last_bytes algorithm verdict)" = "$1,$2,${3-$algorithm},in force" ] ||
        complain "not one rule from $1 to $2, in force"
}

expect_no_file() {
    [ ! -e "$scratch/tuning/tuned.$suffix" ] || complain "there is a file"
    ! grep -q 'To use it' "$scratch/out" "$scratch/err" || complain "a file is recommended"
}

check_gain() {
    again
    gains=$'1024 50\n4096 60'
    succeeds tune --format csv allreduce
    expect_rule 1024 4096
    grep -q "^# To use it:.*$variable=$(realpath "$scratch")/tuning/tuned.$suffix" "$scratch/err" ||
        complain "it does not say how to use the file"
    # Another time for it is the same tuning, and what was planned stays.
    succeeds tune --format json --budget-s 200 allreduce
    [ ! -e "$log" ] || complain "it measured again with a greater --budget-s, $(wc -l <"$log") launches"
    [ "$(cut -c1 "$scratch/out" | tr -d '\n')" = "{{" ] || complain "not a head and a row of JSON"
    cp "$scratch/out" "$scratch/rules.json"
    succeeds run alone mpix_report "$scratch/rules.json"
    grep -q 'Rules of tuning files' "$scratch/out" && grep -q '>in force<' "$scratch/out" &&
        grep -q 'with the file' "$scratch/out" || complain "the page does not show the rule"
    cp "$scratch/tuning/checks.json" "$scratch"
}

# The library's own choice is another one, so that it is seen whether the rule is in force.
other_algorithms() {
    case $suffix in
    json) echo allgather:ring alltoall:scattered bcast:scatter_ring_allgather reduce:reduce_scatter_gather \
        reduce_scatter:recursive_halving ;;
    rules) echo allgather:ring alltoall:linear bcast:split_binary_tree gather:linear_sync reduce:rabenseifner \
        reduce_scatter:non-overlapping scatter:linear_nb ;;
    esac
}

check_operation() { # OPERATION ALGORITHM
    local algorithm=$2
    again_with_one "$2"
    # When it starts, MPICH 5 calls MPI_Allgather itself, with smaller sizes. One size is no maximum.
    gains='16384 50'
    succeeds tune -m 16K:16K --format csv "$1"
    expect_rule 16384 16384
}

check_parameters() {
    local algorithm=split_binary_tree-1024-fan2
    again_with_one split_binary_tree -1024-fan2
    gains='16384 50'
    succeeds tune -m 16K:16K --segments 1K:1K --fan-outs 2 --format csv bcast
    expect_rule 16384 16384
    grep -qE ' 2 1024( 0)? #' "$scratch/tuning/tuned.rules" ||
        [ "$(grep -cE '"(seg_size": 1024|faninout": 2)' "$scratch/tuning/tuned.rules")" = 2 ] ||
        complain "the file does not have the parameters"
}

expect_before() {   # WHAT
    grep -hq "^# Before the algorithms of a file, .* uses: $1" "$scratch/out" "$scratch/err" ||
        complain "$1 is not named"
}

# A component that goes before tuned is named; the rules are in force for nothing.
check_before() {
    local component=sm
    case $MPI_LIBRARY in "Open MPI "[6-9]*) component=xhc ;; esac
    again
    gains='1024 50'
    export OMPI_MCA_coll_${component}_priority=60
    tune allreduce
    unset OMPI_MCA_coll_${component}_priority
    expect_status 1
    expect_before "$component (priority 60)"
    expect_no_file
    again
}

# FILE: it hands over 16384 bytes and 4 ranks alone, and what goes before is named. Open MPI 4 does not use han.
check_nodes_file() {
    local limits="0 han|4 # ranks|0 han|16384 tuned|16385 han|5 # ranks or more|0 han|"
    local keys='"comm_size<4": "comm_size<=4": "avg_msg_size<=16383": "avg_msg_size<=16384": '
    case $MPI_LIBRARY in
    MPICH*)
        expect_before compositions
        [ "$(grep -oE '"(comm_size<=?4|avg_msg_size<=1638[0-9])":' "$1" | uniq | tr '\n' ' ')" = "$keys" ] ||
            complain "not these keys: $keys" ;;
    "Open MPI 4"*) [ ! -e "$1" ] || complain "there is a file for han" ;;
    *)
        expect_before "han (priority 35)"
        [ "$(grep -E '^[0-9]+ (han|tuned|# ranks( or more)?)$' "$1" | tr '\n' '|')" = "$limits" ] ||
            complain "not these limits: $limits" ;;
    esac
}

# On several nodes, others go before the component or the tree that has the algorithms.
check_hosts() {
    local beside=("$tests/hosts/with_hosts.sh" 2)
    local -x on_hosts=$tests/hosts/mpiexec_hosts.sh MH_MPIEXEC=${MPIEXEC:-mpiexec} MH_MPICC=$compiler
    again_with_one "$algorithm"
    gains='16384 50'
    succeeds tune -n 4 -m 16K:16K --format csv allreduce
    expect_rule 16384 16384
    check_nodes_file "$scratch/tuning/tuned.$suffix.nodes"
    again
}

# A folder of the second host itself lies over that of the tuning.
check_blind_host() {
    local beside=("$tests/hosts/with_hosts.sh" 2 sh -c "
        '$tests/hosts/on_host.sh' host2 mount -t tmpfs none '$scratch/tuning' && exec \"\$@\"" sh)
    local -x on_hosts=$tests/hosts/mpiexec_hosts.sh MH_MPIEXEC=${MPIEXEC:-mpiexec} MH_MPICC=$compiler
    again
    mkdir -p "$scratch/tuning"
    tune -n 4 allreduce
    expect_status 1
    expect_message "2 of 4 ranks cannot read what is in $(realpath "$scratch")/tuning, the first is rank 2 on host2"
    [ ! -s "$scratch/out" ] && [ ! -e "$log" ] || complain "it does not end before the first check"
    again
}

# What the results are made with is said by mpix_bench.
check_provenance() {
    export "$variable=$scratch/tuning/tuned.$suffix" OMPI_MCA_coll_tuned_use_dynamic_rules=1
    run 2 mpix_bench -m 1K -i 3 -x 0 --format json allreduce
    unset "$variable" OMPI_MCA_coll_tuned_use_dynamic_rules
    grep -q '"mpi_algorithms":"[^"]*tuning/tuned' "$scratch/out" || complain "mpi_algorithms does not name the file"
}

check_refused() {
    tune -m 64,1K allreduce
    expect_status 1
    expect_message "has a tuning of something else"
    exec 9<"$scratch/tuning"
    flock 9
    tune allreduce
    exec 9<&-
    expect_status 1
    expect_message "another mpix_tune is at work"
}

# A signal in the middle of checks and proofs leaves nothing that is wrong.
check_interrupts() {
    local pid part
    rm -rf "$scratch/tuning"
    gains=$'1024 50\n4096 60'
    command="mpix_tune, ended by a signal"
    for part in checks.json choice tuned.$suffix; do
        "$programs/mpix_tune" -o "$scratch/tuning" -m 64,1K,4K,16K --budget-s 100 --bench "$scratch/bench" allreduce \
            -- "$scratch/launch" '{ranks}' >"$scratch/out" 2>"$scratch/err" </dev/null &
        pid=$!
        for ((i = 0; i < 10 * tap_limit_s; i++)); do
            [ ! -e "$scratch/tuning/$part" ] || break
            sleep 0.1
        done
        kill -TERM $pid
        wait $pid
        status=$?
        expect_status 143
        expect_no_file
        grep -q "the same command continues the tuning in $(realpath "$scratch")/tuning$" "$scratch/err" ||
            complain "it does not say how to continue"
        [ "$part" != checks.json ] || leave_one "$algorithm"
    done
    succeeds tune --format csv allreduce
    expect_rule 1024 4096
}

# Without a minimum, sizes begin with one element.
check_no_gain() {
    again
    gains='16 98'
    succeeds tune -m 16 allreduce
    grep -q "own choice stays" "$scratch/out" || complain "it does not say so"
    expect_no_file
    tr -d ' \n' <"$scratch/tuning/tuning.json" | grep -qF '"sizes":[4,8,16]' || complain "the sizes are not 4, 8, 16"
    tune -m 16 --format json allreduce
    [ ! -e "$log" ] || complain "it measured again, $(wc -l <"$log") launches"
    [ "$(grep -c '"schema":"mpix-tune"' "$scratch/out")" = 1 ] || complain "without rules, there is no head of JSON"
}

# With arrivals, the time from the last arrival counts.
check_arrivals() {
    again_with_one "$algorithm"
    gains=$'1024 50\n4096 60' gaining=from_last_ns
    succeeds tune allreduce
    expect_no_file
    again_with_one "$algorithm"
    succeeds tune --format csv --arrival last-late:10 allreduce
    expect_rule 1024 4096
    grep -q '^# arrival: last-late:10$' "$scratch/out" || complain "it does not say for which arrivals"
    gaining=median_ns
}

# Where a rule is dropped, the one before ends with the last size that was measured. If the same file is measured again,
# and no rule gains, there is none.
check_no_second_gain() {
    local one="4096,4096,$algorithm,in force|16384,16384,recursive_doubling,fresh launches did not gain|"
    local none=${one/in force/fresh launches did not gain}
    again
    gains=$'4096 50\n16384 50 100 recursive_doubling'
    tune --format csv allreduce
    expect_status 1
    [ "$(columns first_bytes last_bytes algorithm verdict | tr '\n' '|')" = "$one" ] || complain "not these: $one"
    rm -r "$scratch/tuning/confirmation"
    gains=$'4096 50 100\n16384 50 100 recursive_doubling'
    tune --format csv allreduce
    expect_status 1
    [ "$(columns first_bytes last_bytes algorithm verdict | tr '\n' '|')" = "$none" ] || complain "not these: $none"
    expect_no_file
}

# Wrong files: what is done to the right one. A letter says for which library.
damages() {
    cat <<'END'
    it is gone|rm "$file"
    it is empty|: >"$file"
    it is a folder|rm "$file"; mkdir "$file"
    it is cut|truncate -s $(($(wc -c <"$file") / 2)) "$file"
    it is no text|head -c 1000 /dev/urandom >"$file"
    it is of another library|echo "1 2 3 { ] algorithm" >"$file"
j   an algorithm that there is not|sed -i 's/intra_reduce_scatter_allgather/intra_nothing/' "$file"
j   another limit of sizes|sed -i 's/msg_size<=4096/msg_size<=2048/' "$file"
j   a greater limit of sizes|sed -i 's/msg_size<=4096/msg_size<=9000/' "$file"
j   a smaller first size|sed -i 's/msg_size<=1023"/msg_size<=511"/' "$file"
j   another number of ranks|sed -i 's/comm_size<=2"/comm_size<=1"/; s/comm_size<2"/comm_size<1"/' "$file"
j   all numbers of ranks|sed -i 's/comm_size<=2"/comm_size<=900"/' "$file"
j   a chain without an end|sed -i 's/"comm_size=any"/"comm_size<=1"/' "$file"
j   a comma for a point|sed -i 's/: {/, {/' "$file"
j   the operation is missing|sed -i 's/collective=allreduce/collective=nothing/' "$file"
r   an algorithm that there is not|sed -i 's/^1024 [0-9]*/1024 99/' "$file"
r   another algorithm|sed -i 's/^1024 [0-9]*/1024 3/' "$file"
r   another limit of sizes|sed -i 's/^4097 /2049 /' "$file"
r   a greater limit of sizes|sed -i 's/^4097 /9000 /' "$file"
r   a smaller first size|sed -i 's/^1024 /512 /' "$file"
r   a first limit that is not 0|sed -i 's/^0 0 0 0 # the/8 0 0 0 # the/' "$file"
r   another number of ranks|sed -i 's/^2 # ranks/3 # ranks/; s/^3 # ranks or/4 # ranks or/' "$file"
r   more rules than there are|sed -i 's/^3 # limits/9 # limits/' "$file"
r   fewer rules than there are|sed -i 's/^3 # limits/1 # limits/' "$file"
r   words|sed -i 's/^1024 [0-9]*/1024 ring/' "$file"
r   another operation|sed -i 's/^2 # allreduce/7 # allreduce/' "$file"
END
}

check_damage() {    # DAMAGE
    gains=$'1024 50\n4096 60'
    [ -e "$scratch/tuning/confirmation" ] || { again && succeeds tune allreduce; }
    # One launch with the file is made again, and damages it.
    rm -rf "$scratch/tuning/confirmation/tuned/0000.json" "$scratch/tuning/tuned.$suffix"
    damage=$1
    tune allreduce
    damage=
    [ -e "$log.damaged" ] || complain "nothing was damaged"
    [ "$(cat "$log")" = tuned ] || complain "it made other launches: $(sort "$log" | uniq -c)"
    expect_status 1
    ! grep -q "in force\|To use it" "$scratch/out" || complain "a rule is recommended"
}

# PART COMMAND...: it ends with one line, and no file.
expect_end() {
    again
    "${@:2}"
    expect_status 1
    expect_message "$1"
    expect_no_file
}

# Likewise, before anything is checked, and with no folder.
expect_no_begin() {
    rm -rf "$scratch/tuning"
    "${@:2}"
    expect_status 1
    expect_message "$1"
    [ ! -e "$scratch/tuning" ] || complain "an empty folder stays"
}

check_ends() {
    # It takes {ranks}, and starts one all the same.
    # shellcheck disable=SC2016
    expect_no_begin "give {ranks}" run alone mpix_tune -o "$scratch/tuning" allreduce -- \
        sh -c "exec ${MPIEXEC:-mpiexec} ${MPIEXEC_FLAGS-} -n 1"' "$@"' '{ranks}'
    expect_no_begin "does not run programs" run alone mpix_tune -o "$scratch/tuning" allreduce -- false '{ranks}'
    expect_no_begin 'cannot run "no-launcher"' run alone mpix_tune -o "$scratch/tuning" allreduce -- \
        no-launcher '{ranks}'
    expect_no_begin "cannot make the folder" run alone mpix_tune -o /dev/null allreduce -- true '{ranks}'
}

check_environment() {
    export "$variable=$scratch/no-such-file" OMPI_MCA_coll_tuned_use_dynamic_rules=1
    [ $suffix != json ] || export MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=smp "$variable="
    expect_end "the environment chooses already" tune allreduce
    unset "$variable" OMPI_MCA_coll_tuned_use_dynamic_rules MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM
}

# By the start of a program; by the first launches; by one of these that hangs; and one that hangs later is ended.
check_budget() {
    gains=$'1024 50'
    expect_no_begin "too small: a confirmation takes 12 launches" tune --budget-s 1 allreduce
    [ ! -e "$log" ] || complain "it does not end before the first launch"
    export pause=2.2 from_launch=0
    again_with_one "$algorithm"
    tune allreduce
    expect_status 1
    expect_message "too small: a confirmation takes 12 launches of"
    [ -e "$log" ] || complain "it ends before the first launch"
    pause=1000 from_launch=2
    again_with_one "$algorithm"
    tune --budget-s 50 allreduce
    expect_status 1
    expect_message "too small: the screening does not end within a quarter of it"
    from_launch=5
    again_with_one "$algorithm"
    tune allreduce
    expect_status 1
    expect_message "the command took longer than 5"
    expect_message "what is done is kept in"
    expect_no_file
    unset pause from_launch
}

# Launches that take longer than those before, none of them long enough to be ended by itself.
check_end_of_budget() {
    gains=$'1024 50'
    export pause=4 from_launch=12
    again_with_one "$algorithm"
    tune --budget-s 16 --level-percent 50 allreduce
    expect_status 1
    expect_message "does not end within what is left of it, as launches take longer; what is done is kept"
    expect_no_file
    unset pause from_launch
}

# NAME COMMAND...: a test of what mpix_tune does itself, whatever the MPI library
check_once() { [ "${MPIX_TEST_BRIEF-}" = yes ] || tap_check "$@"; }

quick tap_check "a gain becomes a rule that is in force" check_gain
quick tap_check "results name the file" check_provenance
check_once "another tuning and one that is at work are refused" check_refused
for pair in $(other_algorithms); do
    tap_check "a rule of ${pair%:*}" check_operation "${pair%:*}" "${pair#*:}"
done
if [ $suffix = rules ]; then
    tap_check "a rule with a segment and a fan-out" check_parameters
    tap_check "a component that goes before" check_before
fi
problem=$(hosts_problem "$tests/hosts/with_hosts.sh")
tap_check_unless "$problem" "a rule on two hosts" check_hosts
quick tap_check_unless "$problem" "a folder that the second host does not have" check_blind_host
while IFS='|' read -r what damage_it; do
    case $what in j*) [ "$suffix" = json ] || continue ;; r*) [ "$suffix" = rules ] || continue ;; esac
    tap_check "a wrong file: $(sed 's/^[jr]* *//' <<<"$what")" check_damage "$damage_it"
done < <(damages)
tap_check "signals" check_interrupts
quick tap_check "no gain, no file, and a range of sizes" check_no_gain
check_once "gains that do not come again" check_no_second_gain
check_once "arrivals" check_arrivals
quick tap_check "launchers and folders that do not fit" check_ends
tap_check "an environment that chooses" check_environment
check_once "a budget that is too small" check_budget
check_once "the end of the budget" check_end_of_budget
tap_done
