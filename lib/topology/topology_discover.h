/* SPDX-License-Identifier: BSD-3-Clause */
/* topology_discover.h - where the processes of a communicator run, found with MPI and hwloc. */
#ifndef MH_TOPOLOGY_DISCOVER_H
#define MH_TOPOLOGY_DISCOVER_H

#include "transport/message.h"
#include "pure/topology.h"

/*
 * Find out where the processes of channel run, and set oversubscribed if some node has more of them than processors
 * that they may use. Collective. sites is to be freed by mh_sites_free, after errors too. Errors are the same on all
 * processes, unless MPI fails on some process only.
 *
 * Memory: a list of the processes of the node; on the first process of each node, and while this function runs on few
 * others, one of such processes too.
 */
int mh_topology_discover(const mh_channel *channel, mh_sites *sites, bool *oversubscribed, mh_error *error);

#endif
