/* SPDX-License-Identifier: BSD-3-Clause */
/* arrival_figures.c - what calls with imposed arrivals took, and how close to what was asked ranks arrived. */
#include "suite/arrival.h"

#include "common/room.h"
#include "common/statistics.h"

#include <math.h>
#include <stdlib.h>

#define ERROR_TAIL 0.99

/* One value for each valid sample. */
typedef struct spans {
    int64_t *from_first_ns;
    int64_t *from_last_ns;
    int64_t *in_call_ns; /* the sum of the ranks' */
    int64_t *errors_ns;  /* one for each rank */
    int64_t count;
} spans_t;

static void take_call(spans_t *spans, const sample_set_t *set, const int64_t *targets_ns, int64_t call)
{
    const call_times_t *times = &set->times[call * set->ranks];
    int64_t first_ns = times[0].start_ns, last_ns = first_ns, exit_ns = times[0].end_ns, in_call_ns = 0;
    for (int rank = 0; rank < set->ranks; rank++) {
        int64_t start_ns = times[rank].start_ns, end_ns = times[rank].end_ns;
        first_ns = start_ns < first_ns ? start_ns : first_ns;
        last_ns = start_ns > last_ns ? start_ns : last_ns;
        exit_ns = end_ns > exit_ns ? end_ns : exit_ns;
        in_call_ns += end_ns - start_ns;
        spans->errors_ns[spans->count * set->ranks + rank] = llabs(start_ns - targets_ns[call * set->ranks + rank]);
    }
    spans->from_first_ns[spans->count] = exit_ns - first_ns;
    spans->from_last_ns[spans->count] = exit_ns - last_ns;
    spans->in_call_ns[spans->count] = in_call_ns;
    spans->count++;
}

/* Of an even number the mean of the middle two, as analyse has it. */
static double middle_of(int64_t *values, int64_t count)
{
    sort_ascending(values, count);
    int64_t low = values[(count - 1) / 2], high = values[count / 2];
    return ((double)low + (double)high) / 2;
}

bool arrival_analyse(const sample_set_t *set, const int64_t *targets_ns, arrival_figures_t *figures)
{
    spans_t spans = {.from_first_ns = malloc(room_bytes(set->calls + 1, (3 + (size_t)set->ranks) * sizeof(int64_t)))};
    *figures = (arrival_figures_t){.robustness = NAN, .bound_ns = NAN};
    if (spans.from_first_ns == NULL)
        return false;
    spans.from_last_ns = spans.from_first_ns + set->calls;
    spans.in_call_ns = spans.from_last_ns + set->calls;
    spans.errors_ns = spans.in_call_ns + set->calls;
    for (int64_t call = 0; call < set->calls; call++)
        if (analyse_mark(set, call) == MARK_VALID)
            take_call(&spans, set, targets_ns, call);
    if (spans.count > 0) {
        figures->measured = true;
        figures->from_first_ns = middle_of(spans.from_first_ns, spans.count);
        figures->from_last_ns = middle_of(spans.from_last_ns, spans.count);
        figures->in_call_ns = middle_of(spans.in_call_ns, spans.count) / set->ranks;
        sort_ascending(spans.errors_ns, spans.count * set->ranks);
        figures->error_ns = quantile(spans.errors_ns, spans.count * set->ranks, 0.5);
        figures->error_p99_ns = quantile(spans.errors_ns, spans.count * set->ranks, ERROR_TAIL);
    }
    free(spans.from_first_ns);
    return true;
}
