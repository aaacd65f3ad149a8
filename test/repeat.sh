#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs the tests again and again, and counts how often each one failed: a test that anybody can trust never does.
#
# Usage, in the build directory: repeat.sh TIMES [--busy] [--all]
#   --busy   beside two processes that keep the processors busy
#   --all    all tests, not only the quick ones
set -u

[[ ${1-} =~ ^[0-9]+$ ]] || { echo "Usage: repeat.sh TIMES [--busy] [--all]" >&2; exit 2; }
times=$1
shift
export MPIX_TEST_QUICK=yes
busy=
for word; do
    case $word in
    --busy) busy=yes ;;
    --all) unset MPIX_TEST_QUICK ;;
    *) echo "repeat.sh: unknown argument '$word'; allowed: --busy, --all" >&2; exit 2 ;;
    esac
done

results=$PWD/repeat.results
: >"$results"
spinners=()
end() { [ ${#spinners[@]} -eq 0 ] || kill "${spinners[@]}" 2>/dev/null; }
trap end EXIT
if [ -n "$busy" ]; then
    for _ in 1 2; do
        while :; do :; done &
        spinners+=($!)
    done
fi

for ((i = 1; i <= times; i++)); do
    find . -name '*.trs' -delete
    ${MAKE:-make} check >"repeat.$i.log" 2>&1 </dev/null
    status=$?
    # As where the tests cannot be built: then none has failed.
    [ $status -eq 0 ] || grep -qE '^(FAIL|ERROR|XPASS): ' "repeat.$i.log" ||
        echo "ERROR: make check ended with status $status, see repeat.$i.log" >>"$results"
    grep -E '^(PASS|FAIL|SKIP|ERROR|XPASS|XFAIL): ' "repeat.$i.log" >>"$results"
    [ ! -t 2 ] || echo "$i of $times" >&2
done

# A time in a name differs from run to run.
sed -E 's/ \([0-9.]+ s\)//; s/ # SKIP.*//' "$results" | "${AWK:-awk}" -v times="$times" '
    $1 == "SKIP:" { skipped++; next }
    { runs++; name = $0; sub(/^[A-Z]+: /, "", name); seen[name] = 1 }
    $1 != "PASS:" && $1 != "XFAIL:" { failed++; failures[name]++ }
    END {
        for (name in failures) printf "failed %d times: %s\n", failures[name], name
        for (name in seen) tests++
        printf "%d tests, %d runs of a test in %d rounds, %d failed, %d skipped\n", tests, runs, times, failed, skipped
        exit failed > 0 || !tests
    }'
