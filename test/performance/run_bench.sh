#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The project's performance record: one table for each case, all subjects of a case in one run. Nothing else should run on the
# machine meanwhile; it takes some three minutes.
#
# Usage, in the build directory: run_bench.sh [--other LIBRARY] [--json FILE] [--record FILE]
#   --other    a shared library with another MPIX_Harmonize, compared in the same runs
#   --json     no tables: append a line for each case and way of releasing processes to the file
#   --record   write the tables, with the machine and versions, as Markdown
#
# Environment: MPIEXEC, MPIEXEC_FLAGS; BENCH_CALLS (default 100000), BENCH_NOISE_S (default 10; 0: without that case)
set -u

source_dir=$(cd "$(dirname "$0")" && pwd)
hosts=$source_dir/../hosts
launcher=${MPIEXEC:-mpiexec}
calls=${BENCH_CALLS:-100000}
noise_s=${BENCH_NOISE_S:-10}
other=() json= record=

while [ $# -gt 0 ]; do
    case $1 in
    --other | --json | --record)
        [ $# -gt 1 ] || { echo "run_bench.sh: $1 needs a file" >&2; exit 2; }
        case $1 in
        --other) other=(--other "$2") ;;
        --json) json=$2 ;;
        --record) record=$2 ;;
        esac
        shift 2
        ;;
    *) echo "run_bench.sh: $1 is unknown; allowed: --other, --json, --record, each with a file" >&2; exit 2 ;;
    esac
done

pin=-bind-to
"$launcher" --version 2>&1 | grep -q "Open MPI" && pin=--bind-to

# MPI_Barrier takes milliseconds where a library that spins has more ranks than cores.
few() { echo $((calls / 500 > 0 ? calls / 500 : 1)); }

# What each case measures: all ways of releasing processes, five times in turn.
skew=(./examples/mpix_skew --release barrier,harmonize,shm,dissemination,tree,collective --repeats 5 --seconds 60)

# TITLE: shows the rows on standard input, as a table with a title or as lines of JSON that name the case.
show() {
    if [ -n "$json" ]; then
        grep '^{' | sed "s/^{/{\"case\":\"$1\",/" >>"$json"
    else
        echo "# Case: $1"
        cat
    fi
}
format() { [ -z "$json" ] || echo "--format json"; }

on_node() {     # RANKS CALLS TITLE [FLAG...]
    local ranks=$1 count=$2 title=$3
    shift 3
    # shellcheck disable=SC2046,SC2086
    "$launcher" ${MPIEXEC_FLAGS-} "$@" -n "$ranks" "${skew[@]}" --iterations "$count" --warmup $((count / 20 + 1)) \
        "${other[@]}" $(format) </dev/null | show "$title"
}

# Hosts in namespaces of one machine do share its counter.
on_hosts() {
    local output status
    # shellcheck disable=SC2046
    output=$(MH_MPIEXEC=$launcher "$hosts/with_hosts.sh" 2 "$hosts/mpiexec_hosts.sh" -n 2 "${skew[@]}" --clock tsc \
        --iterations $((calls / 4 > 0 ? calls / 4 : 1)) "${other[@]}" $(format) 2>&1 </dev/null)
    status=$?
    if [ $status -eq 77 ]; then
        echo "# 2 hosts: skipped, $(sed -n 's/^skip: *//p' <<<"$output" | head -n 1)"
    else
        show "2 ranks, 2 hosts, TCP" <<<"$output"
    fi
}

# A busy program on each core for a while, beside the calls.
under_noise() {
    local before_s=3 after_s=3 rows noisy=()
    rows=$(mktemp)
    # shellcheck disable=SC2086
    "$launcher" ${MPIEXEC_FLAGS-} "$pin" core -n 2 ./examples/mpix_skew --watch-s $((before_s + noise_s + after_s)) --format csv \
        >"$rows" 2>&1 </dev/null &
    local watched=$!
    sleep $before_s
    for ((i = 0; i < $(nproc); i++)); do
        (while :; do :; done) &
        noisy+=($!)
    done
    sleep "$noise_s"
    kill "${noisy[@]}"
    wait $watched
    echo "# A busy program on each core for $noise_s s: calls of MPIX_Harmonize by 2 ranks before, during, and after it"
    awk -F, -v from=$before_s -v to=$((before_s + noise_s)) '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        {
            time = $column["time_ns"] / 1e9
            phase = time <= from ? "before" : time <= to + 0.25 ? "during" : time <= to + 1.25 ? "first second after" : "later"
            valid[phase] += $column["valid"]; calls[phase] += $column["calls"]; call[phase] += $column["call_ns"]; rows[phase]++
        }
        END {
            split("before,during,first second after,later", phases, ",")
            printf "%20s %10s %12s\n", "phase", "valid", "call(ns)"
            for (i = 1; i <= 4; i++)
                if (rows[phases[i]])
                    printf "%20s %10.4f %12.1f\n", phases[i], valid[phases[i]] / calls[phases[i]], call[phases[i]] / rows[phases[i]]
        }' "$rows"
    rm -f "$rows"
}

instructions() {    # CALLS
    valgrind --tool=callgrind --callgrind-out-file=/dev/null ./test/performance/harmonize_calls "$1" 2>&1 | sed -n 's/.*refs: *//p' | tr -d ,
}

count_instructions() {
    command -v valgrind >/dev/null || { echo "# Instructions: skipped, valgrind is missing"; return; }
    local few many
    few=$(instructions 10000)
    many=$(instructions 30000)
    echo "# Instructions of a call by a single process, by callgrind: $(((many - few) / 20000))"
}

run_all() {
    on_node 2 "$calls" "2 pinned ranks, one node" "$pin" core
    echo
    on_node 4 "$(few)" "4 ranks"
    echo
    on_node 8 "$(few)" "8 ranks"
    echo
    on_hosts
    echo
    [ "$noise_s" -eq 0 ] || under_noise
    echo
    count_instructions
}

describe_machine() {
    echo "# Results"
    echo
    echo "Written by \`make bench-record\`: medians of five interleaved repetitions; skews in nanoseconds, over valid calls."
    echo
    echo "- Processor: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores that may be used"
    echo "- Kernel: $(uname -sr)"
    echo "- Compiler: $(${CC:-cc} --version 2>/dev/null | head -n 1)"
    echo
    echo '```'
}

[ -x ./examples/mpix_skew ] || { echo "run_bench.sh: examples/mpix_skew is not built in $PWD" >&2; exit 1; }
if [ -z "$record" ]; then
    run_all
else
    { describe_machine; run_all; echo '```'; } | tee "$record.new" && mv "$record.new" "$record"
fi
