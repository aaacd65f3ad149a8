/* SPDX-License-Identifier: BSD-3-Clause */
/* burst.c - exchange timestamps with another rank, and bound the offset of its clock. */
#include "common/mpi/burst.h"

#include "common/mpi/machine_clock.h"

/* How often a rank looks whether a burst begins. What this costs falls on exchanges that are discarded. */
#define POLL_INTERVAL_NS 100000

enum { BURST_TAG = 1, NO_MORE = -1 };

static void send_number(const burst_t *burst, int peer, int64_t number)
{
    world_require(burst->world, MPI_Send(&number, 1, MPI_INT64_T, peer, BURST_TAG, burst->comm));
}

static int64_t receive_number(const burst_t *burst, int peer)
{
    int64_t number;
    world_require(burst->world, MPI_Recv(&number, 1, MPI_INT64_T, peer, BURST_TAG, burst->comm, MPI_STATUS_IGNORE));
    return number;
}

static int64_t read_clock(const burst_t *burst, int clock)
{
    return burst->global ? world_time_ns(burst->global) : machine_clock_ticks(clock);
}

static exchange_t exchange_once(const burst_t *burst, int peer, int clock)
{
    exchange_t exchange;
    exchange.sent_ticks = read_clock(burst, clock);
    send_number(burst, peer, clock);
    exchange.remote_ticks = receive_number(burst, peer);
    exchange.received_ticks = read_clock(burst, clock);
    exchange.at_ns = system_time_ns();
    return exchange;
}

void burst_measure(const burst_t *burst, int peer, exchange_t *exchanges)
{
    for (int i = 0; i < BURST_DISCARDED; i++)
        exchange_once(burst, peer, MACHINE_CLOCK_MONOTONIC);
    /* Clocks take turns, so whatever else happens during the burst meets all alike. */
    for (int64_t i = 0; i < burst->exchanges; i++) {
        exchange_t *place = &exchanges[i];
        for (int clock = 0; clock < MACHINE_CLOCKS; clock++) {
            if ((burst->clocks >> clock & 1) == 0)
                continue;
            *place = exchange_once(burst, peer, clock);
            place += burst->exchanges;
        }
    }
}

bool burst_serve(const burst_t *burst, int peer)
{
    int64_t exchanges = __builtin_popcountll((unsigned long long)burst->clocks) * burst->exchanges;
    for (int arrived = 0; !arrived;) {
        world_require(burst->world, MPI_Iprobe(peer, BURST_TAG, burst->comm, &arrived, MPI_STATUS_IGNORE));
        if (!arrived)
            system_sleep_ns(POLL_INTERVAL_NS);
    }
    for (int64_t i = -BURST_DISCARDED; i < exchanges; i++) {
        int clock = (int)receive_number(burst, peer);
        if (clock == NO_MORE)
            return false;
        send_number(burst, peer, read_clock(burst, clock));
    }
    return true;
}

void burst_end(const burst_t *burst, int peer)
{
    send_number(burst, peer, NO_MORE);
}

/* Ticks times their length would lose digits in a double. */
static int64_t to_ns(int64_t ticks, double tick_ns)
{
    return tick_ns == 1 ? ticks : (int64_t)((long double)ticks * (long double)tick_ns);
}

burst_window_t burst_window(const exchange_t *exchanges, int64_t count, double own_tick_ns, double peer_tick_ns)
{
    /* What is narrowed is the offset of the own clock. */
    mh_window own = mh_window_unknown();
    burst_window_t window = {mh_window_unknown(), 0, 0};
    for (const exchange_t *exchange = exchanges; exchange < exchanges + count; exchange++) {
        mh_window before = own;
        mh_window_narrow(&own, to_ns(exchange->sent_ticks, own_tick_ns), to_ns(exchange->remote_ticks, peer_tick_ns),
                         to_ns(exchange->received_ticks, own_tick_ns));
        if (own.min_ns > before.min_ns)
            window.max_at_ns = exchange->at_ns;
        if (own.max_ns < before.max_ns)
            window.min_at_ns = exchange->at_ns;
    }
    window.limits = (mh_window){-own.max_ns, -own.min_ns};
    return window;
}
