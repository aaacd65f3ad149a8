#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The project's performance record: a table in Markdown for each case, all ways of releasing processes of a case in one
# run. Nothing else should run on the machine meanwhile. It takes about two minutes, and at most seven.
#
# Usage, in the build directory: run_bench.sh [--other LIBRARY] [--record FILE]
#   --other    a shared library with another MPIX_Harmonize, compared in the same runs
#   --record   write the tables, with the machine and versions, as the file's section of this MPI library
#
# Environment: MPIEXEC, MPIEXEC_FLAGS; MPI_LIBRARY, its name and version; BENCH_CALLS (default 100000), BENCH_NOISE_S
# (default 10; 0: without that case)
. "$(dirname "$0")/../../../test/performance/launches.sh"

hosts=$tests/hosts
calls=${BENCH_CALLS:-100000}
noise_s=${BENCH_NOISE_S:-10}
other=() record=

while [ $# -gt 0 ]; do
    case $1 in
    --other) other=(--other "${2?a library}") ;;
    --record) record=${2?a file} ;;
    *) echo "run_bench.sh: $1 is unknown; allowed: --other, --record, each with a file" >&2; exit 2 ;;
    esac
    shift 2
done

# MPI_Barrier takes milliseconds where a library that spins has more ranks than cores.
few() { echo $((calls / 500 > 0 ? calls / 500 : 1)); }

# What each case measures: all ways of releasing processes, five times in turn, for at most 90 seconds.
skew=(./bin/mpix_skew --repeats 5 --time-slice-s 3 --release
    barrier,harmonize,harmonize-shm,harmonize-dissemination,harmonize-tree,harmonize-collective)

# What mpix_skew prints on standard input: as a table, under a title.
show() {            # TITLE
    printf '### %s\n\n' "$1"
    $awk -F, '
        function row(a, b, c, d, e, f, g, h) {
            printf "| %-13s | %10s | %10s | %10s | %10s | %10s | %7s | %6s |\n", a, b, c, d, e, f, g, h
        }
        $1 == "release" {
            for (i = 1; i <= NF; i++) column[$i] = i
            titles = NF
            row("release", "p50 (ns)", "p99 (ns)", "p99.9 (ns)", "max (ns)", "call (ns)", "calls", "valid part")
            print "|---|---:|---:|---:|---:|---:|---:|---:|"
            next
        }
        titles && NF == titles {
            row($1, $column["p50_ns"], $column["p99_ns"], $column["p99.9_ns"], $column["max_ns"], $column["call_ns"],
                $column["calls"], sprintf("%.4f", $column["valid"] / $column["calls"]))
        }'
    echo
}

on_node() {         # RANKS CALLS TITLE [FLAG...]
    local ranks=$1 pin=("${@:4}")
    launch "${skew[@]}" --iterations "$2" --warmup $(($2 / 20 + 1)) "${other[@]}" --format csv | show "$3"
}

# Hosts in namespaces of one machine do share its counter.
on_hosts() {
    local output status
    output=$(MH_MPIEXEC=${MPIEXEC:-mpiexec} "$hosts/with_hosts.sh" 2 "$hosts/mpiexec_hosts.sh" -n 2 \
        "${skew[@]}" --truth tsc \
        --iterations $((calls / 4 > 0 ? calls / 4 : 1)) "${other[@]}" --format csv 2>&1 </dev/null)
    status=$?
    if [ $status -ne 77 ]; then
        show "2 ranks, 2 hosts in namespaces of this machine, TCP" <<<"$output"
    else
        printf '2 hosts: skipped, %s\n\n' "$(sed -n 's/^skip: *//p' <<<"$output" | head -n 1)"
    fi
}

# TITLE SECONDS
alone() {
    ranks=2 launch ./bin/mpix_skew --release harmonize -i 10000000 --time-slice-s "$2" --format csv |
        show "2 pinned ranks, $1 a busy program ran on each core"
}

under_noise() {
    local noisy=() pin=(--bind-to core)
    alone before 3
    for ((i = 0; i < $(nproc); i++)); do
        (while :; do :; done) &
        noisy+=($!)
    done
    alone while "$noise_s"
    kill "${noisy[@]}"
    alone after 3
}

instructions() {    # CALLS
    valgrind --tool=callgrind --callgrind-out-file=/dev/null ./test/performance/harmonize_calls "$1" 2>&1 |
        sed -n 's/.*refs: *//p' | tr -d ,
}

count_instructions() {
    command -v valgrind >/dev/null || { echo "Instructions: skipped, valgrind is missing"; return; }
    local few many
    few=$(instructions 10000)
    many=$(instructions 30000)
    echo "Instructions of a call by a single process, by callgrind: $(((many - few) / 20000))"
}

run_all() {
    on_node 2 "$calls" "2 pinned ranks, one node" --bind-to core
    on_node 4 "$(few)" "4 ranks, one node"
    on_node 8 "$(few)" "8 ranks, one node"
    on_hosts
    [ "$noise_s" -eq 0 ] || under_noise
    count_instructions
}

describe_record() {
    cat <<'END'
# Performance record

`make bench-record` writes the section of the MPI library of the build, by `mpix_skew`. Figures are medians of five
repetitions in turn. Skews are of valid calls; all calls of `MPI_Barrier`, the row `barrier`, are valid. A row
without skews has no valid call: more ranks than processors do not leave within the tolerance.
END
}

describe_machine() {
    printf -- '- Date: %s\n' "$(date -u +%Y-%m-%d)"
    printf -- '- Library: %s\n' "$(./bin/mpix_skew --version | sed 's/^mpix_skew //')"
    printf -- '- Processor: %s, %s cores that may be used\n' \
        "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)"
    printf -- '- Kernel: %s\n' "$(uname -sr)"
    printf -- '- Compiler: %s\n\n' "$(${CC:-cc} --version 2>/dev/null | head -n 1)"
}

# The sections of other MPI libraries stay.
write_record() {
    local library=${MPI_LIBRARY:-$("${MPIEXEC:-mpiexec}" --version 2>&1 | head -n 1)}
    describe_record
    ! [ -e "$record" ] || $awk -v name="${library%% [0-9]*}" '
        /^## / { keep = index($0, "## " name) != 1; if (keep) print "" }
        keep { held = held $0 "\n"; if ($0 != "") { printf "%s", held; held = "" } }' "$record"
    printf '\n## %s\n\n' "$library"
    describe_machine
    run_all
}

[ -x ./bin/mpix_skew ] || { echo "run_bench.sh: bin/mpix_skew is not built in $PWD" >&2; exit 1; }
if [ -z "$record" ]; then
    run_all
else
    write_record | tee "$record.new" && mv "$record.new" "$record"
fi
