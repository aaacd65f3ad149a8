/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * buffers.h - memory for messages, asked for before anything is measured.
 */
#ifndef BUFFERS_H
#define BUFFERS_H

#include "world.h"

#include <stdint.h>

struct buffers {
    void *send;
    void *receive;
};

/*
 * buffers_allocate - allocate and touch the buffers of this rank. Collective.
 *
 * send_bytes, receive_bytes   their sizes, 0 for a buffer that is not needed
 *
 * Returns true if all ranks have theirs; else rank 0 has said why not.
 */
bool buffers_allocate(struct buffers *buffers, const struct world *world, int64_t send_bytes, int64_t receive_bytes);

/* buffers_free - free what buffers_allocate allocated. */
void buffers_free(struct buffers *buffers);

#endif /* BUFFERS_H */
