/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * open_mpi.c - the component "tuned" of Open MPI, which reads a file of rules.
 *
 * Up to 5.0 the file is numbers: for each collective operation, sets of rules by number of ranks, and in each set,
 * sizes from which an algorithm holds. A set holds up to the next one, and the first for all smaller communicators.
 * From 6.0 on, it is JSON with ranges of both and algorithms by name.
 */
#define _GNU_SOURCE /* getline */
#include "common/text.h"
#include "tune/library.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_MAJOR_OF_JSON = 6, MAX_FUNCTIONS_BYTES = 8192, MAX_BINDINGS = 256 };

static bool is_open_mpi(const char *version)
{
    return strncmp(version, "Open MPI", 8) == 0;
}

static int major_version(const tune_t *tune)
{
    const char *digits = strpbrk(text_at(tune->listing, "library"), "0123456789");
    return digits ? atoi(digits) : 0;
}

/* Numbers of operations in the file, as the library's coll_base_functions.h has them. */
static int operation_number(operation_kind_t kind)
{
    static const int numbers[OPERATIONS] = {
        [OPERATION_ALLGATHER] = 0,       [OPERATION_ALLREDUCE] = 2, [OPERATION_ALLTOALL] = 3,
        [OPERATION_BCAST] = 7,           [OPERATION_GATHER] = 9,    [OPERATION_REDUCE] = 11,
        [OPERATION_REDUCE_SCATTER] = 12, [OPERATION_SCATTER] = 15};
    return numbers[kind];
}

/* ---- Candidates */

static void add_candidate(tune_t *tune, const char *name, json_int_t number, int64_t segment_bytes)
{
    candidate_t *candidate = &tune->candidates[tune->candidate_count];
    if (tune->candidate_count == MAX_CANDIDATES)
        return;
    *candidate = (candidate_t){.number = number, .segment_bytes = segment_bytes};
    if (segment_bytes > 0)
        snprintf(candidate->name, sizeof candidate->name, "%.40s-%lld", name, (long long)segment_bytes);
    else
        snprintf(candidate->name, sizeof candidate->name, "%.60s", name);
    tune->candidate_count++;
}

static bool enumerate(tune_t *tune, char complaint[COMPLAINT_BYTES])
{
    char variable[MAX_NAME_BYTES];
    snprintf(variable, sizeof variable, "coll_tuned_%s_algorithm", tune->operation->name);
    const json_t *items = json_object_get(json_object_get(tune->listing, "algorithms"), variable);
    if (!items)
        return complain(complaint, "this Open MPI has no variable %s", variable);
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        json_int_t number = json_integer_value(json_object_get(item, "value"));
        /* 0 leaves the choice to the library. */
        for (int k = 0; number > 0 && k < tune->settings.segments.count; k++)
            add_candidate(tune, text_at(item, "name"), number, (int64_t)tune->settings.segments.values[k]);
    }
    return true;
}

/* ---- The file */

/* What the library compares with the limits of a rule, for a size as mpix_bench has it. */
static int64_t compared(const tune_t *tune, int64_t bytes)
{
    return tune->operation->has_blocks && bytes < INT64_MAX ? bytes * tune->settings.ranks : bytes;
}

static int count_limits(const range_t *ranges, int count)
{
    int limits = 1;
    for (int i = 0; i < count; i++) {
        bool follows = i > 0 && ranges[i - 1].last_bytes + 1 == ranges[i].first_bytes;
        limits += ranges[i].first_bytes > 0 && !follows;
        limits += ranges[i].last_bytes < INT64_MAX;
    }
    return limits;
}

static void write_limit(FILE *file, int64_t from, const candidate_t *candidate)
{
    fprintf(file, "%lld %lld 0 %lld # %s\n", (long long)from, (long long)(candidate ? candidate->number : 0),
            (long long)(candidate ? candidate->segment_bytes : 0),
            candidate ? candidate->name : "the library's choice");
}

/* The first limit has to be 0. */
static void write_set(FILE *file, const tune_t *tune, const range_t *ranges, int count)
{
    fprintf(file, "%lld # ranks\n%d # limits in bytes, algorithm, fan-out, segment\n", (long long)tune->settings.ranks,
            count_limits(ranges, count));
    if (ranges[0].first_bytes > 0)
        write_limit(file, 0, NULL);
    for (int i = 0; i < count; i++) {
        bool is_followed = i + 1 < count && ranges[i].last_bytes + 1 == ranges[i + 1].first_bytes;
        write_limit(file, compared(tune, ranges[i].first_bytes), ranges[i].candidate);
        if (ranges[i].last_bytes < INT64_MAX && !is_followed)
            write_limit(file, compared(tune, ranges[i].last_bytes) + 1, NULL);
    }
}

static void write_numbers(FILE *file, const tune_t *tune, const range_t *ranges, int count)
{
    bool is_one = tune->settings.ranks == 1;
    fprintf(file, "1 # operations\n%d # %s\n%d # sets of rules, by ranks\n", operation_number(tune->kind),
            tune->operation->name, is_one ? 2 : 3);
    if (!is_one)
        fprintf(file, "1 # rank, and all up to the next set\n1 # limit\n0 0 0 0\n");
    write_set(file, tune, ranges, count);
    fprintf(file, "%lld # ranks or more\n1 # limit\n0 0 0 0\n", (long long)tune->settings.ranks + 1);
}

static json_t *json_rule(const tune_t *tune, const range_t *range)
{
    json_t *rule = json_pack("{s:I, s:s}", "msg_size_min", (json_int_t)compared(tune, range->first_bytes), "alg",
                             range->candidate->name);
    if (range->candidate->segment_bytes > 0) {
        char name[MAX_NAME_BYTES];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(range->candidate->name, "-"), range->candidate->name);
        json_object_set_new(rule, "alg", json_string(name));
        json_object_set_new(rule, "max_requests", json_integer(0));
        json_object_set_new(rule, "seg_size", json_integer(range->candidate->segment_bytes));
    }
    json_object_set_new(rule, "msg_size_max",
                        range->last_bytes < INT64_MAX ? json_integer(compared(tune, range->last_bytes))
                                                      : json_string("inf"));
    return rule;
}

static bool write_json(FILE *file, const tune_t *tune, const range_t *ranges, int count)
{
    json_t *rules = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(rules, json_rule(tune, &ranges[i]));
    json_t *all = json_pack("{s:i, s:s, s:{s:[{s:I, s:I, s:o}]}}", "rule_file_version", 3, "module", "tuned",
                            "collectives", tune->operation->name, "comm_size_min", (json_int_t)tune->settings.ranks,
                            "comm_size_max", (json_int_t)tune->settings.ranks, "rules", rules);
    bool good = all && json_dumpf(all, file, JSON_INDENT(1)) == 0 && fputc('\n', file) != EOF;
    json_decref(all);
    return good;
}

static bool write_rules(const tune_t *tune, const range_t *ranges, int count, const char *path,
                        char complaint[COMPLAINT_BYTES])
{
    FILE *file = fopen(path, "w");
    bool good = file != NULL;
    if (good && major_version(tune) >= FIRST_MAJOR_OF_JSON)
        good = write_json(file, tune, ranges, count);
    else if (good)
        write_numbers(file, tune, ranges, count);
    good = file && fclose(file) == 0 && good;
    return good || complain(complaint, "cannot write %.400s", path);
}

static void set_environment(json_t *environment, const char *path)
{
    json_object_set_new(environment, "OMPI_MCA_coll_tuned_use_dynamic_rules", json_string("1"));
    json_object_set_new(environment, "OMPI_MCA_coll_tuned_dynamic_rules_filename", json_string(path));
}

static int64_t min_bytes(const tune_t *tune)
{
    (void)tune;
    return 0;
}

/* ---- Proof: which of the library's algorithms a program called, as the loader binds a function at its first call */

typedef struct bindings {
    char *lines[MAX_BINDINGS];
    int count;
} bindings_t;

static int up(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds the functions of the operation that one process bound, and from where. Some are bound before any call. */
static void read_bindings(const char *path, const char *operation, bindings_t *bindings)
{
    char beginning[MAX_NAME_BYTES], *line = NULL;
    size_t bytes = 0;
    FILE *file = fopen(path, "r");
    snprintf(beginning, sizeof beginning, "ompi_coll_base_%s_intra_", operation);
    while (file && getline(&line, &bytes, file) >= 0) {
        char *name = strstr(line, beginning), *from = strstr(line, "binding file ");
        if (!name || !from || bindings->count == MAX_BINDINGS)
            continue;
        name[strcspn(name, "'")] = '\0';
        from[strcspn(from, "[")] = '\0';
        char *slash = strrchr(from, '/'), both[TUNE_PATH_BYTES];
        snprintf(both, sizeof both, "%.100s: %.200s", slash ? slash + 1 : from, name);
        bindings->lines[bindings->count++] = strdup(both);
    }
    free(line);
    if (file)
        fclose(file);
}

/* Writes what all processes bound, and removes the files of the loader. */
static void collect_bindings(const tune_t *tune, const char *name, char functions[MAX_FUNCTIONS_BYTES])
{
    static bindings_t bindings;
    char path[TUNE_PATH_BYTES];
    DIR *folder = opendir(tune->directory);
    bindings.count = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (strncmp(entry->d_name, name, strlen(name)) != 0)
            continue;
        tune_path(tune, path, "%s", entry->d_name);
        read_bindings(path, tune->operation->name, &bindings);
        unlink(path);
    }
    if (folder)
        closedir(folder);
    qsort(bindings.lines, (size_t)bindings.count, sizeof bindings.lines[0], up);
    functions[0] = '\0';
    for (int i = 0; i < bindings.count; i++) {
        text_append(functions, MAX_FUNCTIONS_BYTES, "%s\n", bindings.lines[i]);
        free(bindings.lines[i]);
    }
}

static bool see_functions(const tune_t *tune, const char *file, int64_t bytes, int64_t ranks,
                          char functions[MAX_FUNCTIONS_BYTES])
{
    static const char name[] = "bindings.";
    char prefix[TUNE_PATH_BYTES], size[MAX_NAME_BYTES];
    tune_path(tune, prefix, "bindings");
    snprintf(size, sizeof size, "%lld", (long long)bytes);
    const char *const words[] = {"use", tune->operation->name, size, prefix, NULL};
    probe_end_t end = tune_probe(tune, ranks, file, words);
    collect_bindings(tune, name, functions);
    bool good = end.is_good && functions[0] != '\0';
    probe_end_free(&end);
    return good;
}

/* The same functions as with a rule for this size alone, and others than without a file; or the other way round. */
static sight_t look(const tune_t *tune, const char *file, int which, int64_t bytes, int64_t ranks)
{
    static char with_file[MAX_FUNCTIONS_BYTES], without[MAX_FUNCTIONS_BYTES], alone[MAX_FUNCTIONS_BYTES];
    char path[TUNE_PATH_BYTES], complaint[COMPLAINT_BYTES];
    range_t one = {.first_bytes = bytes, .last_bytes = bytes, .candidate = tune->ranges[which].candidate};
    tune_path(tune, path, "alone.%s", tune->library->suffix);
    if (!see_functions(tune, NULL, bytes, ranks, without) || !see_functions(tune, file, bytes, ranks, with_file))
        return SIGHT_UNKNOWN;
    if (strcmp(with_file, without) == 0)
        return SIGHT_USUAL;
    bool good = write_rules(tune, &one, 1, path, complaint) && see_functions(tune, path, bytes, ranks, alone);
    unlink(path);
    return good && strcmp(with_file, alone) == 0 ? SIGHT_RULE : SIGHT_UNKNOWN;
}

const library_t library_open_mpi = {"Open MPI", "rules",     is_open_mpi,     enumerate,
                                    min_bytes,  write_rules, set_environment, look};
