/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/exchange.h"

/*
 * A burst may end when the two least delays of each direction agree: when the differences are together less than this
 * part of the window. Where delays vary at random, the difference of the least two is about as great as the error of
 * the least.
 */
#define AGREEMENT 0.003

/* Fewer may agree by chance. */
enum { LEAST_EXCHANGES = 5 };

/* The least two delays of a direction; they contain the offset. */
typedef struct least_two {
    int64_t first_ns, second_ns;
} least_two;

static void note(least_two *delays, int64_t delay_ns)
{
    if (delay_ns < delays->first_ns) {
        delays->second_ns = delays->first_ns;
        delays->first_ns = delay_ns;
    } else if (delay_ns < delays->second_ns) {
        delays->second_ns = delay_ns;
    }
}

static bool agree(const least_two *there, const least_two *back)
{
    int64_t apart_ns = there->second_ns - there->first_ns + back->second_ns - back->first_ns;
    return (double)apart_ns <= AGREEMENT * (double)(there->first_ns + back->first_ns);
}

/* The client only says whether the reference can expect more, in as many bytes as come back. */
static int exchange_once(const mh_link *link, int64_t is_last, mh_exchange *exchange, mh_error *error)
{
    exchange->sent_ns = mh_base_clock_now_ns(link->clock);
    int code = mh_send(link->channel, &is_last, sizeof is_last, link->peer, MH_TAG_EXCHANGE, error);
    if (code == MPI_SUCCESS)
        code = mh_recv(link->channel, &exchange->remote_ns, sizeof exchange->remote_ns, link->peer, MH_TAG_EXCHANGE, error);
    exchange->received_ns = mh_base_clock_now_ns(link->clock);
    return code;
}

int mh_exchange_measure(const mh_link *link, mh_exchange *exchanges, int *count, bool may_stop, mh_error *error)
{
    least_two there = {INT64_MAX / 4, INT64_MAX / 4}, back = there;
    int most = *count, made = 0, code = MPI_SUCCESS;
    for (int i = 0; i < MH_EXCHANGE_DISCARDED && code == MPI_SUCCESS; i++)
        code = exchange_once(link, false, &exchanges[0], error);
    for (bool is_last = false; !is_last && code == MPI_SUCCESS; made++) {
        mh_exchange *now = &exchanges[made];
        is_last = made + 1 == most || (may_stop && made + 1 >= LEAST_EXCHANGES && agree(&there, &back));
        code = exchange_once(link, is_last, now, error);
        note(&there, now->remote_ns - now->sent_ns);
        note(&back, now->received_ns - now->remote_ns);
    }
    *count = made;
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
