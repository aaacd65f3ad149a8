/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/exchange.h"

static int exchange_once(const mh_link *link, mh_exchange *exchange, mh_error *error)
{
    int64_t sent_ns = mh_base_clock_now_ns(link->clock);
    int code = mh_send(link->channel, &sent_ns, sizeof sent_ns, link->peer, MH_TAG_EXCHANGE, error);
    if (code == MPI_SUCCESS)
        code = mh_recv(link->channel, &exchange->remote_ns, sizeof exchange->remote_ns, link->peer, MH_TAG_EXCHANGE, error);
    exchange->received_ns = mh_base_clock_now_ns(link->clock);
    exchange->sent_ns = sent_ns;
    return code;
}

int mh_exchange_measure(const mh_link *link, mh_exchange *exchanges, int count, mh_error *error)
{
    for (int i = -MH_EXCHANGE_DISCARDED; i < count; i++) {
        int code = exchange_once(link, &exchanges[i < 0 ? 0 : i], error);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}

int mh_exchange_serve(const mh_link *link, const mh_model *model, int count, mh_error *error)
{
    for (int i = -MH_EXCHANGE_DISCARDED; i < count; i++) {
        int64_t sent_ns;
        int code = mh_recv(link->channel, &sent_ns, sizeof sent_ns, link->peer, MH_TAG_EXCHANGE, error);
        if (code != MPI_SUCCESS)
            return code;
        int64_t now_ns = mh_model_apply(model, mh_base_clock_now_ns(link->clock));
        code = mh_send(link->channel, &now_ns, sizeof now_ns, link->peer, MH_TAG_EXCHANGE, error);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}
