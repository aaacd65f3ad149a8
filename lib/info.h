/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info.h - the settings and statistics of a communicator as info objects.
 *
 * One table (info.c) makes the info keys mpix_harmonize_NAME of the statistics, and the manual's list of them.
 */
#ifndef MH_INFO_H
#define MH_INFO_H

#include "comm_state.h"

#include <stddef.h>

enum { MH_STATISTIC_TEXT_SIZE = MH_ERROR_MESSAGE_SIZE };

typedef struct mh_statistic {
    const char *name; /* without the prefix mpix_harmonize_ */
    const char *unit; /* as in the manual */
    const char *doc;
    bool is_always_there; /* else only after the first synchronization of the communicator */
    /* One of these reads it: as a text, as a number, or as a number at an offset in the state. */
    void (*text)(const mh_comm_state *state, char text[MH_STATISTIC_TEXT_SIZE]);
    int64_t (*number)(mh_comm_state *state);
    size_t field;
} mh_statistic;

/* The statistic at an index of the table; NULL past the last. */
const mh_statistic *mh_statistic_at(int index);

/* Whether a name, whatever its case, is that of a statistic. */
bool mh_is_statistic(const char *name);

/* Change the settings by info. Statistics in info are ignored. Collective; all settings take effect or none. */
int mh_info_set(mh_comm_state *state, MPI_Info info, mh_error *error);

/* Write settings, the statistics of state, which may be NULL, and the last error into info. Local. */
int mh_info_get(mh_comm_state *state, const mh_settings *settings, MPI_Info info, mh_error *error);

#endif
