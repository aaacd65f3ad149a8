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

/*
 * plan_fit_operation - fill in what depends on the operation, and refuse options that it cannot heed.
 *
 * named   the operation itself was named, not a group, of which each member heeds what it can
 */
bool plan_fit_operation(const reader_t *reader, job_t *job, bool named);

/* plan_fit_datatype, plan_fit_sizes - the same for the datatype, then for the sizes. */
bool plan_fit_datatype(const reader_t *reader, job_t *job);
bool plan_fit_sizes(const reader_t *reader, job_t *job);

/* plan_fit_scheme - what does not depend on the operation. */
bool plan_fit_scheme(const reader_t *reader, job_t *job);

/* plan_shuffle - put the sizes in another order. */
void plan_shuffle(size_list_t *sizes, int64_t seed);

#endif /* PLAN_PRIVATE_H */
