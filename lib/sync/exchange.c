/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/exchange.h"

/* A burst may end when so many exchanges in a row have together narrowed the window by less than this part. */
enum { IDLE_EXCHANGES = 4 };
#define USEFUL_PART 0.01

/* What the client sends: when, and whether the reference can expect more. */
typedef struct probe {
    int64_t sent_ns;
    int64_t is_last;
} probe;

/* How narrow the window has become, and when it last became much narrower. */
typedef struct progress {
    int64_t least_ns, most_ns;
    int64_t width_ns; /* at the last useful exchange */
    int idle;         /* exchanges since */
} progress;

static void note_progress(progress *so_far, const mh_exchange *exchange)
{
    int64_t least_ns = exchange->sent_ns - exchange->remote_ns, most_ns = exchange->received_ns - exchange->remote_ns;
    if (least_ns > so_far->least_ns)
        so_far->least_ns = least_ns;
    if (most_ns < so_far->most_ns)
        so_far->most_ns = most_ns;
    int64_t width_ns = so_far->most_ns - so_far->least_ns;
    so_far->idle++;
    if ((double)width_ns < (1 - USEFUL_PART) * (double)so_far->width_ns) {
        so_far->width_ns = width_ns;
        so_far->idle = 0;
    }
}

static int exchange_once(const mh_link *link, bool is_last, mh_exchange *exchange, mh_error *error)
{
    probe sent = {mh_base_clock_now_ns(link->clock), is_last};
    int code = mh_send(link->channel, &sent, sizeof sent, link->peer, MH_TAG_EXCHANGE, error);
    if (code == MPI_SUCCESS)
        code = mh_recv(link->channel, &exchange->remote_ns, sizeof exchange->remote_ns, link->peer, MH_TAG_EXCHANGE, error);
    exchange->received_ns = mh_base_clock_now_ns(link->clock);
    exchange->sent_ns = sent.sent_ns;
    return code;
}

int mh_exchange_measure(const mh_link *link, mh_exchange *exchanges, int *count, bool may_stop, mh_error *error)
{
    progress so_far = {INT64_MIN / 4, INT64_MAX / 4, INT64_MAX, 0};
    int most = *count, made = 0, code = MPI_SUCCESS;
    for (int i = 0; i < MH_EXCHANGE_DISCARDED && code == MPI_SUCCESS; i++)
        code = exchange_once(link, false, &exchanges[0], error);
    for (bool is_last = false; !is_last && code == MPI_SUCCESS; made++) {
        is_last = made + 1 == most || (may_stop && so_far.idle >= IDLE_EXCHANGES - 1);
        code = exchange_once(link, is_last, &exchanges[made], error);
        note_progress(&so_far, &exchanges[made]);
    }
    *count = made;
    return code;
}

int mh_exchange_serve(const mh_link *link, const mh_model *model, mh_error *error)
{
    probe received = {0, false};
    while (!received.is_last) {
        int code = mh_recv(link->channel, &received, sizeof received, link->peer, MH_TAG_EXCHANGE, error);
        if (code != MPI_SUCCESS)
            return code;
        int64_t now_ns = mh_model_apply(model, mh_base_clock_now_ns(link->clock));
        code = mh_send(link->channel, &now_ns, sizeof now_ns, link->peer, MH_TAG_EXCHANGE, error);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}
