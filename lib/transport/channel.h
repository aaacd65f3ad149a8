/* SPDX-License-Identifier: BSD-3-Clause */
/* channel.h - the private communicator on which the library sends its messages. */
#ifndef MH_CHANNEL_H
#define MH_CHANNEL_H

#include "transport/message.h"

/*
 * Make the private communicator of a communicator. Collective. Returns an error that all processes have; the caller
 * then frees the channel if this process has it. A failure on this process alone is left in error, for all processes to
 * agree on.
 */
int mh_channel_make(mh_channel *channel, MPI_Comm comm, mh_error *error);

/* Does nothing without a communicator. Collective, but MPI libraries free without the other processes. */
void mh_channel_free(mh_channel *channel);

#endif
