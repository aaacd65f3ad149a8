/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rendezvous_dissemination.c - all learn of all: in step k, each process tells the one 2^k ranks further what it knows,
 * and after ceil(log2 p) steps everybody has the greatest of all reports. Through shared memory where all share a node,
 * else by messages.
 *
 * Half as many steps as to a root and back: each process gives itself the order that follows from the greatest report,
 * and the deadline is a slack after the last arrival. A tree, whose root decides when it has all reports, is the better
 * one where steps take very different times, as the slack then only has to last for the way back.
 */
#include "deadline/rendezvous_private.h"
#include "deadline/slots.h"

static int swap_through_slots(mh_rendezvous *rendezvous, int step, int from, mh_report *greatest, mh_error *error)
{
    mh_report_line *theirs = mh_slots_step(rendezvous, from, step);
    mh_slots_report(rendezvous, mh_slots_step(rendezvous, rendezvous->node_index, step), greatest);
    int code = mh_slots_await(rendezvous, &theirs->round, error);
    if (code == MPI_SUCCESS)
        mh_report_combine(greatest, &theirs->report);
    return code;
}

static int swap_by_messages(const mh_channel *channel, int to, int from, mh_report *greatest, mh_error *error)
{
    mh_report theirs;
    int code = mh_sendrecv(channel, greatest, &theirs, sizeof theirs, to, from, MH_TAG_MEETING, error);
    if (code == MPI_SUCCESS)
        mh_report_combine(greatest, &theirs);
    return code;
}

static int report(mh_rendezvous *rendezvous, const mh_report *mine, mh_report *greatest, mh_error *error)
{
    const mh_channel *channel = rendezvous->channel;
    bool on_one_node = rendezvous->node_size == channel->size && mh_slots_are_there(rendezvous);
    int code = MPI_SUCCESS, rank = channel->rank, size = channel->size;
    *greatest = *mine;
    rendezvous->round++;
    for (int step = 0, distance = 1; distance < size && code == MPI_SUCCESS; step++, distance *= 2) {
        int from = rank < distance ? rank - distance + size : rank - distance;
        int to = rank + distance < size ? rank + distance : rank + distance - size;
        code = on_one_node ? swap_through_slots(rendezvous, step, from, greatest, error)
                           : swap_by_messages(channel, to, from, greatest, error);
    }
    return code;
}

const mh_rendezvous_kind mh_rendezvous_dissemination = {
    .name = "dissemination",
    .doc = "each learns of all others without a root, through shared memory where all share a node, else by messages",
    .report = report,
};
