/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings.h - the settings of a communicator: their table, their sources, and agreement on them.
 *
 * One table (settings.c, its names in pure/setting_names.h) makes the info keys mpix_harmonize_NAME, the environment
 * variables MPIX_HARMONIZE_NAME, their messages and the manual.
 */
#ifndef MH_SETTINGS_H
#define MH_SETTINGS_H

#include "base/config.h"
#include "base/error.h"
#include "pure/setting_names.h"
#include "sync/sync.h"

#include <stdbool.h>

#define MH_INFO_PREFIX "mpix_harmonize_"

/* The indices of the choices of MH_SET_YIELD. */
enum { MH_YIELD_AUTO, MH_YIELD_ALWAYS, MH_YIELD_NEVER };

extern const mh_setting mh_settings_table[MH_SET_COUNT];

typedef struct mh_settings {
    mh_setting_value values[MH_SET_COUNT];
    mh_label sync; /* the value of MH_SET_SYNC */
} mh_settings;

/* The defaults. */
void mh_settings_default(mh_settings *settings);

/*
 * The defaults, changed by the environment. Variables that name no setting are ignored: software modules export their
 * own with the same prefix. Errors: MPI_ERR_ARG; settings then holds the defaults. Local.
 */
int mh_settings_from_environment(mh_settings *settings, mh_error *error);

/* The names of the unknown variables, joined by ", ", with "..." at the end if not all fit. Local. */
void mh_settings_ignored_environment(char *text, size_t size);

/*
 * Change settings by info (may be MPI_INFO_NULL). Keys that differ in case only name the same setting, and must not
 * give it different values. Names for which is_ignored returns true are ignored. Errors: MPI_ERR_INFO_VALUE,
 * MPI_ERR_INFO_KEY; settings are then unchanged. Local.
 */
int mh_settings_from_info(mh_settings *settings, MPI_Info info, bool (*is_ignored)(const char *name), mh_error *error);

/*
 * Agree on settings. If a process has an error, all processes get this error. Otherwise, settings that differ are an
 * error of class difference_code, whose message names the setting and both values. Collective over comm.
 */
int mh_settings_agree(const mh_settings *settings, int difference_code, MPI_Comm comm, mh_error *error);

/* Write settings into info under their keys. Local. */
int mh_settings_to_info(const mh_settings *settings, MPI_Info info, mh_error *error);

#endif
