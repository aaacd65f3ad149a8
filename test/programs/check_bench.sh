#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Whether the programs of the performance record run and print what they should; no figure is judged.
set -u

source_dir=$(cd "$(dirname "$0")" && pwd)
. "$source_dir/../tap.sh"
case $(basename "${MPIEXEC:-mpiexec}") in
smpirun) echo "1..0 # SKIP the simulator has no time of its own"; exit 0 ;;
esac
csv=$(mktemp) || exit 1
trap 'rm -f "$csv" "$csv.messages"' EXIT

# shellcheck disable=SC2086
run() {
    limited "${MPIEXEC:-mpiexec}" ${MPIEXEC_FLAGS-} -n 2 ./tools/mpix_skew --iterations 50 --repeats 2 "$@" \
        2>&1 </dev/null
}
all=barrier,harmonize,harmonize-shm,harmonize-dissemination,harmonize-tree,harmonize-collective

output=$(run --release $all)
for scheme in barrier harmonize harmonize-tree harmonize-collective; do
    problem=$(grep -q "^ *$scheme " <<<"$output" || echo "$output")
    tap_expect_empty "a row for $scheme" "$problem"
done
run --release $all --format csv --output "$csv" >"$csv.messages"
rows=$(grep -c '^ *[a-z-]* .*[0-9]$' <<<"$output")
if [ "$(grep -c '^[a-z-]*,[0-9.]*,.*[0-9]$' "$csv")" -eq "$rows" ]; then
    tap_ok "a line of CSV for each row"
else
    tap_not_ok "a line of CSV for each row" "$output
$(cat "$csv" "$csv.messages")"
fi
output=$(run --other /nonexistent.so)
if grep -q -- '--other' <<<"$output"; then tap_ok "no other library"; else tap_not_ok "no other library" "$output"; fi
output=$(run --release harmonize --other lib/.libs/libmpix_harmonize${LIBRARY_SUFFIX-}.so)
if [ ! -e lib/.libs/libmpix_harmonize${LIBRARY_SUFFIX-}.so ]; then
    tap_skip "the function of another library" "there is no shared library"
elif grep -q '^ *other ' <<<"$output"; then
    tap_ok "the function of another library"
else
    tap_not_ok "the function of another library" "$output"
fi
tap_done
