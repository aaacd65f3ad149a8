#!/usr/bin/env bash
# Builds the fuzz targets with clang in fuzz/build, below the current directory, and runs each of them. The corpus grows
# in fuzz/TARGET; inputs that crash a target are kept in fuzz/TARGET.crashes.
#
# Usage, in the build directory: run_fuzz.sh [PROGRAM...]
#
# Environment:
#   FUZZ_PROGRAMS  all targets, as they are built
#   FUZZ_MINUTES   for each target (default 10; a fraction is allowed)
#   CC             MPI compiler wrapper (default mpicc)
#   CLANG          compiler that has libFuzzer (default clang)
. "$(dirname "$0")/../analysis/scratch.sh"

read -r -a programs <<<"$FUZZ_PROGRAMS"
[ $# -eq 0 ] || programs=("$@")
seconds=$(awk -v m="${FUZZ_MINUTES:-10}" 'BEGIN { printf "%d", m * 60 }')
clang=${CLANG:-clang}
command -v "$clang" >/dev/null || { echo "1..0 # SKIP no $clang (Debian package: clang)"; exit 0; }

scratch=$PWD/fuzz
use_compiler "$clang"
scratch_build "$scratch/build" --enable-sanitizers=address,undefined,float-cast-overflow --disable-shared \
    CFLAGS='-g -O1 -fsanitize=fuzzer-no-link' CPPFLAGS=-DWITH_LIBFUZZER -- \
    FUZZ_LDFLAGS=-fsanitize=fuzzer "${programs[@]}" || exit 1

# Leaks of one input are found; what the MPI library allocates when it is loaded is no leak of ours.
export UBSAN_OPTIONS=print_stacktrace=1
for program in "${programs[@]}"; do
    target=${program##*/fuzz_}
    log=$scratch/$target.log
    length=512
    case $target in records | trace) length=4096 ;; esac
    mkdir -p "$scratch/$target" "$scratch/$target.crashes"
    # What the targets print is thrown away, but not what libFuzzer and the sanitizers say.
    (cd "$scratch" && "build/$program" -max_total_time="$seconds" -timeout=10 -max_len=$length \
        -close_fd_mask=3 -print_final_stats=1 -artifact_prefix="$target.crashes/" \
        "$target" "$top/${program%/*}/corpus/$target") >"$log" 2>&1 </dev/null
    status=$?
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    if [ $status -eq 0 ] && [ "${executions:-0}" -gt 0 ]; then
        tap_ok "$target: $executions executions in $seconds s, $(ls "$scratch/$target" | wc -l) inputs found"
    else
        tap_not_ok "$target: status $status" "$(tail -n 40 "$log")"
    fi
done
tap_done
