#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What the programs do where there is no room for more than a stream (check_conduct.sh has those): they say so, name the
# file, and fail. And how programs end after a bad option.
#
# Environment: CC  compiles what is preloaded (default: mpicc)
. "$(dirname "$0")/../../test/programs/run.sh"

# ---- No room

# What is measured after an output was lost, is lost too: no call of 2 operations, in turns or one after the other.
check_early_end() {
    printf 'bcast\nreduce\nreduce --comm every:1\n' >"$scratch/jobs"
    run alone mpix_bench --jobs "$scratch/jobs" -m 8:64 -i 3 -x 0 --output /dev/full --raw "$scratch/calls"
    expect_lost /dev/full
    [ "$(grep -vc "^#" "$scratch/calls")" -eq 1 ] || complain "measures though the results are lost"
}

[ ! -c /dev/full ] || quick tap_check "mpix_bench: no measurement after a device is full" check_early_end

# Folders, and what other libraries write. OTF2 may be missing.
check_traces_on_disk() {
    local words
    "$build/trace/test/check_trace_report" "$scratch/trace" 4 40
    "$programs/mpix_trace_convert" --format otf2 "$scratch/trace" >/dev/null 2>&1
    while read -r -a words; do
        [ ${#words[@]} -gt 0 ] || continue
        on_full_disk "$programs/${words[0]}" "${words[@]:1}" "$scratch/disk/traced" "$scratch/trace"
        expect_lost "$scratch/disk/traced"
    done <<END
mpix_trace_check --corrected
$([ "$formats" = csv ] || echo mpix_trace_convert --format perfetto --output)
$([ ! -e "$scratch/trace.otf2" ] || echo mpix_trace_convert --format otf2 --output)
END
}

if on_full_disk true && [ "$status" -eq 0 ]; then
    quick tap_check "mpix_trace_...: a disk that is full" check_traces_on_disk
else
    tap_skip "a disk that is full" "it takes a user namespace, which is not allowed here"
fi

# ---- After a bad option

# In MPI_Finalize of each process, says whether its last call before was a barrier. Freed communicators do not count.
cat >"$scratch/end.c" <<'END'
#include <mpi.h>
#include <stdio.h>

static int has_met;

int MPI_Barrier(MPI_Comm comm)
{
    has_met = 1;
    return PMPI_Barrier(comm);
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    has_met = 0;
    return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Finalize(void)
{
    fprintf(stderr, "end: %s\n", has_met ? "met" : "alone");
    return PMPI_Finalize();
}
END

check_end() {       # PROGRAM
    export LD_PRELOAD=$scratch/end.so
    run 2 "$1" --no-such-option
    unset LD_PRELOAD
    expect_status 2
    [ "$(grep -c '^end: met' "$scratch/err")" -eq 2 ] || complain "processes do not meet before they finalize"
}

if ${CC:-mpicc} -shared -fPIC -o "$scratch/end.so" "$scratch/end.c" >"$scratch/log" 2>&1; then
    quick tap_check "processes meet before they finalize after a bad option" check_end mpix_bench
else
    tap_skip "processes meet before they finalize after a bad option" "nothing can be compiled to be preloaded"
fi
tap_done
