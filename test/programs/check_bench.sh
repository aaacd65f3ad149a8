#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Whether the programs of the performance record run and print what they should; no figure is judged.
set -u

source_dir=$(cd "$(dirname "$0")" && pwd)
. "$source_dir/../tap.sh"
case $(basename "${MPIEXEC:-mpiexec}") in
smpirun) echo "1..0 # SKIP the simulator has no time of its own"; exit 0 ;;
esac
json=$(mktemp) || exit 1
trap 'rm -f "$json"' EXIT

# shellcheck disable=SC2086
run() { timeout 60 "${MPIEXEC:-mpiexec}" ${MPIEXEC_FLAGS-} -n 2 ./test/performance/compare_barriers --calls 50 --repeats 2 "$@" 2>&1 </dev/null; }

output=$(run --json "$json")
for subject in MPI_Barrier tree collective; do
    if grep -q "^ *$subject " <<<"$output"; then tap_ok "a row for $subject"; else tap_not_ok "a row for $subject" "$output"; fi
done
rows=$(grep -c '^ *[a-zA-Z]' <<<"$output")
if [ "$(grep -c '^{"case"' "$json")" -eq "$rows" ]; then
    tap_ok "a line of JSON for each row"
else
    tap_not_ok "a line of JSON for each row" "$output
$(cat "$json")"
fi
output=$(run --other /nonexistent.so)
if grep -q -- '--other' <<<"$output"; then tap_ok "no other library"; else tap_not_ok "no other library" "$output"; fi
tap_done
