/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * setting_names.h - the numbers and names of the settings and of barriers, and which variables were meant to name a
 * setting. Tools ask this before MPI runs. Pure; no MPI.
 */
#ifndef MH_SETTING_NAMES_H
#define MH_SETTING_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* A variable is MPIX_HARMONIZE_NAME. */
#define MH_VARIABLE_PREFIX "MPIX_HARMONIZE_"

/* Each setting, in the order in which they are listed: the number MH_SET_..., and the name. */
#define MH_EACH_SETTING(SETTING)                          \
    SETTING(CLOCK, "clock")                               \
    SETTING(SYNC, "sync")                                 \
    SETTING(RESYNC_ERROR_NS, "resync_error_ns")           \
    SETTING(RESYNC_INTERVAL_NS, "resync_interval_ns")     \
    SETTING(WANDER_MAX_PPB_PER_S, "wander_max_ppb_per_s") \
    SETTING(HISTORY, "history")                           \
    SETTING(BARRIER, "barrier")                           \
    SETTING(TOLERANCE_NS, "tolerance_ns")                 \
    SETTING(SLACK_MIN_NS, "slack_min_ns")                 \
    SETTING(SLACK_MAX_NS, "slack_max_ns")                 \
    SETTING(VALID_FRACTION, "valid_fraction")             \
    SETTING(DELAY_MAX_NS, "delay_max_ns")                 \
    SETTING(YIELD, "yield")

#define MH_SETTING_NUMBER(number, name) MH_SET_##number,

enum { MH_EACH_SETTING(MH_SETTING_NUMBER) MH_SET_COUNT };

/* Each barrier algorithm, which are values of the setting `barrier`, in the order in which they are listed. */
#define MH_EACH_BARRIER(BARRIER) BARRIER(shm) BARRIER(dissemination) BARRIER(tree) BARRIER(collective)

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
