/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tune.h - what the parts of mpix_tune share.
 *
 * A candidate is an algorithm of the MPI library, with its parameters. A tuning file makes the library use candidates
 * in ranges of sizes, for exactly so many ranks; all else is as the library decides itself.
 */
#ifndef TUNE_H
#define TUNE_H

#include "bench/operation.h"
#include "campaign/description.h"
#include "common/options.h"
#include "results/results.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MAX_CANDIDATES = 40, MAX_RANGES = MAX_SIZES, TUNE_PATH_BYTES = 4096 };

typedef struct candidate {
    char name[MAX_NAME_BYTES];
    char algorithm[MAX_NAME_BYTES]; /* Open MPI's name of it, without parameters, and number */
    int64_t number;
    int64_t segment_bytes, fan_out; /* 0: none, or the library's */
    json_t *leaf;                   /* MPICH's, in its selection tree; owned */
    const char *excluded;           /* why it is none, or NULL */
} candidate_t;

/* Sizes for which a candidate is chosen. Ratios are of its time and that of the library's own choice. */
typedef struct range {
    int64_t first_bytes, last_bytes;
    const candidate_t *candidate;
    double ratio;         /* geometric mean over the sizes */
    double low, high;     /* the widest interval of a size */
    double confirmed;     /* the same ratio in fresh launches; 0: not measured */
    const char *unproven; /* why it is not recommended, or NULL */
} range_t;

typedef struct tune_settings {
    const char *directory;
    int64_t ranks;
    size_list_t sizes, segments;
    number_list_t fan_outs;
    int64_t commutative_only;
    double budget_s;
    double min_gain_percent;
    double level_percent;
    int64_t iterations;
    const char *arrival;
    const char *bench; /* or NULL */
    int64_t seed;
    text_list_t operands;
} tune_settings_t;

struct library;

typedef struct tune {
    tune_settings_t settings;
    char **launcher; /* its words, where {ranks} stands for the number of ranks */
    int launcher_words;
    char directory[TUNE_PATH_BYTES]; /* absolute */
    char program[TUNE_PATH_BYTES];   /* this one */
    const operation_t *operation;
    int open_mpi_number; /* of the operation, in its tuning file */
    json_t *listing;     /* of the probe */
    const struct library *library;
    candidate_t candidates[MAX_CANDIDATES];
    int candidate_count;
    range_t ranges[MAX_RANGES];
    int range_count;
    double launch_s; /* what a launch took in the screening */
    bool in_place;   /* whether the library's own choice is right with MPI_IN_PLACE, so that candidates have to be */
    bool is_terminal;
} tune_t;

extern const char tune_name[];

/* tune_is_of - whether it is the operation of this name that is tuned. */
static inline bool tune_is_of(const tune_t *tune, const char *name)
{
    return strcmp(tune->operation->name, name) == 0;
}

/*
 * tune_is_chosen - whether the environment chooses algorithms already.
 *
 * chosen   NAME=VALUE of each variable that has not its usual value, or "default". Those that only say which of Open
 *          MPI's components goes first do not count.
 */
bool tune_is_chosen(const char *chosen);

/* tune_path - a file in the folder of the tuning. */
void tune_path(const tune_t *tune, char path[TUNE_PATH_BYTES], const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* tune_nodes_path - what a tuning file has beside it where ranks are on several nodes. */
void tune_nodes_path(const char *file, char path[TUNE_PATH_BYTES]);

/* tune_remove - a tuning file, and what is beside it. */
void tune_remove(const char *file);

/* tune_tell - a line on standard error, if that is a terminal: what is being done. */
void tune_tell(const tune_t *tune, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- launches.c */

/* tune_command - the launcher's words for so many ranks, as the key command of a variant. The caller frees it. */
json_t *tune_command(const tune_t *tune, int64_t ranks);

/* tune_sibling - the path of another program of this installation, which may add the same to all names. */
void tune_sibling(const tune_t *tune, const char *name, char path[TUNE_PATH_BYTES]);

/* How a probe ended. */
typedef struct probe_end {
    bool is_good;         /* exit status 0 */
    bool has_ended;       /* by itself */
    char *output, *error; /* what it printed; owned */
} probe_end_t;

/*
 * tune_probe - run this program as a probe.
 *
 * file    the tuning file in force, or NULL
 * words   after "probe", NULL after the last
 */
probe_end_t tune_probe(const tune_t *tune, int64_t ranks, const char *file, const char *const *words);
void probe_end_free(probe_end_t *end);

/* ---- candidates.c */

/* tune_list - ask the MPI library what it is, and find out how it is tuned. False after a complaint. */
bool tune_list(tune_t *tune, char complaint[COMPLAINT_BYTES]);

/* tune_has_nodes - whether the ranks are on several. */
bool tune_has_nodes(const tune_t *tune);

/* tune_find_candidates - all that are right, or why they are none. False after a complaint. */
bool tune_find_candidates(tune_t *tune, char complaint[COMPLAINT_BYTES]);

/* tune_add_candidate - another one; NULL if it is there already, or one too many, or has too long a name. */
candidate_t *tune_add_candidate(tune_t *tune, const char *name);

/* tune_is_right - whether random calls give right results with a file. */
bool tune_is_right(const tune_t *tune, const char *file);

/* ---- measure.c */

/* tune_measure - screen, and compare the best in fresh launches. Fills in the ranges. False after a complaint. */
bool tune_measure(tune_t *tune, char complaint[COMPLAINT_BYTES]);

/* tune_confirm - measure the file again, in fresh launches, and note which ranges did not gain. */
bool tune_confirm(tune_t *tune, const char *file, char complaint[COMPLAINT_BYTES]);

/* ---- prove.c */

/* tune_prove - show that each range of the file is in force, and nothing else. Notes which are not. */
void tune_prove(tune_t *tune, const char *file);

#endif
