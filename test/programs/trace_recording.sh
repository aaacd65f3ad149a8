# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Recording programs by mpix_trace and looking at their traces, to be sourced. Sets $folder, where the trace is.
#
# Environment: CC  MPI compiler wrapper for C; that for Fortran has the same name but for mpifort
#
# Compilers are lists of words.
# shellcheck disable=SC2086,SC2154
. "$(dirname "$0")/run.sh"
folder=$scratch/trace
compgen -G "$build/lib/interpose/.libs/libmpix_interpose-*.so" >/dev/null ||
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
compile trace_dump -I../../lib trace_dump.c

# RANKS [OPTION]... PROGRAM...: records into a fresh folder, and dumps it.
record() {
    local ranks=$1
    shift
    rm -rf "$folder"
    run "$ranks" mpix_trace -o "$folder" "$@"
    dump
}

# [OPTION]... PROGRAM...: records two processes, which end well; the trace has all that they did.
record_all() {
    record 2 "$@"
    expect_done
    expect_sound
}

# Leaves the traces as text in dump-0 and dump-1.
dump() {
    local rank
    for rank in 0 1; do
        : >"$scratch/dump-$rank"
        [ ! -f "$folder/rank-$rank.mpixtrace" ] ||
            "$scratch/trace_dump" "$folder/rank-$rank.mpixtrace" >"$scratch/dump-$rank" ||
            complain "the trace of $rank is torn"
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
    [ "$(sed -n 's/.* job //p' "$scratch"/dump-[01] | sort -u | wc -l)" -eq 1 ] || complain "job numbers differ"
}
