#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What mpix_trace_report takes of traces of 64 ranks: events, seconds of a processor, and MiB of memory, as a row of a
# table for each.
#
# Usage, in the build directory: run_report_cost.sh [CALLS]... (default 80 500 5000 50000, of which the last one takes
# 6 GiB of memory, and 2 GB in TMPDIR). In each of these calls, a rank has about 20 events.
. "$(dirname "$0")/../../../test/performance/launches.sh"

[ $# -gt 0 ] || set -- 80 500 5000 50000
for calls; do
    ./trace/test/check_trace_report "$scratch/trace" 64 "$calls" || exit 1
    bytes=$(cat "$scratch"/trace/* | wc -c)
    python3 - "$bytes" ./bin/mpix_trace_report "$scratch/trace" <<'END' || exit 1
import os
import subprocess
import sys
child = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
if status != 0:
    sys.exit(1)
event_bytes, took_s = 32, usage.ru_utime + usage.ru_stime
print(f"| {int(sys.argv[1]) / event_bytes / 1e6:.3g} million | {took_s:.2f} | {usage.ru_maxrss / 1024:.0f} |")
END
    rm -rf "$scratch/trace"
done
