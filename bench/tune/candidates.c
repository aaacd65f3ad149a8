/* SPDX-License-Identifier: BSD-3-Clause */
/* candidates.c - which algorithms the MPI library offers, and which of them give right results. */
#include "bench/campaign/launch.h"
#include "bench/tune/tune.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Random calls with each candidate. */
enum { CHECK_CALLS = 400, NUMBER_BYTES = 32 };

static const char *const seeds[] = {"1", "2"};

/* A new name, which no host remembers to have looked for in vain. False after a complaint. */
static bool make_mark(const tune_t *tune, char path[TUNE_PATH_BYTES], char complaint[COMPLAINT_BYTES])
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    tune_path(tune, path, "mark.%lld.%09ld", (long long)now.tv_sec, now.tv_nsec);
    FILE *file = fopen(path, "wx");
    return (file && fclose(file) == 0) || complain(complaint, "cannot write %.400s: %s", path, strerror(errno));
}

/* Run the probe, and take its listing. False after a complaint. */
static bool take_listing(tune_t *tune, char complaint[COMPLAINT_BYTES])
{
    char mark[TUNE_PATH_BYTES];
    if (!make_mark(tune, mark, complaint))
        return false;
    const char *const words[] = {"list", mark, NULL};
    probe_end_t end = tune_probe(tune, tune->settings.ranks, NULL, words, QUEUE_TIMEOUT_S);
    unlink(mark);
    tune->start_s = end.took_s;
    const char *brace = strchr(end.output, '{');
    tune->listing = brace ? json_loads(brace, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
    if (!tune->listing)
        complain(complaint, "the launcher's command does not run programs of this MPI library: %.400s",
                 end.error[0] != '\0' ? end.error : "it printed nothing");
    probe_end_free(&end);
    return tune->listing != NULL;
}

/* Whether there are so many ranks, and all of them read what is written here. False after a complaint. */
static bool check_ranks(const tune_t *tune, char complaint[COMPLAINT_BYTES])
{
    const char *alone = text_at(tune->listing, "alone");
    const json_t *blind = json_object_get(tune->listing, "blind");
    json_int_t ranks = json_integer_value(json_object_get(tune->listing, "ranks"));
    json_int_t count = json_integer_value(json_object_get(blind, "count"));
    if (*alone)
        return complain(complaint, "%s", alone);
    if (ranks != tune->settings.ranks)
        return complain(complaint, "the launcher's command started %lld ranks, not --ranks %lld: give {ranks} in it",
                        (long long)ranks, (long long)tune->settings.ranks);
    return count == 0 ||
           complain(complaint,
                    "%lld of %lld ranks cannot read what is in %.400s, the first is rank %lld on %.60s: %.60s; give a "
                    "folder that all of them can read by --output",
                    (long long)count, (long long)ranks, tune->directory,
                    (long long)json_integer_value(json_object_get(blind, "first")), text_at(blind, "host"),
                    text_at(blind, "why"));
}

bool tune_list(tune_t *tune, char complaint[COMPLAINT_BYTES])
{
    static const library_t *const libraries[] = {&library_mpich, &library_open_mpi};
    if (!take_listing(tune, complaint) || !check_ranks(tune, complaint))
        return false;
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        if (libraries[i]->is_it(text_at(tune->listing, "library")))
            tune->library = libraries[i];
    if (!tune->library)
        return complain(complaint, "\"%.60s\" cannot be tuned, only MPICH and Open MPI can",
                        text_at(tune->listing, "library"));
    if (tune_is_chosen(text_at(tune->listing, "chosen")))
        return complain(complaint, "the environment chooses already, unset it: %.400s",
                        text_at(tune->listing, "chosen"));
    return true;
}

/* The file of a candidate alone. */
static void path_of(const tune_t *tune, const candidate_t *candidate, char path[TUNE_PATH_BYTES])
{
    tune_path(tune, path, "candidates/%s.%s", candidate->name, tune->library->suffix);
}

static bool write_candidates(const tune_t *tune, char complaint[COMPLAINT_BYTES])
{
    for (int i = 0; i < tune->candidate_count; i++) {
        range_t all = {.first_bytes = 0, .last_bytes = INT64_MAX, .candidate = &tune->candidates[i]};
        char path[TUNE_PATH_BYTES];
        path_of(tune, &tune->candidates[i], path);
        if (!tune_write(tune, &all, 1, path, complaint))
            return false;
    }
    return true;
}

/*
 * How many calls are wrong with a file, or NULL, of the operations that commute, and of others. Negative if they do not
 * end well. Returns how long they took.
 */
static double count_wrong(const tune_t *tune, const char *file, const char *seed, int wrong[2])
{
    const size_list_t *sizes = &tune->settings.sizes;
    char calls[NUMBER_BYTES], bytes[NUMBER_BYTES];
    snprintf(calls, sizeof calls, "%d", CHECK_CALLS);
    snprintf(bytes, sizeof bytes, "%lld", (long long)sizes->bytes[sizes->count - 1]);
    const char *const words[] = {
        "check", tune->operation->name, seed, calls, bytes, tune->in_place ? "in-place" : "separate", NULL};
    probe_end_t end = tune_probe(tune, tune->settings.ranks, file, words, tune->check_s);
    const char *brace = strchr(end.output, '{');
    json_t *counts = brace ? json_loads(brace, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
    const json_t *first = json_object_get(counts, "wrong");
    wrong[0] = json_is_integer(first) ? (int)json_integer_value(first) : end.has_ended ? -1 : -2;
    wrong[1] = (int)json_integer_value(json_object_get(counts, "wrong_if_not_commutative"));
    json_decref(counts);
    probe_end_free(&end);
    return end.took_s;
}

/* What a check may find, as the file of checks counts it. */
enum { RIGHT, FAILS, HANGS, WRONG, WRONG_IF_NOT_COMMUTATIVE };
static const char *const reasons[] = {[FAILS] = "it fails",
                                      [HANGS] = "it hangs",
                                      [WRONG] = "its results are wrong",
                                      [WRONG_IF_NOT_COMMUTATIVE] =
                                          "wrong for operations that do not commute: --commutative-only allows it"};

static int check_file(const tune_t *tune, const char *file)
{
    int found = RIGHT;
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0] && (found == RIGHT || found == WRONG_IF_NOT_COMMUTATIVE);
         i++) {
        int wrong[2];
        count_wrong(tune, file, seeds[i], wrong);
        if (wrong[0] != 0)
            found = wrong[0] > 0 ? WRONG : wrong[0] == -1 ? FAILS : HANGS;
        else if (wrong[1] > 0)
            found = WRONG_IF_NOT_COMMUTATIVE;
    }
    return found;
}

/* What has been checked is kept in a file. */
static void check_all(tune_t *tune)
{
    char path[TUNE_PATH_BYTES];
    tune_path(tune, path, "checks.json");
    json_t *checks = json_clean(json_load_file(path, 0, NULL));
    if (!json_is_object(checks))
        checks = json_object();
    for (int i = 0; i < tune->candidate_count; i++) {
        candidate_t *candidate = &tune->candidates[i];
        char file[TUNE_PATH_BYTES];
        path_of(tune, candidate, file);
        const json_t *known = json_object_get(checks, candidate->name);
        if (!known)
            tune_tell(tune, "checking the results of %s, %d of %d", candidate->name, i + 1, tune->candidate_count);
        int found = known ? (int)json_integer_value(known) : check_file(tune, file);
        if (launch_signal() != 0) /* what was interrupted says nothing */
            break;
        json_object_set_new(checks, candidate->name, json_integer(found));
        json_dump_file(checks, path, JSON_INDENT(1));
        if (found >= FAILS && found <= (tune->settings.commutative_only ? WRONG : WRONG_IF_NOT_COMMUTATIVE))
            candidate->excluded = reasons[found];
    }
    json_decref(checks);
}

/* Whether the library's own choice is right, with MPI_IN_PLACE or at least without. An algorithm may be far slower. */
static bool check_library(tune_t *tune, char complaint[COMPLAINT_BYTES])
{
    enum { MAX_TIMES_AS_LONG = 10 };
    int wrong[2] = {1, 1};
    double took_s = 0;
    tune->check_s = QUEUE_TIMEOUT_S;
    for (int in_place = 1; in_place >= 0 && (wrong[0] != 0 || wrong[1] != 0); in_place--) {
        tune->in_place = in_place;
        took_s = count_wrong(tune, NULL, seeds[0], wrong);
    }
    tune->check_s = fmax(PROBE_TIMEOUT_S, MAX_TIMES_AS_LONG * took_s);
    return (wrong[0] == 0 && wrong[1] == 0) ||
           complain(complaint, "%s is not to be tuned: with the library's own choice, results are wrong or missing",
                    tune->operation->name);
}

bool tune_is_right(const tune_t *tune, const char *file)
{
    int found = check_file(tune, file);
    return found == RIGHT || (found == WRONG_IF_NOT_COMMUTATIVE && tune->settings.commutative_only);
}

bool tune_find_candidates(tune_t *tune, char complaint[COMPLAINT_BYTES])
{
    if (!check_library(tune, complaint) || !tune->library->enumerate(tune, complaint) ||
        !write_candidates(tune, complaint))
        return false;
    check_all(tune);
    if (launch_signal() != 0)
        return complain(complaint, "interrupted");
    for (int i = 0; i < tune->candidate_count; i++)
        if (!tune->candidates[i].excluded)
            return true;
    return complain(complaint, "no algorithm of %s for %s is left to choose from", tune->library->name,
                    tune->operation->name);
}
