/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tune.h - what the parts of mpix_tune share.
 *
 * A candidate is an algorithm of the MPI library, with its parameters. A tuning file makes the library use candidates
 * in ranges of sizes, for exactly so many ranks; all else is as the library decides itself.
 */
#ifndef TUNE_H
#define TUNE_H

#include "bench/suite/operation.h"
#include "bench/campaign/description.h"
#include "common/cli/options.h"
#include "common/cli/output.h"
#include "common/results/results.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
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
    int64_t measured_last_bytes; /* the last may be greater, up to where the next range begins */
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
    output_t output;
} tune_settings_t;

typedef struct tune {
    tune_settings_t settings;
    char **launcher; /* its words, where {ranks} stands for the number of ranks */
    int launcher_words;
    char directory[TUNE_PATH_BYTES]; /* absolute; empty until it is ours */
    int folder;                      /* the same, open, and locked against others */
    bool has_made_folder;            /* it was not there before */
    char program[TUNE_PATH_BYTES];   /* this one */
    const operation_t *operation;
    int open_mpi_number; /* of the operation, in its tuning file */
    json_t *listing;     /* of the probe */
    const struct library *library;
    candidate_t candidates[MAX_CANDIDATES];
    int candidate_count;
    range_t ranges[MAX_RANGES];
    int range_count;
    double left_s;   /* of the budget, for what this run measures */
    double start_s;  /* what the first start of this program took */
    double launch_s; /* what a launch of mpix_bench took in the screening; 0: none yet */
    double check_s;  /* what random calls may take */
    bool in_place;   /* whether the library's own choice is right with MPI_IN_PLACE, so that candidates have to be */
    bool is_terminal;
} tune_t;

/* ---- tune.c */

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

/* tune_tell - a line on standard error, if that is a terminal: what is being done. */
void tune_tell(const tune_t *tune, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* tune_path - a file in the folder of the tuning. */
void tune_path(const tune_t *tune, char path[TUNE_PATH_BYTES], const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* tune_has_nodes - whether the ranks are on several. */
bool tune_has_nodes(const tune_t *tune);

/* tune_add_candidate - another one; NULL if it is there already, or one too many, or has too long a name. */
candidate_t *tune_add_candidate(tune_t *tune, const char *name);

/* ---- files.c */

/*
 * tune_write - a tuning file with ranges for exactly the ranks of the tuning, and if they are on several nodes, what
 * has to be beside it. False after a complaint.
 */
bool tune_write(const tune_t *tune, const range_t *ranges, int count, const char *path,
                char complaint[COMPLAINT_BYTES]);

/* tune_set_environment - add the variables that make the library read a tuning file, and what is beside it. */
void tune_set_environment(const tune_t *tune, json_t *environment, const char *file);

/* tune_remove - a tuning file, and what is beside it. */
void tune_remove(const char *file);

/* ---- launches.c */

/* tune_command - the launcher's words for so many ranks, as the key command of a variant. The caller frees it. */
json_t *tune_command(const tune_t *tune, int64_t ranks);

/* tune_sibling - the path of another program of this installation, which may add the same to all names. */
void tune_sibling(const tune_t *tune, const char *name, char path[TUNE_PATH_BYTES]);

/* How a probe ended. */
typedef struct probe_end {
    bool is_good;         /* exit status 0 */
    bool has_ended;       /* by itself */
    double took_s;        /* until then */
    char *output, *error; /* what it printed, or why it could not be started; owned */
} probe_end_t;

/* A probe makes few calls; an algorithm that hangs is none. But a launcher may wait until there are processors. */
enum { PROBE_TIMEOUT_S = 20, QUEUE_TIMEOUT_S = 600 };

/*
 * tune_probe - run this program as a probe.
 *
 * file    the tuning file in force, or NULL
 * words   after "probe", NULL after the last
 */
probe_end_t tune_probe(const tune_t *tune, int64_t ranks, const char *file, const char *const *words, double timeout_s);
void probe_end_free(probe_end_t *end);

/* ---- candidates.c */

/* tune_list - ask the MPI library what it is, and find out how it is tuned. False after a complaint. */
bool tune_list(tune_t *tune, char complaint[COMPLAINT_BYTES]);

/* tune_find_candidates - all that are right, or why they are none. False after a complaint. */
bool tune_find_candidates(tune_t *tune, char complaint[COMPLAINT_BYTES]);

/* tune_is_right - whether random calls give right results with a file. */
bool tune_is_right(const tune_t *tune, const char *file);

/* ---- measure.c */

/* tune_has_time - whether a budget is enough if launches take so long. False after a complaint. */
bool tune_has_time(const tune_t *tune, double launch_s, char complaint[COMPLAINT_BYTES]);

/* tune_measure - screen, and compare the best in fresh launches. Fills in the ranges. False after a complaint. */
bool tune_measure(tune_t *tune, char complaint[COMPLAINT_BYTES]);

/* tune_confirm - measure the file again, in fresh launches, and note which ranges did not gain. */
bool tune_confirm(tune_t *tune, const char *file, char complaint[COMPLAINT_BYTES]);

/* ---- What differs between MPI libraries: their algorithms, the form of their tuning files, and proofs */

enum { BEFORE_BYTES = 512 };

/* What a launch with a file shows at one size. */
typedef enum sight { SIGHT_RULE, SIGHT_USUAL, SIGHT_UNKNOWN } sight_t;

/* NULL as the value: the path of the file. */
typedef struct variable {
    const char *name, *value;
} variable_t;
enum { MAX_VARIABLES = 2 };

typedef struct library {
    const char *name;
    const char *suffix; /* of tuning files */

    /* Whether the library's own text names it. */
    bool (*is_it)(const char *version);

    /* Say what goes before the algorithms of rules, so that these may hold for nothing. Nothing said: nothing does. */
    void (*find_before)(const tune_t *tune, char before[BEFORE_BYTES]);

    /* Find the candidates. False after a complaint, which says why there are none. */
    bool (*enumerate)(tune_t *tune, char complaint[COMPLAINT_BYTES]);

    /* The smallest size for which a rule can hold; NULL: any. */
    int64_t (*min_bytes)(const tune_t *tune);

    /*
     * Write ranges for exactly the ranks of the tuning: the file, or what has to be beside it if they are on several
     * nodes. False if there is no place for them, or nothing has to be beside it.
     */
    bool (*write)(const tune_t *tune, const range_t *ranges, int count, bool is_beside, FILE *file);

    /* Variables that make the library read the file, and what is beside it. */
    variable_t variables[2][MAX_VARIABLES];

    /*
     * See whether a range's candidate is used at one size, if the file is in force.
     *
     * ranges   of the file
     * which    the range, whose candidate is expected or not
     * ranks    may be others than those of the tuning
     */
    sight_t (*look)(const tune_t *tune, const char *file, int which, int64_t bytes, int64_t ranks);
} library_t;

extern const library_t library_mpich, library_open_mpi;

/*
 * ---- probe.c: what mpix_tune does as an MPI program, started by the launcher: it lists what the MPI library offers,
 * and calls an operation
 *
 *     probe list F                   print what the library is and offers, as JSON, and which ranks cannot read F
 *     probe use OPERATION BYTES [F]  one call, whose result is right; with F, the loader writes to F.PID which
 *                                    functions are called first
 *     probe check OPERATION SEED N BYTES in-place|separate
 *                                    N random calls, compared with what the standard demands, some with MPI_IN_PLACE if
 *                                    it is named, the first ones of so many bytes; prints JSON
 */

/* probe_main - argv[1] is "probe". Returns the exit status. */
int probe_main(int argc, char **argv);

/* What "use" prints after the call: a launcher may return 0 for a program that was ended. */
extern const char probe_used[];

/* ---- prove.c */

/* tune_prove - show that each range of the file is in force, and nothing else. Notes which are not. */
void tune_prove(tune_t *tune, const char *file);

#endif
