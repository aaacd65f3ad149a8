/* SPDX-License-Identifier: BSD-3-Clause */
/* plan_private.h - what plan.c and plan_fit.c share. */
#ifndef PLAN_PRIVATE_H
#define PLAN_PRIVATE_H

#include "suite/plan.h"

/* Who speaks in messages: the program, or a line of a file of jobs. */
struct reader {
    struct plan *plan;
    const char *program;
    const char *speaker;
    int ranks;
};

/* plan_refuse - say in one line what is wrong. Returns false. */
bool plan_refuse(const struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * plan_fit_operation - fill in what depends on the operation, and refuse options that it cannot heed.
 *
 * named   the operation itself was named, not a group, of which each member heeds what it can
 */
bool plan_fit_operation(const struct reader *reader, struct job *job, bool named);

/* plan_fit_datatype, plan_fit_sizes - the same for the datatype, then for the sizes. */
bool plan_fit_datatype(const struct reader *reader, struct job *job);
bool plan_fit_sizes(const struct reader *reader, struct job *job);

/* plan_fit_scheme - what does not depend on the operation. */
bool plan_fit_scheme(const struct reader *reader, struct job *job);

/* plan_shuffle - put the sizes in another order. */
void plan_shuffle(struct size_list *sizes, int64_t seed);

#endif /* PLAN_PRIVATE_H */
