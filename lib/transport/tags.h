/* SPDX-License-Identifier: BSD-3-Clause */
/* tags.h - the tags of all messages on the private communicator. */
#ifndef MH_TAGS_H
#define MH_TAGS_H

enum {
    MH_TAG_NEVER, /* no message has it: a probe for it only lets MPI make progress */
    MH_TAG_WARM_UP,
    MH_TAG_CALIBRATION,
    MH_TAG_LEADERS,
    MH_TAG_EXCHANGE,
    MH_TAG_ESTIMATE,
    MH_TAG_IDENTITY,
    MH_TAG_BARRIER, /* one is enough for all barriers, because each process sends and receives in the same order */
    MH_TAG_SLOTS,
    MH_TAG_RECORDS
};

#endif
