# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Recording programs by mpix_trace and looking at their traces, to be sourced. Sets $folder, where the trace is.
#
# Environment: CC  MPI compiler wrapper for C; that for Fortran has the same name but for mpifort
#
# Compilers are lists of words.
# shellcheck disable=SC2086,SC2154
. "$(dirname "$0")/../../test/programs/run.sh"
folder=$scratch/trace
compgen -G "$build/bin/.libs/libmpix_interpose-*.so" >/dev/null ||
    skip_all "this build has no recorder: it takes shared libraries, and MPICH or Open MPI"

# What sanitizers have built can be loaded into a program that they have built, too.
[ "${sanitizers:-no}" = no ] || compiler+=" -g -fsanitize=$sanitizers -fno-sanitize-recover=all"

compile() {         # NAME SOURCE_OR_OPTION...: into $scratch/NAME, else the script ends
    local name=$1
    shift
    (cd "$here" && $compiler -w "$@" -o "$scratch/$name" -lpthread -ldl) >"$scratch/log" 2>&1 && return
    cat "$scratch/log"
    echo "Bail out! $compiler does not compile $*"
    exit 1
}

# RANKS [OPTION]... PROGRAM...: records into a fresh folder, and dumps it.
record() {
    local ranks=$1
    shift
    rm -rf "$folder"
    run "$ranks" mpix_trace -o "$folder" "$@"
    dump
}

# Leaves the traces as text in dump-0 and dump-1.
dump() {
    local rank
    for rank in 0 1; do
        : >"$scratch/dump-$rank"
        [ ! -f "$folder/rank-$rank.mpixtrace" ] ||
            "$checks/trace_dump" "$folder" $rank >"$scratch/dump-$rank" || complain "the trace of $rank cannot be read"
    done
}

expect_done() {
    expect_status 0
    ! grep -q '^wrong' "$scratch/out" || complain "the program complains"
    [ "$(grep -o done "$scratch/out" | wc -l)" -eq 2 ] || complain "not both processes are done"
}

# RANK HOW_OFTEN PATTERN: so many lines of its trace have this; a number, or MIN+.
expect() {
    local count
    count=$(grep -cE -e "$3" "$scratch/dump-$1")
    case $2 in
    *+) [ "$count" -ge "${2%+}" ] || complain "trace of $1: $count lines '$3', not $2" ;;
    *) [ "$count" -eq "$2" ] || complain "trace of $1: $count lines '$3', not $2" ;;
    esac
}

# HOW [OPTION]... PROGRAM...: records two processes. HOW they end: "all", well, and the trace has all that they did;
# "well"; or "badly", by themselves. Each line of standard input is RANKS|HOW_OFTEN|PATTERN, as expect takes them, with
# a comma between ranks; or says|PATTERN, as expect_line takes it.
check_recording() {
    local how=$1 ranks often pattern process
    record 2 "${@:2}"
    if [ "$how" != badly ]; then
        expect_done
    elif [ "$status" -eq 0 ] || [ "$status" -eq 124 ]; then
        complain "it does not end badly, by itself"
    fi
    [ "$how" != all ] || expect_sound
    while IFS='|' read -r ranks often pattern; do
        [ "$ranks" != says ] || { expect_line "$often"; continue; }
        for process in ${ranks/,/ }; do expect "$process" "$often" "$pattern"; done
    done
}

# The same; what the trace has is not looked for.
record_all() {
    check_recording all "$@" </dev/null
}

# What holds in every complete trace.
expect_sound() {
    local rank
    for rank in 0 1; do
        expect $rank 1 '^end .* dropped 0$'
        expect $rank 2+ '^clock '
        awk '
            $1 == "event" && $3 < last[$2] { print "thread " $2 ": time goes back at " $3 }
            $1 == "event" { last[$2] = $3 }
            $4 == "enter" { name[$2, ++depth[$2]] = $5 }
            $4 == "leave" && name[$2, depth[$2]--] != $5 { print "leave without enter: " $0 }
            END { for (thread in depth) if (depth[thread] != 0) print "thread " thread " does not leave all" }
            ' "$scratch/dump-$rank"
    done
}
