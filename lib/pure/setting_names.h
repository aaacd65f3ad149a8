/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * setting_names.h - the numbers and names of the settings, and which variables were meant to name one. Tools ask this
 * before MPI runs. Pure; no MPI.
 */
#ifndef MH_SETTING_NAMES_H
#define MH_SETTING_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* A variable is MPIX_HARMONIZE_NAME. */
#define MH_VARIABLE_PREFIX "MPIX_HARMONIZE_"

enum {
    MH_SET_CLOCK,
    MH_SET_SYNC,
    MH_SET_RESYNC_ERROR_NS,
    MH_SET_RESYNC_INTERVAL_NS,
    MH_SET_WANDER_MAX_PPB_PER_S,
    MH_SET_BARRIER,
    MH_SET_TOLERANCE_NS,
    MH_SET_SLACK_MIN_NS,
    MH_SET_SLACK_MAX_NS,
    MH_SET_VALID_FRACTION,
    MH_SET_DELAY_MAX_NS,
    MH_SET_YIELD,
    MH_SET_COUNT
};

/* The setting mpix_harmonize_NAME is called NAME here. */
extern const char *const mh_setting_names[MH_SET_COUNT];

/* The number of the setting of a name, in any case; -1: none. */
int mh_setting_find(const char *name);

/*
 * Whether an entry of the environment, as NAME or NAME=VALUE, begins with the prefix and names no setting. ROOT and DIR
 * are known: software modules export them.
 */
bool mh_variable_is_unknown(const char *entry);

/* One line about an unknown variable, with the setting that it may have been meant for. */
void mh_variable_describe(const char *entry, char *text, size_t size);

#endif
