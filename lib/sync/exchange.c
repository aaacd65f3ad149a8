/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.c - how many exchanges a burst has, and what contradictions between them mean. */
#include "sync/exchange.h"

#include "pure/window.h"
#include "transport/tags.h"

/*
 * A burst may end when the two shortest delays of each direction agree: the sum of both differences is at most this
 * part of the window. If delays vary at random, the difference of the shortest two is about as large as the error of
 * the shortest one.
 */
#define AGREEMENT 0.003

/* Fewer may agree by chance. */
enum { MIN_EXCHANGES = 5 };

/* The two shortest delays of a direction; they include the offset. */
typedef struct mh_min_two {
    int64_t first_ns, second_ns;
} mh_min_two;

static void note(mh_min_two *delays, int64_t delay_ns)
{
    if (delay_ns < delays->first_ns) {
        delays->second_ns = delays->first_ns;
        delays->first_ns = delay_ns;
    } else if (delay_ns < delays->second_ns) {
        delays->second_ns = delay_ns;
    }
}

static bool agree(const mh_min_two *there, const mh_min_two *back)
{
    int64_t apart_ns = there->second_ns - there->first_ns + back->second_ns - back->first_ns;
    return (double)apart_ns <= AGREEMENT * (double)(there->first_ns + back->first_ns);
}

/* The client's message only says whether more will follow. Both messages have the same length. */
static int exchange_once(const mh_link *link, int64_t is_last, mh_exchange *exchange, mh_error *error)
{
    exchange->sent_ns = mh_base_clock_now_ns(link->clock);
    int code = mh_send(link->channel, &is_last, sizeof is_last, link->peer, MH_TAG_EXCHANGE, error);
    if (code == MPI_SUCCESS)
        code = mh_recv(link->channel, &exchange->remote_ns, sizeof exchange->remote_ns, link->peer, MH_TAG_EXCHANGE,
                       error);
    exchange->received_ns = mh_base_clock_now_ns(link->clock);
    return code;
}

static bool is_inverted(const mh_min_two *there, const mh_min_two *back, const mh_burst *burst, const mh_link *link)
{
    mh_window window = {-there->first_ns, back->first_ns};
    int64_t span_ns = burst->exchanges[burst->count - 1].received_ns - burst->exchanges[0].sent_ns;
    return mh_window_is_inverted(window, burst->rate_limit, span_ns, link->clock->read_cost_ns);
}

/* A burst that starts again has at most this many times the maximum number of exchanges in total. */
enum { MAX_STARTS = 3 };

/* More than any, so clocks may be a century apart; the sum of two fits. */
static const mh_min_two no_delays = {INT64_MAX / 2, INT64_MAX / 2};

int mh_exchange_measure(const mh_link *link, mh_burst *burst, mh_error *error)
{
    mh_min_two there = no_delays, back = no_delays;
    int left = MAX_STARTS * burst->max, code = MPI_SUCCESS;
    burst->count = 0;
    burst->stepped = false;
    for (int i = 0; i < MH_EXCHANGE_DISCARDED && code == MPI_SUCCESS; i++)
        code = exchange_once(link, false, &burst->exchanges[0], error);
    for (bool is_last = false; !is_last && code == MPI_SUCCESS;) {
        mh_exchange *now = &burst->exchanges[burst->count++];
        bool suffices = burst->may_stop && burst->count >= MIN_EXCHANGES && agree(&there, &back);
        is_last = burst->count == burst->max || suffices || --left == 0;
        code = exchange_once(link, is_last, now, error);
        note(&there, now->remote_ns - now->sent_ns);
        note(&back, now->received_ns - now->remote_ns);
        if (is_inverted(&there, &back, burst, link)) {
            burst->stepped = true;
            burst->count = 0;
            there = back = no_delays;
        }
    }
    return code;
}

int mh_exchange_serve(const mh_link *link, const mh_model *model, mh_error *error)
{
    int64_t is_last = false;
    while (!is_last) {
        int code = mh_recv(link->channel, &is_last, sizeof is_last, link->peer, MH_TAG_EXCHANGE, error);
        if (code != MPI_SUCCESS)
            return code;
        int64_t now_ns = mh_model_apply(model, mh_base_clock_now_ns(link->clock));
        code = mh_send(link->channel, &now_ns, sizeof now_ns, link->peer, MH_TAG_EXCHANGE, error);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}
