/* SPDX-License-Identifier: BSD-3-Clause */
/* program.h - what can be told of a program before it starts: whether anything can be loaded into it, and its MPI. */
#ifndef INTERPOSE_PROGRAM_H
#define INTERPOSE_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

typedef enum {
    PROGRAM_STATIC, /* nothing can be loaded into it */
    PROGRAM_SET_ID, /* nor into this one, whose user or group is set */
    PROGRAM_DYNAMIC /* also a script */
} program_kind;

typedef struct {
    char path[PATH_MAX];
    program_kind kind;
    const char *flavor; /* of its MPI library, NULL if that is not known */
} program_found;

/* As exec will look for it. Returns false if it cannot be executed; path is empty then if there is no such file. */
bool mh_program_find(const char *name, program_found *program);

/* Sets what is not the path. */
void mh_program_judge(program_found *program);

#endif
