/* SPDX-License-Identifier: BSD-3-Clause */
/* topology_discover.h - where the processes of a communicator run, found with MPI and hwloc. */
#ifndef MH_TOPOLOGY_DISCOVER_H
#define MH_TOPOLOGY_DISCOVER_H

#include "transport/message.h"
#include "topology/topology.h"

/*
 * Fill places with one entry for each process of channel, in the order of ranks, and set oversubscribed if some node
 * has more of these processes than processors that they may use. Collective. Errors are the same on all processes,
 * unless MPI fails on some process only.
 */
int mh_topology_discover(const mh_channel *channel, mh_place *places, bool *oversubscribed, mh_error *error);

#endif
