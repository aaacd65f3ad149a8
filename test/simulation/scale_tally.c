/* SPDX-License-Identifier: BSD-3-Clause */
/* scale_tally.c - collect errors and durations, and print the row. */
#include "scale_tally.h"

#include "scale_options.h"

#include "pure/units.h"
#include "pure/order_statistics.h"

/* A synchronization that takes longer waits for a lost host. */
#define LONGEST_NS (MH_NS_PER_S / 2)

static void note_error(tally_t *tally, int64_t error_ns)
{
    if ((tally->errors & (tally->errors - 1)) == 0) { /* the room is full; it doubles */
        tally->errors_ns =
            realloc(tally->errors_ns, (size_t)(tally->errors ? 2 * tally->errors : 1) * sizeof *tally->errors_ns);
        if (!tally->errors_ns)
            give_up("out of memory");
    }
    tally->errors_ns[tally->errors++] = error_ns;
    tally->squares += (double)error_ns * (double)error_ns;
}

void tally_reading(tally_t *tally, int64_t error_ns, int64_t bound_ns, int64_t path_ns)
{
    int64_t size_ns = llabs(error_ns);
    note_error(tally, size_ns);
    if (bound_ns == MH_TIME_UNKNOWN_NS) {
        tally->unknown_bounds++;
        return;
    }
    tally->bounds++;
    tally->sum_bounds_ns += (double)bound_ns;
    tally->old_bounds_ns += path_ns > 0 ? (double)bound_ns : 0;
    tally->old_paths_ns += (double)path_ns;
    tally->max_bound_ns = bound_ns > tally->max_bound_ns ? bound_ns : tally->max_bound_ns;
    tally->violations += size_ns > bound_ns;
}

static void note_duration(tally_t *tally, int64_t took_ns)
{
    if (tally->syncs++ == 0) {
        tally->first_ns = took_ns;
    } else if (took_ns > LONGEST_NS) {
        tally->lost_ns = took_ns;
    } else {
        tally->other_ns += took_ns;
        tally->others++;
    }
}

void tally_sync(tally_t *tally, const virtual_process *before, const virtual_process *after)
{
    int64_t messages = after->messages - before->messages;
    if (before->messages == 0)
        tally->first_messages += messages;
    else
        tally->later_messages += messages;
    tally->collectives += after->collectives - before->collectives;
    if (after->rank == 0)
        note_duration(tally, after->now_ns - before->now_ns);
}

static double per(double sum, int64_t count)
{
    return sum / (double)(count > 0 ? count : 1);
}

static void report_errors(const tally_t *tally)
{
    mh_sort(tally->errors_ns, tally->errors);
    printf(" readings=%ld error_rms=%.1f error_p50=%ld error_p99=%ld error_max=%ld", (long)tally->errors,
           sqrt(per(tally->squares, tally->errors)), (long)quantile(tally->errors_ns, tally->errors, 0.5),
           (long)quantile(tally->errors_ns, tally->errors, 0.99), (long)tally->errors_ns[tally->errors - 1]);
    if (tally->old_paths_ns > 0)
        printf(" bound_part=%.2f", tally->old_bounds_ns / tally->old_paths_ns);
    printf(" bound_mean=%.0f bound_max=%ld unknown=%ld violations=%ld", per(tally->sum_bounds_ns, tally->bounds),
           (long)tally->max_bound_ns, (long)tally->unknown_bounds, (long)tally->violations);
}

void tally_report(const tally_t *tally)
{
    printf(" first_us=%.0f later_us=%.1f lost_us=%.0f syncs=%ld", (double)tally->first_ns * 1e-3,
           per((double)tally->other_ns * 1e-3, tally->others), (double)tally->lost_ns * 1e-3, (long)tally->syncs);
    printf(" first_messages=%ld later_messages=%.0f collectives=%.0f", (long)tally->first_messages,
           per((double)tally->later_messages, tally->syncs - 1), per((double)tally->collectives, tally->syncs));
    if (tally->errors > 0)
        report_errors(tally);
}
