/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * open_mpi.c - the component "tuned" of Open MPI, which reads a file of rules.
 *
 * Up to 5.0 the file is numbers: for each collective operation, sets of rules by number of ranks, and in each set,
 * sizes from which an algorithm holds. A set holds up to the next one, and the first for all smaller communicators.
 * 5.0.7 has a version 2 of it, with the most requests of an algorithm. From 6.0 on, the file is JSON with ranges of
 * both and algorithms by name.
 *
 * Components of greater priority go before tuned. From 5.0 on, on several nodes, "han" does. A second file, PATH.nodes,
 * makes han give to tuned what the rules are for, and nothing else.
 */
#define _GNU_SOURCE /* getline */
#include "common/cli/text.h"
#include "bench/tune/tune.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FUNCTIONS_BYTES = 8192, MAX_BINDINGS = 256 };

static bool is_open_mpi(const char *version)
{
    return strncmp(version, "Open MPI", 8) == 0;
}

/* A version as one number. */
#define VERSION(major, minor, release) (((major)*1000 + (minor)) * 1000 + (release))
enum { FIRST_OF_HAN = VERSION(5, 0, 0), FIRST_OF_REQUESTS = VERSION(5, 0, 7), FIRST_OF_JSON = VERSION(6, 0, 0) };

static int version_of(const tune_t *tune)
{
    int major = 0, minor = 0, release = 0;
    sscanf(text_at(tune->listing, "library"), "%*[^0-9]%d.%d.%d", &major, &minor, &release);
    return VERSION(major, minor, release);
}

static bool has_requests(const tune_t *tune)
{
    return version_of(tune) >= FIRST_OF_REQUESTS && version_of(tune) < FIRST_OF_JSON;
}

/* ---- What goes before tuned, as the library tells when it makes a communicator */

/*
 * Lists components of greater priority, by the lines of one process about MPI_COMM_WORLD. Its lines begin with its host
 * and id, up to a bracket. Components come by ascending priority.
 */
static void list_before(const char *told, char before[BEFORE_BYTES])
{
    static const char of_communicators[] = "] coll:base:comm_select: new communicator: ";
    const char *line = strstr(told, of_communicators);
    if (!line)
        return;
    const char *end = memrchr(told, '\n', (size_t)(line - told)), *process = end ? end + 1 : told;
    size_t length = (size_t)(line - process);
    for (bool is_after = false; (line = strchr(line, '\n'));) {
        char name[MAX_NAME_BYTES], state[MAX_NAME_BYTES];
        int priority;
        if (strncmp(++line, process, length) != 0)
            continue;
        if (strncmp(line + length, of_communicators, sizeof of_communicators - 1) == 0)
            break;
        if (sscanf(line + length, "] coll:base:comm_select: selecting %63[^,], priority %d, %63s", name, &priority,
                   state) != 3 ||
            strcmp(state, "Enabled") != 0)
            continue;
        if (is_after)
            text_append(before, BEFORE_BYTES, "%s%s (priority %d)", before[0] != '\0' ? ", " : "", name, priority);
        is_after |= strcmp(name, "tuned") == 0;
    }
}

static void find_before(const tune_t *tune, char before[BEFORE_BYTES])
{
    const char *const words[] = {"components", NULL};
    probe_end_t end = tune_probe(tune, tune->settings.ranks, NULL, words, QUEUE_TIMEOUT_S);
    list_before(end.error, before);
    probe_end_free(&end);
}

/* ---- Candidates */

static void add_candidate(tune_t *tune, const char *algorithm, json_int_t number, int64_t segment_bytes,
                          int64_t fan_out)
{
    char name[MAX_NAME_BYTES];
    snprintf(name, sizeof name, "%.40s", algorithm);
    if (segment_bytes > 0)
        text_append(name, sizeof name, "-%lld", (long long)segment_bytes);
    if (fan_out > 0)
        text_append(name, sizeof name, "-fan%lld", (long long)fan_out);
    candidate_t *candidate = tune_add_candidate(tune, name);
    if (!candidate)
        return;
    snprintf(candidate->algorithm, sizeof candidate->algorithm, "%s", algorithm);
    candidate->number = number;
    candidate->segment_bytes = segment_bytes;
    candidate->fan_out = fan_out;
}

static bool enumerate(tune_t *tune, char complaint[COMPLAINT_BYTES])
{
    const size_list_t *segments = &tune->settings.segments;
    const number_list_t *fan_outs = &tune->settings.fan_outs;
    char variable[MAX_NAME_BYTES];
    snprintf(variable, sizeof variable, "coll_tuned_%s_algorithm", tune->operation->name);
    const json_t *items = json_object_get(json_object_get(tune->listing, "algorithms"), variable);
    if (!items)
        return complain(complaint, "this Open MPI has no variable %s", variable);
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        json_int_t number = json_integer_value(json_object_get(item, "value"));
        /* 0 leaves the choice to the library. */
        for (int k = 0; number > 0 && k < segments->count; k++)
            for (int m = 0; m < fan_outs->count; m++) {
                if (tune->candidate_count == MAX_CANDIDATES)
                    return complain(complaint, "there are more than %d candidates, give fewer --segments or --fan-outs",
                                    MAX_CANDIDATES);
                add_candidate(tune, text_at(item, "name"), number, segments->bytes[k], (int64_t)fan_outs->values[m]);
            }
    }
    return true;
}

/* ---- The file */

/* What the library compares with the limits of a rule, for a size as mpix_bench has it. */
static int64_t compared(const tune_t *tune, int64_t bytes)
{
    const shape_t *shape = tune->operation->shape;
    bool has_blocks = (shape->send & BLOCKS) == PER_RANK || (shape->receive & BLOCKS) == PER_RANK;
    return has_blocks && bytes < INT64_MAX ? bytes * tune->settings.ranks : bytes;
}

/* From so many bytes on, an algorithm holds, or the library's choice if it is NULL. */
typedef struct limit {
    int64_t bytes;
    const candidate_t *candidate;
} limit_t;

/* Where ranges begin and end, as multiples of a scale. The first limit has to be 0. */
static int list_limits(const range_t *ranges, int count, int64_t scale, limit_t limits[2 * MAX_RANGES + 1])
{
    int listed = 0;
    if (ranges[0].first_bytes > 0)
        limits[listed++] = (limit_t){0, NULL};
    for (int i = 0; i < count; i++) {
        bool is_followed = i + 1 < count && ranges[i].last_bytes + 1 == ranges[i + 1].first_bytes;
        limits[listed++] = (limit_t){ranges[i].first_bytes * scale, ranges[i].candidate};
        if (ranges[i].last_bytes < INT64_MAX && !is_followed)
            limits[listed++] = (limit_t){ranges[i].last_bytes * scale + 1, NULL};
    }
    return listed;
}

static void write_limit(FILE *file, const tune_t *tune, const limit_t *limit, bool is_of_han)
{
    static const candidate_t usual = {.name = "the library's choice"};
    const candidate_t *candidate = limit->candidate ? limit->candidate : &usual;
    if (is_of_han)
        fprintf(file, "%lld %s\n", (long long)limit->bytes, limit->candidate ? "tuned" : "han");
    else
        fprintf(file, "%lld %lld %lld %lld%s # %s\n", (long long)limit->bytes, (long long)candidate->number,
                (long long)candidate->fan_out, (long long)candidate->segment_bytes, has_requests(tune) ? " 0" : "",
                candidate->name);
}

/* Sets of limits: for fewer ranks, for those of the tuning, and for more. */
static void write_numbers(FILE *file, const tune_t *tune, const range_t *ranges, int count, bool is_of_han)
{
    static const limit_t usual = {0, NULL};
    limit_t limits[2 * MAX_RANGES + 1];
    /* If each rank has a block, han compares the size of one block, where tuned compares that of all. */
    int listed = list_limits(ranges, count, is_of_han ? 1 : compared(tune, 1), limits);
    int64_t ranks = tune->settings.ranks;
    fprintf(file, "%s1 # operations\n%d # %s\n%s", !is_of_han && has_requests(tune) ? "rule-file-version-2\n" : "",
            tune->open_mpi_number, tune->operation->name, is_of_han ? "1 # level\n2 # all nodes\n" : "");
    fprintf(file, "%d # sets of limits, by ranks\n", ranks == 1 ? 2 : 3);
    if (ranks > 1) {
        fprintf(file, "1 # rank, and all up to the next set\n1 # limit\n");
        write_limit(file, tune, &usual, is_of_han);
    }
    fprintf(file, "%lld # ranks\n%d # limits in bytes\n", (long long)ranks, listed);
    for (int i = 0; i < listed; i++)
        write_limit(file, tune, &limits[i], is_of_han);
    fprintf(file, "%lld # ranks or more\n1 # limit\n", (long long)ranks + 1);
    write_limit(file, tune, &usual, is_of_han);
}

static json_t *json_rule(const tune_t *tune, const range_t *range)
{
    const candidate_t *candidate = range->candidate;
    json_t *last = range->last_bytes < INT64_MAX ? json_integer(compared(tune, range->last_bytes)) : json_string("inf");
    return json_pack("{s:I, s:o, s:s, s:I, s:I}", "msg_size_min", (json_int_t)compared(tune, range->first_bytes),
                     "msg_size_max", last, "alg", candidate->algorithm, "seg_size",
                     (json_int_t)candidate->segment_bytes, "faninout", (json_int_t)candidate->fan_out);
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

static bool write_file(const tune_t *tune, const range_t *ranges, int count, bool is_beside, FILE *file)
{
    if (!is_beside && version_of(tune) >= FIRST_OF_JSON)
        return write_json(file, tune, ranges, count);
    if (!is_beside || version_of(tune) >= FIRST_OF_HAN)
        write_numbers(file, tune, ranges, count, is_beside);
    return !is_beside || version_of(tune) >= FIRST_OF_HAN;
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

static bool is_listed(const bindings_t *bindings, const char *line)
{
    int i = 0;
    while (i < bindings->count && strcmp(bindings->lines[i], line) != 0)
        i++;
    return i < bindings->count;
}

/*
 * Adds the functions of the operation that one process bound, and from where: once, however many processes did. Some
 * are bound before any call.
 */
static void read_bindings(const char *path, const char *operation, bindings_t *bindings)
{
    char beginning[MAX_NAME_BYTES], *line = NULL;
    size_t bytes = 0;
    FILE *file = fopen(path, "r");
    snprintf(beginning, sizeof beginning, "ompi_coll_base_%s_intra_", operation);
    while (file && getline(&line, &bytes, file) >= 0) {
        char *name = strstr(line, beginning), *from = strstr(line, "binding file ");
        if (!name || !from)
            continue;
        name[strcspn(name, "'")] = '\0';
        from[strcspn(from, "[")] = '\0';
        char *slash = strrchr(from, '/'), both[TUNE_PATH_BYTES];
        snprintf(both, sizeof both, "%.100s: %.200s", slash ? slash + 1 : from, name);
        if (bindings->count < MAX_BINDINGS && !is_listed(bindings, both))
            bindings->lines[bindings->count++] = strdup(both);
    }
    free(line);
    if (file)
        fclose(file);
}

/* Writes what any process bound, and removes the files of the loader. */
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
    probe_end_t end = tune_probe(tune, ranks, file, words, PROBE_TIMEOUT_S);
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
    bool good = tune_write(tune, &one, 1, path, complaint) && see_functions(tune, path, bytes, ranks, alone);
    tune_remove(path);
    return good && strcmp(with_file, alone) == 0 ? SIGHT_RULE : SIGHT_UNKNOWN;
}

const library_t library_open_mpi = {
    "Open MPI",
    "rules",
    is_open_mpi,
    find_before,
    enumerate,
    NULL,
    write_file,
    {{{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"}, {"OMPI_MCA_coll_tuned_dynamic_rules_filename", NULL}},
     {{"OMPI_MCA_coll_han_use_dynamic_file_rules", "1"}, {"OMPI_MCA_coll_han_dynamic_rules_filename", NULL}}},
    look};
