/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * choices.h - what the user wants to be done to a program. The launcher puts it into one variable of the environment,
 * where the front finds it, and tells the back. No MPI here.
 */
#ifndef INTERPOSE_CHOICES_H
#define INTERPOSE_CHOICES_H

#include <stdbool.h>
#include <stdint.h>

enum { CHOICES_TEXT = 4096, CHOICES_FRAMES = 16 };

/* Numbers, then texts, as they are written. */
typedef struct {
    int64_t harmonizes, records; /* of mpix_preload, of mpix_trace */
    int64_t barrier, wtime;      /* MPI_Barrier is to be harmonized, MPI_Wtime to be the global clock */
    int64_t quiet_trace;         /* nothing is said of a trace that is complete */
    int64_t all, quiet;          /* barriers of all communicators; no report */
    int64_t buffer_bytes;
    int64_t limit_bytes;       /* of the files of all processes */
    int64_t from_ns, to_ns;    /* global time */
    int64_t frames;            /* of the path to a call: at most CHOICES_FRAMES */
    int64_t meet_s;            /* how long the processes wait for each other in MPI_Init */
    int64_t watcher;           /* the name of its socket, where it is told of MPI_Init; 0: there is none */
    char report[CHOICES_TEXT]; /* empty: standard error */
    char folder[CHOICES_TEXT];
    char only[CHOICES_TEXT];   /* patterns of names; empty: all but MPI_Wtime and MPI_Wtick */
    char ranks[CHOICES_TEXT];  /* to be recorded, as mh_is_listed takes them; empty: all */
    char clocks[CHOICES_TEXT]; /* the file of clock records; empty: none */
    char back[CHOICES_TEXT];   /* the file */
} interpose_choices;
extern interpose_choices mh_choices; /* the launcher, the front and the back have their own each */

/* The files, of a flavor, and what the back exports: the table of interposer.h, and a check of settings and of names of
 * functions, which says in the name of the tool what is wrong. */
#define INTERPOSE_FRONT_FILE "libmpix_interpose-%s.so"
#define INTERPOSE_BACK_FILE "interpose-%s.so"
#define INTERPOSE_BACK_NAME "mpix_interpose_back"
#define INTERPOSE_CHECK_NAME "mpix_interpose_check"
typedef bool interpose_check(const char *tool, const char *only);

/* Whether a rank is in a list such as 0,4-7. largest: the largest in the list, or -1: it is none. */
bool mh_is_listed(const char *list, int rank, int *largest);

/* Returns false if there is no memory. */
bool mh_choices_export(void);

/* Returns false if there are none. */
bool mh_choices_import(void);

/* Who does it, at the beginning of messages; and how the program runs if it cannot be done. */
const char *mh_choices_name(void);
const char *mh_choices_without(void);

/* One line of the first process says why it cannot. */
void mh_choices_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Which of these stems, up to NULL, the name of a library begins with, without its folder; -1: none. */
int mh_stem_of(const char *path, const char *const *stems);

/* Whether this is the first process of a job, as far as launchers tell. One line for all processes is enough. */
bool mh_is_first_process(void);

#endif
