/* SPDX-License-Identifier: BSD-3-Clause */
/* plan_private.h - what plan.c and plan_fit.c share. */
#ifndef PLAN_PRIVATE_H
#define PLAN_PRIVATE_H

#include "suite/plan.h"

/* Who speaks in messages: the program, or a line of a file of jobs. */
typedef struct reader {
    plan_t *plan;
    const char *program;
    const char *speaker;
    int ranks;
} reader_t;

/* plan_refuse - say in one line what is wrong. Returns false. */
bool plan_refuse(const reader_t *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* plan_find_name - the index of a name, or -1. */
int plan_find_name(const char *(*name_at)(int), const char *name);

/*
 * plan_fit - fill in what was not given, list the sizes, and refuse options that do not fit the operation or each
 * other.
 *
 * named   the operation itself was named, not a group, of which each member heeds what it can
 */
bool plan_fit(const reader_t *reader, job_t *job, bool named);

#endif /* PLAN_PRIVATE_H */
