/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * quota.h - the number of processors whose time a process may use, by the CPU quotas of its Linux control groups
 * (versions 1 and 2). Containers and batch systems set them, and affinity masks do not show them. No MPI.
 */
#ifndef MH_QUOTA_H
#define MH_QUOTA_H

#include <stdint.h>

typedef struct mh_quota {
    int64_t processors; /* rounded up; INT64_MAX: no limit */
    uint64_t group;     /* the control group that sets it: the same for all processes of this machine that share it */
} mh_quota;

/* The tightest quota from this process's control group up. root: "" for the files of the system; tests have others. */
mh_quota mh_quota_find(const char *root);

#endif
