/* SPDX-License-Identifier: BSD-3-Clause */
#include "deadline/deadline.h"

#include "base/statistics.h"
#include "base/units.h"
#include "deadline/wait.h"

#include <string.h>

enum {
    REHEARSALS_COLD = 4,                  /* first rounds, not learnt from */
    REHEARSALS_MOST = 40,
    REHEARSALS_TIME_NS = 20 * 1000 * 1000 /* no further rehearsal after this, where rounds are slow */
};

enum { CHOICE_AUTO = 0 };

void mh_deadline_init(mh_deadline *deadline, const mh_channel *channel, mh_global_clock *clock, mh_rendezvous *rendezvous)
{
    memset(deadline, 0, sizeof *deadline);
    deadline->channel = channel;
    deadline->clock = clock;
    deadline->rendezvous = rendezvous;
    deadline->decided_ns = INT64_MIN;
    deadline->sync_due_ns = INT64_MAX;
    mh_slack_init(&deadline->slack, 1, INT64_MAX);
}

void mh_deadline_configure(mh_deadline *deadline, const mh_deadline_settings *settings)
{
    if (deadline->rendezvous_choice != settings->rendezvous_choice)
        deadline->rehearsed = false;
    deadline->rendezvous_choice = settings->rendezvous_choice;
    deadline->tolerance_ns = settings->tolerance_ns;
    mh_slack_limit(&deadline->slack, settings->slack_floor_ns, settings->slack_ceiling_ns);
    mh_slack_aim(&deadline->slack, settings->least_met);
}

void mh_deadline_sync_at(mh_deadline *deadline, int64_t due_ns)
{
    deadline->decided_ns = INT64_MIN;
    deadline->sync_due_ns = due_ns;
}

static mh_order_type order_for(const mh_deadline *deadline, const mh_report *greatest, int64_t now_ns)
{
    int64_t request = greatest->request;
    if (request == MH_REQUEST_REFUSE)
        return MH_ORDER_REFUSE;
    /* A report cannot arrive before it was sent. */
    if (request == MH_REQUEST_RESTART || greatest->sent_ns > now_ns)
        return MH_ORDER_RESTART;
    return now_ns >= deadline->sync_due_ns ? MH_ORDER_SYNC : MH_ORDER_RELEASE;
}

/* Rank 0: the order that the reports of all call for. */
static mh_order decide(const mh_deadline *deadline, const mh_report *greatest)
{
    int64_t now_ns = mh_global_clock_now_ns(deadline->clock);
    return (mh_order){order_for(deadline, greatest, now_ns), 0, now_ns, deadline->slack.slack_ns};
}

/* Rank 0, while the order is on its way: from the call before, whose needs have come with the reports. */
static void learn(mh_deadline *deadline, const mh_report *greatest, const mh_order *order)
{
    if (deadline->decided_ns != INT64_MIN)
        mh_slack_learn(&deadline->slack, greatest->need_ns, order->decision_ns - deadline->decided_ns - deadline->slack_ns);
    deadline->decided_ns = order->decision_ns;
}

static int64_t earliest_time(mh_global_clock *clock)
{
    mh_reading now = mh_global_clock_read(clock);
    return now.bound_ns == MH_TIME_UNKNOWN_NS ? INT64_MIN : now.time_ns - now.bound_ns;
}

int mh_deadline_meet(mh_deadline *deadline, mh_request request, mh_order *order, mh_error *error)
{
    mh_report greatest;
    deadline->report.request = request;
    deadline->report.sent_ns = deadline->stamps ? earliest_time(deadline->clock) : INT64_MIN;
    int code = mh_rendezvous_report(deadline->rendezvous, &deadline->report, &greatest, error);
    if (code != MPI_SUCCESS)
        return code;
    bool decides = deadline->channel->rank == 0;
    if (decides)
        *order = decide(deadline, &greatest);
    code = mh_rendezvous_order(deadline->rendezvous, order, error);
    if (decides && order->type == MH_ORDER_RELEASE)
        learn(deadline, &greatest, order);
    return code;
}

static void note_need(mh_deadline *deadline, const mh_model *model, const mh_order *order, int64_t local_ns)
{
    deadline->report.need_ns = mh_model_apply(model, local_ns) - order->decision_ns;
}

/* An order cannot arrive before it was given, save for what the clocks may be apart. */
static bool arrived_before_it_was_given(const mh_deadline *deadline, const mh_estimate *estimate, int64_t local_ns)
{
    if (deadline->report.need_ns >= -deadline->tolerance_ns)
        return false;
    int64_t bound_ns = mh_estimate_bound(estimate, local_ns);
    return bound_ns == MH_TIME_UNKNOWN_NS || deadline->report.need_ns < -deadline->tolerance_ns - bound_ns;
}

mh_exit mh_deadline_wait(mh_deadline *deadline, const mh_order *order)
{
    const mh_base_clock *base = &deadline->clock->base;
    mh_estimate estimate = mh_global_clock_estimate(deadline->clock);
    int64_t deadline_ns = mh_model_invert(&estimate.model, order->decision_ns + order->slack_ns);
    int64_t ready_ns = mh_base_clock_now_ns(base);
    note_need(deadline, &estimate.model, order, ready_ns);
    deadline->slack_ns = order->slack_ns;
    deadline->calls++;
    if (arrived_before_it_was_given(deadline, &estimate, ready_ns)) {
        deadline->misses++;
        deadline->report.lateness_ns = -deadline->report.need_ns; /* by which the clock is wrong at least */
        return MH_EXIT_DISRUPTED;
    }
    int64_t lateness_ns = mh_wait_until(base, deadline_ns, deadline->channel->yields) - deadline_ns;
    deadline->report.lateness_ns = lateness_ns;
    if (lateness_ns <= deadline->tolerance_ns)
        return MH_EXIT_IN_TIME;
    deadline->misses++;
    return MH_EXIT_LATE;
}

/* A round that is like a call but for the wait; rank 0 says whether another one follows. */
static int rehearse_once(mh_deadline *deadline, bool learns, mh_order *order, mh_error *error)
{
    mh_report greatest;
    int code = mh_rendezvous_report(deadline->rendezvous, &deadline->report, &greatest, error);
    if (code != MPI_SUCCESS)
        return code;
    if (deadline->channel->rank == 0) {
        int64_t now_ns = mh_global_clock_now_ns(deadline->clock);
        if (learns)
            mh_slack_learn(&deadline->slack, greatest.need_ns, now_ns - order->decision_ns);
        order->decision_ns = now_ns;
    }
    code = mh_rendezvous_order(deadline->rendezvous, order, error);
    mh_model model = mh_global_clock_estimate(deadline->clock).model;
    note_need(deadline, &model, order, mh_base_clock_now_ns(&deadline->clock->base));
    return code;
}

/* Rounds with the rendezvous in use; typical_ns, of use on rank 0: the median of the times that the warm ones took. */
static int rehearse_rounds(mh_deadline *deadline, bool learns, int64_t *typical_ns, mh_error *error)
{
    mh_order order = {MH_ORDER_RELEASE, 1, 0, 0};
    int64_t first_ns = mh_base_clock_now_ns(&deadline->clock->base), took_ns[REHEARSALS_MOST + 1];
    int warm = 0;
    for (int i = 0; order.rehearse; i++) {
        int64_t began_ns = mh_base_clock_now_ns(&deadline->clock->base), spent_ns = began_ns - first_ns;
        order.rehearse = i < REHEARSALS_MOST && (i <= REHEARSALS_COLD || spent_ns < REHEARSALS_TIME_NS);
        int code = rehearse_once(deadline, learns && i > REHEARSALS_COLD, &order, error);
        if (code != MPI_SUCCESS)
            return code;
        if (i > REHEARSALS_COLD)
            took_ns[warm++] = mh_base_clock_now_ns(&deadline->clock->base) - began_ns;
    }
    *typical_ns = mh_median(took_ns, warm);
    return MPI_SUCCESS;
}

/* Try each rendezvous; rank 0 takes the quickest. */
static int find_quickest(mh_deadline *deadline, int *choice, mh_error *error)
{
    int64_t best_ns = INT64_MAX, took_ns;
    for (int i = CHOICE_AUTO + 1; mh_rendezvous_choice(i); i++) {
        if (!mh_rendezvous_is_available(deadline->rendezvous, i))
            continue;
        mh_rendezvous_use(deadline->rendezvous, i, "");
        int code = rehearse_rounds(deadline, false, &took_ns, error);
        if (code != MPI_SUCCESS)
            return code;
        if (took_ns < best_ns) {
            best_ns = took_ns;
            *choice = i;
        }
    }
    return mh_bcast(deadline->channel, choice, sizeof *choice, 0, error);
}

static int choose_rendezvous(mh_deadline *deadline, mh_error *error)
{
    int choice = deadline->rendezvous_choice, code = MPI_SUCCESS;
    bool automatic = choice == CHOICE_AUTO;
    if (automatic)
        code = find_quickest(deadline, &choice, error);
    if (code != MPI_SUCCESS)
        return code;
    bool possible = mh_rendezvous_is_available(deadline->rendezvous, choice);
    mh_rendezvous_use(deadline->rendezvous, choice,
                      automatic ? "the quickest here" : possible ? "asked for" : "in place of the one asked for");
    return MPI_SUCCESS;
}

int mh_deadline_rehearse(mh_deadline *deadline, mh_error *error)
{
    int64_t unused_ns;
    if (deadline->rehearsed)
        return MPI_SUCCESS;
    int code = choose_rendezvous(deadline, error);
    if (code == MPI_SUCCESS)
        code = rehearse_rounds(deadline, true, &unused_ns, error);
    deadline->rehearsed = code == MPI_SUCCESS;
    return code;
}
