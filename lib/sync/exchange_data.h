/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange_data.h - the result of an exchange, for estimators that need no MPI. */
#ifndef MH_EXCHANGE_DATA_H
#define MH_EXCHANGE_DATA_H

#include <stdint.h>

/* One round trip: the client sent at sent_ns, the reference stamped remote_ns, the client received at received_ns. */
typedef struct mh_exchange {
    int64_t sent_ns;     /* client's local time */
    int64_t remote_ns;   /* reference's global time */
    int64_t received_ns; /* client's local time */
} mh_exchange;

#endif
