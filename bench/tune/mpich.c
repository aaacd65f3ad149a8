/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpich.c - MPICH's selection tree: JSON, in which a key is a condition or an algorithm, and of the conditions beside
 * each other the first that holds counts.
 *
 * A file replaces the whole tree that the library has compiled in, so rules are put into a copy of that. Every chain of
 * conditions has to end in one that always holds. An algorithm is called without a check of what it needs, so a rule
 * holds where all are right: vectors are reduced by the standard's operations and have at least as many elements as
 * ranks, blocks are reduced by operations that commute, and MPI_Alltoall has buffers of its own.
 *
 * On several nodes, a tree of compositions goes before this one: they have one algorithm for the ranks of a node, and
 * another for the nodes. A second file, PATH.nodes, takes the composition of a single algorithm where rules are.
 */
#define _GNU_SOURCE /* memmem */
#include "bench/tune/tune.h"
#include "bench/tune/paged_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { KEY_BYTES = 160, ELEMENT_BYTES = 4 };

static bool is_mpich(const char *version)
{
    return strncmp(version, "MPICH", 5) == 0;
}

/* ---- What the library has compiled in */

typedef struct bytes {
    char *data;
    size_t count;
} bytes_t;

/* A whole file; nothing if it cannot be read. The caller frees it. */
static bytes_t read_file(const char *path)
{
    bytes_t all = {NULL, 0};
    struct stat status;
    FILE *file = fopen(path, "re");
    if (file && fstat(fileno(file), &status) == 0 && status.st_size > 0)
        all.data = malloc((size_t)status.st_size);
    if (all.data)
        all.count = fread(all.data, 1, (size_t)status.st_size, file);
    if (file)
        fclose(file);
    return all;
}

/* The next text of the file that begins so, from a place on; NULL if there is none. It ends within the file. */
static const char *find_text(bytes_t all, const char *from, const char *beginning)
{
    size_t left = all.count - (size_t)(from - all.data);
    const char *text = memmem(from, left, beginning, strlen(beginning));
    return text && memchr(text, '\0', all.count - (size_t)(text - all.data)) ? text : NULL;
}

/* There are three trees: of compositions, of what goes through shared memory, and of all other algorithms. */
static json_t *find_tree(bytes_t all, bool of_compositions)
{
    static const char beginning[] = "{\"collective=";
    for (const char *at = all.data; at && (at = find_text(all, at, beginning)); at += strlen(at))
        if (!strstr(at, "POSIX") && (strstr(at, "composition=") != NULL) == of_compositions) {
            json_t *tree = json_loads(at, 0, NULL);
            if (tree)
                return tree;
        }
    return NULL;
}

static json_t *load_tree(const tune_t *tune, bool of_compositions)
{
    bytes_t all = read_file(text_at(tune->listing, "path"));
    json_t *tree = find_tree(all, of_compositions);
    free(all.data);
    return tree;
}

/* ---- Candidates */

/* The parameters with which the tree calls an algorithm somewhere, or none. */
static json_t *find_parameters(json_t *tree, const char *leaf)
{
    json_t *found = NULL;
    for (void *at = json_object_iter(tree); at && !found; at = json_object_iter_next(tree, at)) {
        json_t *value = json_object_iter_value(at);
        bool is_it = strcmp(json_object_iter_key(at), leaf) == 0 && json_object_size(value) > 0;
        found = is_it ? value : find_parameters(value, leaf);
    }
    return found;
}

static void add_candidate(tune_t *tune, json_t *tree, const char *leaf, const char *name)
{
    json_t *parameters = find_parameters(tree, leaf);
    candidate_t *candidate = tune_add_candidate(tune, name);
    if (candidate)
        candidate->leaf = json_pack("{s:o}", leaf, parameters ? json_deep_copy(parameters) : json_object());
}

static bool enumerate(tune_t *tune, char complaint[COMPLAINT_BYTES])
{
    char beginning[KEY_BYTES];
    if (tune_is_of(tune, "gather") || tune_is_of(tune, "scatter"))
        return complain(complaint,
                        "MPICH cannot be tuned for %s: sizes differ between the root and others, which hangs with "
                        "MPI_IN_PLACE",
                        tune->operation->name);
    bytes_t all = read_file(text_at(tune->listing, "path"));
    json_t *tree = find_tree(all, false);
    int length =
        snprintf(beginning, sizeof beginning, "algorithm=MPIR_%s_intra_", tune->operation->function + strlen("MPI_"));
    for (const char *at = all.data; tree && at && (at = find_text(all, at, beginning)); at += strlen(at))
        if (at[length] != '\0' && !strpbrk(at, "\"% "))
            add_candidate(tune, tree, at, at + length);
    free(all.data);
    if (!tree)
        return complain(complaint, "there is no selection tree in %.400s", text_at(tune->listing, "path"));
    json_decref(tree);
    return true;
}

static bool reduces_vectors(const tune_t *tune)
{
    return tune_is_of(tune, "allreduce") || tune_is_of(tune, "reduce");
}

static int64_t min_bytes(const tune_t *tune)
{
    int64_t power = 1;
    while (2 * power <= tune->settings.ranks)
        power *= 2;
    return reduces_vectors(tune) ? power * ELEMENT_BYTES : 0;
}

/* ---- The file */

/* What the library compares with the limits of a rule, for a size as mpix_bench has it. */
static void limit_key(const tune_t *tune, int64_t bytes, char key[KEY_BYTES])
{
    bool is_total = tune_is_of(tune, "allgather") || tune_is_of(tune, "reduce_scatter");
    const char *name = is_total ? "total_msg_size" : "avg_msg_size";
    if (bytes == INT64_MAX)
        snprintf(key, KEY_BYTES, "%s=any", name);
    else
        snprintf(key, KEY_BYTES, "%s<=%lld", name, (long long)(is_total ? bytes * tune->settings.ranks : bytes));
}

/* An algorithm where it is right, else as usual. */
static json_t *guarded(const tune_t *tune, json_t *leaf, json_t *usual)
{
    if (reduces_vectors(tune))
        return json_pack("{s:{s:O, s:O}, s:O}", "is_op_built_in=yes", "count<pow2", usual, "count=any", leaf,
                         "is_op_built_in=no", usual);
    if (tune_is_of(tune, "reduce_scatter"))
        return json_pack("{s:O, s:O}", "is_commutative=yes", leaf, "is_commutative=no", usual);
    if (tune_is_of(tune, "alltoall"))
        return json_pack("{s:O, s:O}", "is_sendbuf_inplace=yes", usual, "is_sendbuf_inplace=no", leaf);
    return json_incref(leaf);
}

/* The leaf in all ranges, or if it is NULL, those of their candidates. */
static json_t *limits(const tune_t *tune, const range_t *ranges, int count, json_t *leaf, json_t *usual)
{
    json_t *all = json_object();
    char key[KEY_BYTES];
    for (int i = 0; i < count; i++) {
        if (ranges[i].first_bytes > 0) {
            limit_key(tune, ranges[i].first_bytes - 1, key);
            if (!json_object_get(all, key))
                json_object_set(all, key, usual);
        }
        limit_key(tune, ranges[i].last_bytes, key);
        json_object_set_new(all, key, guarded(tune, leaf ? leaf : ranges[i].candidate->leaf, usual));
    }
    limit_key(tune, INT64_MAX, key);
    if (!json_object_get(all, key))
        json_object_set(all, key, usual);
    return all;
}

static void ranks_key(const tune_t *tune, const char *relation, char key[KEY_BYTES])
{
    snprintf(key, KEY_BYTES, "comm_size%s%lld", relation, (long long)tune->settings.ranks);
}

static json_t *find_operation(const json_t *tree, const tune_t *tune)
{
    char key[KEY_BYTES];
    snprintf(key, sizeof key, "collective=%s", tune->operation->name);
    return json_object_get(tree, key);
}

static const char intra[] = "comm_type=intra";

/* Puts ranges into a tree, with a leaf for all or NULL. Returns false if it has no place for them. */
static bool put_ranges(const tune_t *tune, json_t *tree, const range_t *ranges, int count, json_t *leaf)
{
    char below[KEY_BYTES], exactly[KEY_BYTES];
    json_t *operation = find_operation(tree, tune), *usual = json_object_get(operation, intra);
    if (!usual)
        return false;
    ranks_key(tune, "<", below);
    ranks_key(tune, "<=", exactly);
    json_t *by_ranks = json_pack("{s:O, s:o, s:O}", below, usual, exactly, limits(tune, ranges, count, leaf, usual),
                                 "comm_size=any", usual);
    return by_ranks && json_object_set_new(operation, intra, by_ranks) == 0;
}

static bool write_tree(const json_t *tree, FILE *file)
{
    char *text = json_dumps(tree, JSON_INDENT(1));
    bool good = text && paged_text_write(file, text);
    free(text);
    return good;
}

/* The composition that hands on to an algorithm is the one for all that no other condition holds for: the last. */
static json_t *find_plain(json_t *tree)
{
    json_t *inner = NULL;
    for (void *at = json_object_iter(tree); at; at = json_object_iter_next(tree, at))
        inner = json_object_iter_value(at);
    return json_object_size(inner) > 0 ? find_plain(inner) : tree;
}

/*
 * Beside it is the tree of compositions, if there is one. On one node, where compositions use the tree of algorithms,
 * it is not needed.
 */
static bool write_file(const tune_t *tune, const range_t *ranges, int count, bool is_beside, FILE *file)
{
    json_t *tree = load_tree(tune, is_beside), *plain = NULL;
    if (is_beside)
        plain = json_deep_copy(find_plain(json_object_get(find_operation(tree, tune), intra)));
    bool good = tree && (plain || !is_beside) && put_ranges(tune, tree, ranges, count, plain) && write_tree(tree, file);
    json_decref(plain);
    json_decref(tree);
    return good;
}

/* ---- Proof: with another operation's algorithm in a rule's place, a call that comes to the rule ends the program */

static bool poison(const tune_t *tune, json_t *tree, const range_t *range)
{
    char below[KEY_BYTES], exactly[KEY_BYTES], limit[KEY_BYTES];
    json_t *leaf = json_pack("{s:{}}", "algorithm=MPIR_Scan_intra_recursive_doubling");
    ranks_key(tune, "<", below);
    ranks_key(tune, "<=", exactly);
    limit_key(tune, range->last_bytes, limit);
    json_t *by_ranks = json_object_get(find_operation(tree, tune), intra), *usual = json_object_get(by_ranks, below);
    json_t *ranges = json_object_get(by_ranks, exactly);
    bool good = leaf && usual && json_object_get(ranges, limit) &&
                json_object_set_new(ranges, limit, guarded(tune, leaf, usual)) == 0;
    json_decref(leaf);
    return good;
}

static bool has_returned(const probe_end_t *end)
{
    return end->is_good && strstr(end->output, probe_used);
}

/* What a launch with a poisoned file shows: the rule by MPICH's own message, which may get lost, or by two failures. */
static sight_t look_poisoned(const tune_t *tune, const char *path, const char *const *words, int64_t ranks)
{
    sight_t sight = SIGHT_UNKNOWN;
    bool is_certain = false;
    for (int i = 0; i < 2 && !is_certain && sight != SIGHT_USUAL; i++) {
        probe_end_t end = tune_probe(tune, ranks, path, words, PROBE_TIMEOUT_S);
        is_certain = strstr(end.error, "mpir_coll") || strstr(end.output, "mpir_coll");
        if (is_certain || !has_returned(&end))
            sight = is_certain || end.has_ended ? SIGHT_RULE : SIGHT_UNKNOWN;
        else
            sight = SIGHT_USUAL;
        probe_end_free(&end);
    }
    return sight;
}

/* Whether the call returns with the file as it is. A launch that fails for another reason is tried again. */
static bool returns(const tune_t *tune, const char *file, const char *const *words, int64_t ranks)
{
    bool good = false;
    for (int i = 0; i < 2 && !good; i++) {
        probe_end_t end = tune_probe(tune, ranks, file, words, PROBE_TIMEOUT_S);
        good = has_returned(&end);
        probe_end_free(&end);
    }
    return good;
}

static sight_t look(const tune_t *tune, const char *file, int which, int64_t bytes, int64_t ranks)
{
    char path[TUNE_PATH_BYTES], size[MAX_NAME_BYTES], complaint[COMPLAINT_BYTES];
    json_t *tree = json_load_file(file, 0, NULL);
    tune_path(tune, path, "poison.json");
    bool good = tree && poison(tune, tree, &tune->ranges[which]) &&
                tune_write(tune, tune->ranges, tune->range_count, path, complaint);
    FILE *poisoned_file = good ? fopen(path, "w") : NULL;
    good = poisoned_file && write_tree(tree, poisoned_file);
    json_decref(tree);
    if (!poisoned_file || fclose(poisoned_file) != 0 || !good)
        return SIGHT_UNKNOWN;
    snprintf(size, sizeof size, "%lld", (long long)bytes);
    const char *const words[] = {"use", tune->operation->name, size, NULL};
    const sight_t poisoned = look_poisoned(tune, path, words, ranks);
    const sight_t sight = returns(tune, file, words, ranks) ? poisoned : SIGHT_UNKNOWN;
    tune_remove(path);
    return sight;
}

static void find_before(const tune_t *tune, char before[BEFORE_BYTES])
{
    if (tune_has_nodes(tune))
        snprintf(before, BEFORE_BYTES, "compositions of an algorithm for each node and one for all");
}

const library_t library_mpich = {
    "MPICH",
    "json",
    is_mpich,
    find_before,
    enumerate,
    min_bytes,
    write_file,
    {{{"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", NULL}}, {{"MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE", NULL}}},
    look};
