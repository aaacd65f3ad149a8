#!/usr/bin/env bash
# Runs each fuzz target over its kept corpus. In the build directory.
set -u

source_dir=$(cd "$(dirname "$0")" && pwd)
. "$source_dir/../tap.sh"
export ASAN_OPTIONS=${ASAN_OPTIONS-detect_leaks=0}

for target in label settings options plan clock trace results; do
    files=("$source_dir/corpus/$target"/*)
    program=./test/fuzz/fuzz_$target
    if [ $target = results ] && [ ! -x ./tools/mpix_compare ]; then
        tap_skip "corpus of $target" "what reads results is not built, for want of Jansson"
    elif [ ! -x "$program" ]; then
        tap_not_ok "corpus of $target" "$program is not built here"
    elif [ ! -e "${files[0]}" ]; then
        tap_not_ok "corpus of $target" "no file in $source_dir/corpus/$target"
    elif complaints=$("$program" "${files[@]}" 2>&1 >/dev/null </dev/null); then
        tap_ok "corpus of $target: ${#files[@]} inputs"
    else
        tap_not_ok "corpus of $target" "$(tail -n 30 <<<"$complaints")
to see it again, in $PWD: $program $source_dir/corpus/$target/*"
    fi
done
tap_done
