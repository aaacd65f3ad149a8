/* SPDX-License-Identifier: BSD-3-Clause */
/* tags.h - the tags of this folder's messages. Folders above continue the count, so no two share a tag. */
#ifndef MH_TRANSPORT_TAGS_H
#define MH_TRANSPORT_TAGS_H

enum {
    MH_TAG_NEVER, /* no message has it: a probe for it only lets MPI make progress */
    MH_TAG_WARM_UP,
    MH_TRANSPORT_TAGS_END
};

#endif
