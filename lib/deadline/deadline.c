/* SPDX-License-Identifier: BSD-3-Clause */
#include "deadline/deadline.h"

#include "base/statistics.h"
#include "base/units.h"
#include "clock/wait.h"

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
    deadline->report.slack_ns = INT64_MIN;
    mh_deadline_sync_at(deadline, INT64_MAX);
    deadline->stamp_margin_ns = MH_TIME_UNKNOWN_NS;
    mh_slack_init(&deadline->slack, 1, INT64_MAX);
}

void mh_deadline_configure(mh_deadline *deadline, const mh_deadline_settings *settings)
{
    if (deadline->rendezvous_choice != settings->rendezvous_choice || deadline->clocks_agree != settings->clocks_agree) {
        deadline->rehearsed = false;
        mh_slack_init(&deadline->slack, settings->slack_floor_ns, settings->slack_ceiling_ns);
    }
    deadline->rendezvous_choice = settings->rendezvous_choice;
    deadline->clocks_agree = settings->clocks_agree;
    deadline->tolerance_ns = settings->tolerance_ns;
    mh_slack_limit(&deadline->slack, settings->slack_floor_ns, settings->slack_ceiling_ns);
    mh_slack_aim(&deadline->slack, settings->least_met);
}

void mh_deadline_sync_at(mh_deadline *deadline, int64_t due_ns)
{
    deadline->decided_ns = INT64_MIN;
    deadline->report.sync_due_ns = deadline->channel->rank == 0 ? due_ns : INT64_MIN;
}

/* The order that the reports of all call for; the same on all who have them. given_ns: see mh_order. */
static mh_order decide(const mh_report *greatest, int64_t decision_ns, int64_t given_ns, mh_order_type done)
{
    mh_order_type wanted = MH_ORDER_RELEASE;
    if (greatest->request == MH_REQUEST_REFUSE)
        wanted = MH_ORDER_REFUSE;
    /* A report cannot arrive before it was sent. */
    else if (greatest->request == MH_REQUEST_RESTART || greatest->sent_ns > decision_ns)
        wanted = MH_ORDER_RESTART;
    else if (decision_ns >= greatest->sync_due_ns)
        wanted = MH_ORDER_SYNC;
    return (mh_order){(int32_t)(wanted > done ? wanted : MH_ORDER_RELEASE), (int32_t)greatest->rehearse,
                      decision_ns, given_ns, greatest->slack_ns};
}

/* Rank 0, after the order has been given: from the call before, whose needs have come with the reports. */
static void learn(mh_deadline *deadline, const mh_report *greatest, const mh_order *order)
{
    if (deadline->decided_ns != INT64_MIN)
        mh_slack_learn(&deadline->slack, greatest->need_ns, order->decision_ns - deadline->decided_ns - deadline->slack_ns);
    deadline->decided_ns = order->decision_ns;
}

void mh_deadline_trust_clock(mh_deadline *deadline, int64_t bound_ns)
{
    bool is_fixed = bound_ns != MH_TIME_UNKNOWN_NS;
    deadline->stamp_margin_ns = is_fixed ? bound_ns + deadline->tolerance_ns : MH_TIME_UNKNOWN_NS;
}

/*
 * When this process arrived. By the model, as a reading is never less than the one before and would hide a step of the
 * clock. The clock of rank 0 is what others are compared with, so it is right.
 */
static void stamp(mh_deadline *deadline, int64_t local_ns)
{
    mh_report *report = &deadline->report;
    mh_estimate estimate = mh_global_clock_estimate(deadline->clock);
    int64_t margin_ns = deadline->stamp_margin_ns;
    report->arrived_ns = mh_model_apply(&estimate.model, local_ns);
    if (deadline->channel->rank == 0)
        margin_ns = 0;
    else if (margin_ns == MH_TIME_UNKNOWN_NS)
        margin_ns = mh_estimate_bound(&estimate, local_ns);
    report->sent_ns = margin_ns == MH_TIME_UNKNOWN_NS ? INT64_MIN : report->arrived_ns - margin_ns;
}

/* Report, and come to an order; greatest: where this process learns it. */
static int meet(mh_deadline *deadline, int64_t local_ns, mh_order_type done, mh_report *greatest, mh_order *order,
                mh_error *error)
{
    bool informs_all = mh_rendezvous_informs_all(deadline->rendezvous);
    stamp(deadline, local_ns);
    int code = mh_rendezvous_report(deadline->rendezvous, &deadline->report, greatest, error);
    if (code != MPI_SUCCESS)
        return code;
    if (informs_all) {
        *order = decide(greatest, greatest->arrived_ns, greatest->sent_ns, done);
    } else if (deadline->channel->rank == 0) {
        mh_model model = mh_global_clock_estimate(deadline->clock).model;
        int64_t now_ns = mh_model_apply(&model, mh_base_clock_now_ns(&deadline->clock->base));
        *order = decide(greatest, now_ns, now_ns, done);
    }
    return mh_rendezvous_order(deadline->rendezvous, order, error);
}

int mh_deadline_meet(mh_deadline *deadline, int64_t local_ns, mh_request request, mh_order_type done, mh_order *order,
                     mh_error *error)
{
    mh_report greatest;
    bool learns = deadline->channel->rank == 0;
    deadline->report.request = request;
    if (learns)
        deadline->report.slack_ns = deadline->slack.slack_ns;
    int code = meet(deadline, local_ns, done, &greatest, order, error);
    if (code == MPI_SUCCESS && learns && order->type == MH_ORDER_RELEASE)
        learn(deadline, &greatest, order);
    return code;
}

static void note_need(mh_deadline *deadline, const mh_model *model, const mh_order *order, int64_t local_ns)
{
    deadline->report.need_ns = mh_model_apply(model, local_ns) - order->decision_ns;
}

/*
 * By how much the order arrived before it was given: more than the clocks may be apart is not possible. 0: it did not.
 */
static int64_t arrived_too_early_by(const mh_deadline *deadline, const mh_order *order, const mh_estimate *estimate,
                                    int64_t local_ns)
{
    int64_t now_ns = mh_model_apply(&estimate->model, local_ns);
    if (order->given_ns <= now_ns + deadline->tolerance_ns)
        return 0;
    int64_t bound_ns = mh_estimate_bound(estimate, local_ns), early_ns = order->given_ns - now_ns;
    return bound_ns == MH_TIME_UNKNOWN_NS || early_ns > deadline->tolerance_ns + bound_ns ? early_ns : 0;
}

static mh_exit miss(mh_deadline *deadline, int64_t lateness_ns, mh_exit left)
{
    deadline->misses++;
    deadline->lateness_ns = lateness_ns;
    return left;
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
    int64_t early_ns = arrived_too_early_by(deadline, order, &estimate, ready_ns);
    if (early_ns > 0)
        return miss(deadline, early_ns, MH_EXIT_DISRUPTED);
    bool yields = deadline->channel->yields || deadline->rendezvous->waited_long;
    int64_t left_ns = mh_wait_until(base, ready_ns, deadline_ns, yields);
    if (left_ns < deadline_ns)
        return miss(deadline, ready_ns - left_ns, MH_EXIT_DISRUPTED);
    deadline->lateness_ns = left_ns - deadline_ns;
    if (deadline->lateness_ns <= deadline->tolerance_ns)
        return MH_EXIT_IN_TIME;
    return miss(deadline, deadline->lateness_ns, MH_EXIT_LATE);
}

/* A round that is like a call but for the wait; rank 0 says whether another one follows. */
static int rehearse_once(mh_deadline *deadline, bool learns, mh_order *order, mh_error *error)
{
    mh_report greatest;
    int64_t before_ns = order->decision_ns, local_ns = mh_base_clock_now_ns(&deadline->clock->base);
    deadline->report.rehearse = deadline->channel->rank == 0 ? order->rehearse : INT64_MIN;
    int code = meet(deadline, local_ns, MH_ORDER_RELEASE, &greatest, order, error);
    if (code == MPI_SUCCESS && learns && deadline->channel->rank == 0)
        mh_slack_learn(&deadline->slack, greatest.need_ns, order->decision_ns - before_ns);
    mh_model model = mh_global_clock_estimate(deadline->clock).model;
    note_need(deadline, &model, order, mh_base_clock_now_ns(&deadline->clock->base));
    return code;
}

/* Rounds with the rendezvous in use; typical_ns, of use on rank 0: the median of the times that the warm ones took. */
static int rehearse_rounds(mh_deadline *deadline, bool learns, int64_t *typical_ns, mh_error *error)
{
    mh_order order = {.type = MH_ORDER_RELEASE, .rehearse = 1};
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

/* If clocks are not synchronised, the last arrival on one clock says nothing on another: a root has to decide. */
static bool is_allowed(const mh_deadline *deadline, int choice)
{
    bool has_meaning = deadline->clocks_agree || !mh_rendezvous_decides_alone(choice);
    return has_meaning && mh_rendezvous_is_available(deadline->rendezvous, choice);
}

/* If processes take turns on a processor, the latest arrival is long past before everyone has learned of it. */
static bool suits(const mh_deadline *deadline, int choice)
{
    return is_allowed(deadline, choice) && !(deadline->channel->yields && mh_rendezvous_decides_alone(choice));
}

/* Try each rendezvous that suits; rank 0 takes the quickest. */
static int find_quickest(mh_deadline *deadline, int *choice, mh_error *error)
{
    int64_t best_ns = INT64_MAX, took_ns;
    for (int i = CHOICE_AUTO + 1; mh_rendezvous_choice(i); i++) {
        if (!suits(deadline, i))
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

/* The one asked for, else the next in the list that suits; the last one always does. */
static int replace(const mh_deadline *deadline, int asked)
{
    int choice = asked;
    while (!(choice == asked ? is_allowed : suits)(deadline, choice))
        choice++;
    return choice;
}

static int choose_rendezvous(mh_deadline *deadline, mh_error *error)
{
    int asked = deadline->rendezvous_choice, choice = asked, code = MPI_SUCCESS;
    const char *reason = "the quickest here";
    if (asked == CHOICE_AUTO) {
        code = find_quickest(deadline, &choice, error);
    } else {
        choice = replace(deadline, asked);
        reason = choice == asked                                       ? "asked for"
                 : mh_rendezvous_is_available(deadline->rendezvous, asked) ? "the one asked for needs synchronized clocks"
                                                                           : "in place of the one asked for";
    }
    if (code == MPI_SUCCESS)
        mh_rendezvous_use(deadline->rendezvous, choice, reason);
    return code;
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
