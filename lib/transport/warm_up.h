/* SPDX-License-Identifier: BSD-3-Clause */
/* warm_up.h - use the connections of a new channel until they have their usual speed. */
#ifndef MH_WARM_UP_H
#define MH_WARM_UP_H

#include "transport/message.h"

enum { MH_WARM_UP_MAX_NEIGHBORS = 40 }; /* in a binomial tree of as many processes as an int counts, and some more */

/*
 * Exchange messages with the processes that this one will talk to, both ways, while all sleep. Collective over
 * processes that name each other; takes about a millisecond.
 *
 * Before that, a helper thread of the MPI library may watch the connections of a process (UCX over TCP does this). Each
 * message then wakes the thread, which makes one direction of a pair, or both, slower by microseconds. This lasts until
 * a message arrives while the process is not polling.
 */
int mh_warm_up(const mh_channel *channel, const int *neighbors, int count, mh_error *error);

#endif
