/* SPDX-License-Identifier: BSD-3-Clause */
/* warm_up.h - let the connections of a new channel settle. */
#ifndef MH_WARM_UP_H
#define MH_WARM_UP_H

#include "transport/message.h"

enum { MH_WARM_UP_MAX_NEIGHBORS = 32 }; /* in a binomial tree of as many processes as an int counts */

/*
 * Exchange messages with the processes that this one will talk to, both ways, while all sleep. Collective over
 * processes that name each other; takes about a millisecond.
 *
 * Until that has happened to a process, a helper thread of the MPI library may watch its connections, and is then woken
 * by each message (UCX over TCP does this): one direction of a pair, or both, takes microseconds longer for as long as
 * the process happens to poll whenever a message arrives.
 */
int mh_warm_up(const mh_channel *channel, const int *neighbors, int count, mh_error *error);

#endif
