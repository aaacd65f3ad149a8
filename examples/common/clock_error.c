/* SPDX-License-Identifier: BSD-3-Clause */
#include "clock_error.h"

#include "burst.h"

#include <math.h>
#include <stdlib.h>

/* The rates of two clocks differ by this at most, as the library supposes, too. */
#define MAX_DRIFT 500e-6

/* Of so many pairs of readings, the one least disturbed is kept. */
enum { PAIR_READINGS = 8 };

enum { TAG_PROBE = 1, TAG_REPLY, TAG_RESULT };

/* What a rank tells rank 0 in the end. */
typedef struct result {
    int64_t bound_ns;
    clock_pair_t pair;
} result_t;
enum { RESULT_NUMBERS = sizeof(result_t) / sizeof(int64_t) };

static int64_t global_time(const clock_meter_t *meter, int64_t *bound_ns)
{
    int64_t time_ns;
    world_require(meter->world, MPIX_Global_time_ns(meter->world->comm, &time_ns, bound_ns), "MPIX_Global_time_ns");
    return time_ns;
}

static void send(const clock_meter_t *meter, const void *numbers, int count, int rank, int tag)
{
    world_require(meter->world, MPI_Send(numbers, count, MPI_INT64_T, rank, tag, meter->comm), "MPI_Send");
}

static void receive(const clock_meter_t *meter, void *numbers, int count, int rank, int tag)
{
    world_require(meter->world, MPI_Recv(numbers, count, MPI_INT64_T, rank, tag, meter->comm, MPI_STATUS_IGNORE),
                  "MPI_Recv");
}

static clock_pair_t read_pair(const clock_meter_t *meter)
{
    clock_pair_t best = {0, -1, 0};
    for (int i = 0; i < PAIR_READINGS && meter->shared != NULL; i++) {
        int64_t before_ticks = exit_clock_ticks(meter->shared);
        int64_t bound_ns;
        int64_t now_ns = global_time(meter, &bound_ns);
        int64_t width_ticks = exit_clock_ticks(meter->shared) - before_ticks;
        if (best.width_ticks < 0 || width_ticks < best.width_ticks)
            best = (clock_pair_t){before_ticks + width_ticks / 2, width_ticks, now_ns};
    }
    return best;
}

void clock_error_answer(const clock_meter_t *meter)
{
    result_t result = {0};
    for (int64_t i = -BURST_DISCARDED; i < meter->exchanges; i++) {
        receive(meter, NULL, 0, 0, TAG_PROBE);
        int64_t now_ns = global_time(meter, &result.bound_ns);
        send(meter, &now_ns, 1, 0, TAG_REPLY);
    }
    result.pair = read_pair(meter);
    send(meter, &result, RESULT_NUMBERS, 0, TAG_RESULT);
}

/* What two clocks may drift apart in this time. */
static int64_t max_drift_ns(int64_t time_ns)
{
    return (int64_t)ceil(MAX_DRIFT * (double)llabs(time_ns));
}

void clock_error_ask(const clock_meter_t *meter, int rank, clock_error_t *error)
{
    offset_window_t window = offset_window_unknown();
    int64_t bound_ns = 0;
    for (int64_t i = -BURST_DISCARDED; i < meter->exchanges; i++) {
        int64_t sent_ns = global_time(meter, &bound_ns), remote_ns;
        send(meter, NULL, 0, rank, TAG_PROBE);
        receive(meter, &remote_ns, 1, rank, TAG_REPLY);
        if (i >= 0)
            offset_window_narrow(&window, sent_ns, remote_ns, global_time(meter, &bound_ns), remote_ns);
    }
    error->rank_0 = read_pair(meter);
    result_t result;
    receive(meter, &result, RESULT_NUMBERS, rank, TAG_RESULT);
    error->rank = result.pair;
    error->error_ns = offset_window_middle_ns(&window);
    error->half_width_ns = offset_window_half_width_ns(&window) + max_drift_ns(window.max_at_ns - window.min_at_ns);
    error->bound_ns = bound_ns < INT64_MAX - result.bound_ns ? bound_ns + result.bound_ns : INT64_MAX;
}

double clock_error_true_ns(const clock_error_t *error, double tick_ns)
{
    return (double)(error->rank.global_ns - error->rank_0.global_ns) -
           (double)(error->rank.ticks - error->rank_0.ticks) * tick_ns;
}

double clock_error_true_half_width_ns(const clock_error_t *error, double tick_ns)
{
    double widths_ns = (double)(error->rank.width_ticks + error->rank_0.width_ticks) * tick_ns;
    double apart_ns = (double)(error->rank.ticks - error->rank_0.ticks) * tick_ns;
    return widths_ns / 2 + fabs(apart_ns) * MAX_DRIFT;
}

bool clock_error_violates_bound(const clock_error_t *error, double tick_ns)
{
    if (error->bound_ns == INT64_MAX)
        return false;
    if (llabs(error->error_ns) - error->half_width_ns > error->bound_ns)
        return true;
    return error->rank.width_ticks >= 0 &&
           fabs(clock_error_true_ns(error, tick_ns)) - clock_error_true_half_width_ns(error, tick_ns) >
               (double)error->bound_ns;
}
