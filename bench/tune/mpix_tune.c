/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_tune - find out which algorithms of a collective operation are faster than those that the MPI library chooses,
 * write the library's own tuning file, and show that it is in force.
 */
#include "common/arrival/arrival.h"
#include "bench/campaign/launch.h"
#include "common/cli/variables.h"
#include "pure/statistics.h"
#include "common/results/table.h"
#include "bench/tune/tune.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIGNALED = 128 };

/* ---- Options */

#define FIELD(field) offsetof(tune_settings_t, field)

static const option_spec_t options[] = {
    {'n', "ranks", "N", OPTION_INTEGER, FIELD(ranks), .min = 1, .max = 1e6, .default_text = "2",
     .doc = "the number of ranks for which the file holds",
     .more = "For all other numbers the library chooses as before."},
    {'m', "message-size", "SIZES", OPTION_SIZES, FIELD(sizes), .min = 1, .max = 1 << 30,
     .default_text = "8,64,512,4K,32K,256K", .doc = "message sizes in bytes",
     .more = "MIN:MAX doubles from MIN to MAX."},
    {'i', "iterations", "N", OPTION_INTEGER, FIELD(iterations), .min = 1, .max = 1e6, .default_text = "300",
     .doc = "valid samples for each size in a launch"},
    {0, "arrival", "PATTERNS", OPTION_TEXT, FIELD(arrival), .default_doc = "all ranks start together",
     .doc = "choose for these arrivals, which mpix_bench(1) describes, by the time from the last arrival to the last "
            "exit",
     .more = "Such as those of an application. The median time counts. "
             "Magnitudes are in microseconds, so that each algorithm meets the same arrivals. "
             "Of several patterns, the one with the least gain counts."},
    {0, "segments", "SIZES", OPTION_SIZES, FIELD(segments), .max = 1 << 30, .default_text = "0",
     .doc = "with Open MPI, try each algorithm with segments of these sizes, such as 0,64K, or 64K:64K for one; 0 is "
            "as the library does"},
    {0, "fan-outs", "LIST", OPTION_NUMBERS, FIELD(fan_outs), .max = 1 << 20, .default_text = "0",
     .doc = "with Open MPI, try each algorithm with trees of so many children; 0 is as the library does"},
    {0, "commutative-only", NULL, OPTION_SWITCH, FIELD(commutative_only),
     .doc = "also take algorithms that are wrong for operations that do not commute",
     .more = "Programs with such operations then get wrong results."},
    {0, "min-gain-percent", "PERCENT", OPTION_PERCENT, FIELD(min_gain_percent), .max = 99, .default_text = "5",
     .doc = "the least gain that is worth a rule"},
    {0, "level-percent", "PERCENT", OPTION_PERCENT, FIELD(level_percent), .min = 0.01, .max = 50, .default_text = "5",
     .doc = "how often a file may have a rule without a gain"},
    {0, "budget-s", "S", OPTION_DECIMAL, FIELD(budget_s), .min = 1, .max = 1e7, .default_text = "240",
     .doc = "the time that measuring may take",
     .more = "A quarter is for the screening, half for the choice, a quarter for the confirmation. "
             "The first launches, one of each algorithm, share the first quarter. Later, a launch that takes four "
             "times as long as usual, and 5 s longer, is ended. If launches take longer than before, so that the time "
             "is over before the end, nothing is started any more, and the same command continues with as much again."},
    {0, "bench", "PROGRAM", OPTION_TEXT, FIELD(bench), .default_doc = "mpix_bench",
     .doc = "what measures, with the options and the output of mpix_bench(1)"},
    SEED_OPTION(FIELD(seed), .doc = "the seed of the order of launches"),
    {'o', "output", "DIR", OPTION_TEXT, FIELD(directory), .default_text = "tuning",
     .doc = "the folder of the tuning; if it has one, it continues",
     .more = "All ranks must be able to read it: if one cannot, a line names its host, and nothing is measured."},
    FORMAT_OPTION(FIELD(output.format), " With csv and json, all else goes to standard error."),
};
static const option_spec_t operand = {0, "operation", "OPERATION", OPTION_TEXTS, .place = FIELD(operands)};

static const char usage[] = "mpix_tune [OPTION]... OPERATION -- LAUNCHER [ARGUMENT]...";
static const char notes[] =
    "OPERATION is allgather, allreduce, alltoall, bcast, gather, reduce, reduce_scatter, or scatter. LAUNCHER and its\n"
    "arguments start MPI programs; {ranks} in them stands for the number of ranks: mpiexec -n {ranks}.\n"
    "\n"
    "Each algorithm of the MPI library is called with random arguments; those whose results are wrong are left\n"
    "out. A screening by mpix_bench finds the best, other launches choose from these, and mpix_compare's test says\n"
    "where one is faster than the library's own choice. DIR/tuned.json or DIR/tuned.rules has a rule for each range\n"
    "of sizes that gains, and holds for the number of ranks alone. Launches with the file show that each rule is in\n"
    "force at both ends of its range and not beside it, and measure the gain again. What is not shown is not in the\n"
    "file.\n"
    "\n"
    "Exit status: 0 if the file is in force, or if the library's own choice is the best; 1 if a rule could not be\n"
    "shown to be in force or did not gain again, or a launch failed; 2 for a bad option; 128 and the number of a\n"
    "signal.\n";

/* ---- Results */

enum { OPERATION, FIRST, LAST, ALGORITHM, RATIO, RATIO_LOW, RATIO_HIGH, CONFIRMED, VERDICT, COLUMNS };

#define NUMBER(name, doc, title)                                 \
    {                                                            \
        name, "", ROLE_FIGURE, TYPE_NUMBER, doc, title, 11, 3, 0 \
    }

static const column_t columns[COLUMNS] = {
    [OPERATION] = {"operation", "", ROLE_KEY, TYPE_TEXT, "the operation", "operation", 16, 0, 0},
    [FIRST] = {"first_bytes", "bytes", ROLE_KEY, TYPE_INTEGER, "the smallest size of the rule", "from bytes", 12, 0, 0},
    [LAST] = {"last_bytes", "bytes", ROLE_KEY, TYPE_INTEGER, "the largest size of it", "to bytes", 12, 0, 0},
    [ALGORITHM] = {"algorithm", "", ROLE_FIGURE, TYPE_TEXT, "the algorithm, by the MPI library's name", "algorithm", 26,
                   0, 0},
    [RATIO] = NUMBER("ratio", "its time by that of the library's own choice: geometric mean over the sizes", "ratio"),
    [RATIO_LOW] = NUMBER("ratio_low", "lower limit of the widest interval of a size", "low"),
    [RATIO_HIGH] = NUMBER("ratio_high", "upper limit of it", "high"),
    [CONFIRMED] = NUMBER("confirmed_ratio", "the ratio in fresh launches with the file", "confirmed"),
    [VERDICT] = {"verdict", "", ROLE_FIGURE, TYPE_TEXT, "in force, or why there is no such rule in the file", "verdict",
                 0, 0, 0},
};
static const schema_t tune_schema =
    SCHEMA("mpix-tune", "A row is a range of sizes for which an algorithm was chosen.", columns);

static void print_ranges(const tune_t *tune)
{
    static head_t head;
    const table_t table = TABLE(tune_schema, &tune->settings.output);
    head_add(&head, "mpi_library", "%s", text_at(tune->listing, "library"));
    head_add(&head, "ranks", "%lld", (long long)tune->settings.ranks);
    if (tune->settings.arrival)
        head_add(&head, "arrival", "%s", tune->settings.arrival);
    table_head(&table, head.items, head.count);
    for (int i = 0; i < tune->range_count; i++) {
        const range_t *range = &tune->ranges[i];
        const cell_t cells[COLUMNS] = {
            [OPERATION] = text_cell(tune->operation->name),
            [FIRST] = number_cell((double)range->first_bytes),
            [LAST] = number_cell((double)range->last_bytes),
            [ALGORITHM] = text_cell(range->candidate->name),
            [RATIO] = number_cell(range->ratio),
            [RATIO_LOW] = number_cell(range->low),
            [RATIO_HIGH] = number_cell(range->high),
            [CONFIRMED] = range->confirmed > 0 ? number_cell(range->confirmed) : text_cell(""),
            [VERDICT] = text_cell(range->unproven ? range->unproven : "in force"),
        };
        table_row(&table, cells);
    }
}

/* ---- Telling */

static void say_candidates(const tune_t *tune, FILE *file)
{
    int count = 0;
    for (int i = 0; i < tune->candidate_count; i++)
        count += !tune->candidates[i].excluded;
    fprintf(file, "# %s, %s with %lld ranks: %d of %d algorithms are right\n", tune->library->name,
            tune->operation->name, (long long)tune->settings.ranks, count, tune->candidate_count);
    if (!tune->in_place && operation_allows_in_place(tune->operation))
        fprintf(file, "# not checked with MPI_IN_PLACE, with which the library fails by its own choice, too\n");
    for (int i = 0; i < tune->candidate_count; i++)
        if (tune->candidates[i].excluded)
            fprintf(file, "# %s: %s\n", tune->candidates[i].name, tune->candidates[i].excluded);
    fflush(file);
}

static void say_before(const tune_t *tune, FILE *file)
{
    char before[BEFORE_BYTES] = "";
    tune->library->find_before(tune, before);
    if (before[0] != '\0')
        fprintf(file, "# Before the algorithms of a file, %s uses: %s\n", tune->library->name, before);
    fflush(file);
}

static void say_use(const tune_t *tune, const char *file, FILE *to)
{
    json_t *environment = json_object();
    tune_set_environment(tune, environment, file);
    fprintf(to, "# To use it:");
    for (void *at = json_object_iter(environment); at; at = json_object_iter_next(environment, at))
        fprintf(to, " %s=%s", json_object_iter_key(at), json_string_value(json_object_iter_value(at)));
    fprintf(to, "\n");
    json_decref(environment);
}

/* ---- The folder */

static json_t *describe_sizes(const size_list_t *list)
{
    json_t *sizes = json_array();
    for (int i = 0; i < list->count; i++)
        json_array_append_new(sizes, json_integer(list->bytes[i]));
    return sizes;
}

static json_t *describe(const tune_t *tune)
{
    const tune_settings_t *settings = &tune->settings;
    json_t *fan_outs = json_array(), *launcher = tune_command(tune, settings->ranks);
    for (int i = 0; i < settings->fan_outs.count; i++)
        json_array_append_new(fan_outs, json_integer((json_int_t)settings->fan_outs.values[i]));
    return json_pack(
        "{s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:I, s:s, s:I, s:b, s:f, s:f, s:I}", "operation", tune->operation->name,
        "library", text_at(tune->listing, "library"), "ranks", (json_int_t)settings->ranks, "sizes",
        describe_sizes(&settings->sizes), "segments", describe_sizes(&settings->segments), "fan_outs", fan_outs,
        "launcher", launcher, "nodes", json_integer_value(json_object_get(tune->listing, "nodes")), "arrival",
        settings->arrival ? settings->arrival : "", "iterations", (json_int_t)settings->iterations, "commutative_only",
        (int)settings->commutative_only, "min_gain_percent", settings->min_gain_percent, "level_percent",
        settings->level_percent, "seed", (json_int_t)settings->seed);
}

static bool make_folder(tune_t *tune, char complaint[COMPLAINT_BYTES])
{
    char path[PATH_MAX];
    const char *directory = tune->settings.directory;
    tune->has_made_folder = mkdir(directory, 0777) == 0;
    if (!tune->has_made_folder && errno != EEXIST)
        return complain(complaint, "cannot make the folder %.400s: %s", directory, strerror(errno));
    if (!realpath(directory, path) || strlen(path) >= TUNE_PATH_BYTES / 2)
        return complain(complaint, "cannot use the folder %.400s", directory);
    tune->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (tune->folder >= 0 && flock(tune->folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return complain(complaint, "another %s is at work in %.400s", tune_name, path);
    snprintf(tune->directory, sizeof tune->directory, "%s", path);
    json_t *text = json_string(path);
    json_decref(text);
    if (!text)
        return complain(complaint, "the folder %.400s has a path that is not UTF-8", path);
    tune_path(tune, path, "candidates");
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return complain(complaint, "cannot make the folder %.400s: %s", path, strerror(errno));
    return true;
}

/* A folder holds one tuning. A new one is not begun if there is no time: mpix_bench takes longer than a start, which a
 * queue may delay. */
static bool claim_folder(const tune_t *tune, char complaint[COMPLAINT_BYTES])
{
    const double max_start_s = 1;
    char path[TUNE_PATH_BYTES];
    tune_path(tune, path, "tuning.json");
    json_t *now = describe(tune), *before = json_load_file(path, 0, NULL);
    bool is_other = before && !json_equal(now, before), is_empty = access(path, F_OK) != 0;
    if (is_empty && !tune_has_time(tune, fmin(tune->start_s, max_start_s), complaint)) {
        json_decref(now);
        return false;
    }
    bool good = !is_other && (before || (is_empty && json_dump_file(now, path, JSON_INDENT(1)) == 0));
    json_decref(now);
    json_decref(before);
    if (is_other)
        return complain(complaint, "%.400s has a tuning of something else, give another folder by --output",
                        tune->directory);
    return good || complain(complaint, "cannot read or write %.400s", path);
}

/* Ours, if nothing came into it. */
static void drop_empty_folder(const tune_t *tune)
{
    char path[TUNE_PATH_BYTES];
    if (tune->directory[0] == '\0')
        return;
    tune_path(tune, path, "candidates");
    rmdir(path);
    if (tune->has_made_folder)
        rmdir(tune->directory);
}

/* ---- The whole */

static bool write_file(tune_t *tune, char path[TUNE_PATH_BYTES], char complaint[COMPLAINT_BYTES])
{
    range_t good[MAX_RANGES];
    int count = 0;
    tune_path(tune, path, "tuned.%s", tune->library->suffix);
    tune_remove(path);
    for (int i = 0; i < tune->range_count; i++) {
        range_t *range = &tune->ranges[i];
        if (i + 1 < tune->range_count && range[1].unproven)
            range->last_bytes = range->measured_last_bytes;
        if (!range->unproven)
            good[count++] = *range;
    }
    return count == 0 || tune_write(tune, good, count, path, complaint);
}

static int count_unproven(const tune_t *tune)
{
    int count = 0;
    for (int i = 0; i < tune->range_count; i++)
        count += tune->ranges[i].unproven != NULL;
    return count;
}

/* Each time that rules are dropped, the others are shown again, as the file is another one. */
static bool drop_unproven(tune_t *tune, char path[TUNE_PATH_BYTES], char complaint[COMPLAINT_BYTES])
{
    int unproven = 0;
    do {
        if (count_unproven(tune) > unproven && !write_file(tune, path, complaint))
            return false;
        unproven = count_unproven(tune);
        if (unproven < tune->range_count)
            tune_prove(tune, path);
    } while (count_unproven(tune) > unproven);
    return launch_signal() == 0 || complain(complaint, "interrupted");
}

/* A file whose proof was not finished does not stay. */
static bool settle(tune_t *tune, char path[TUNE_PATH_BYTES], char complaint[COMPLAINT_BYTES])
{
    bool good = write_file(tune, path, complaint) && tune_confirm(tune, path, complaint) &&
                drop_unproven(tune, path, complaint);
    if (!good)
        tune_remove(path);
    return good;
}

static bool find(tune_t *tune, char path[TUNE_PATH_BYTES], FILE *says, char complaint[COMPLAINT_BYTES])
{
    if (!tune_list(tune, complaint) || !claim_folder(tune, complaint))
        return false;
    say_before(tune, says);
    bool good = tune_find_candidates(tune, complaint);
    if (tune->candidate_count > 0)
        say_candidates(tune, says);
    return good && tune_measure(tune, complaint) && (tune->range_count == 0 || settle(tune, path, complaint));
}

static int report(const tune_t *tune, const char *path, FILE *says)
{
    int unproven = count_unproven(tune), good = tune->range_count - unproven;
    if (tune->range_count > 0 || tune->settings.output.format != FORMAT_TABLE)
        print_ranges(tune);
    if (tune->range_count == 0)
        fprintf(says, "# The library's own choice stays: no algorithm is faster by %g %%\n",
                tune->settings.min_gain_percent);
    if (good > 0) {
        fprintf(says, "# %d of %d rules are in %s\n", good, tune->range_count, path);
        say_use(tune, path, says);
    } else if (unproven > 0) {
        fprintf(says, "# No rule is recommended, and no file written\n");
    }
    return unproven > 0 ? STATUS_FAILED : STATUS_GOOD;
}

static int run(tune_t *tune)
{
    char complaint[COMPLAINT_BYTES], path[TUNE_PATH_BYTES];
    FILE *says = tune->settings.output.format == FORMAT_TABLE ? stdout : stderr; /* what is no result */
    launch_prepare();
    tune->left_s = tune->settings.budget_s;
    if (!make_folder(tune, complaint) || !find(tune, path, says, complaint)) {
        drop_empty_folder(tune);
        if (launch_signal() != 0) {
            fprintf(stderr, "%s: the same command continues the tuning in %s\n", tune_name, tune->directory);
            return SIGNALED + launch_signal();
        }
        fprintf(stderr, "%s: %s\n", tune_name, complaint);
        return STATUS_FAILED;
    }
    return report(tune, path, says);
}

/* ---- Beginning */

/* What can be tuned, and Open MPI's numbers, as its coll_base_functions.h has them. */
static const struct {
    const char *name;
    int open_mpi_number;
} tunable[] = {
    {"allgather", 0}, {"allreduce", 2}, {"alltoall", 3},        {"bcast", 7}, {"gather", 9},
    {"reduce", 11},   {"scatter", 15},  {"reduce_scatter", 12}, {NULL, 0},
};

static options_outcome_t find_operation(tune_t *tune)
{
    const text_list_t *operands = &tune->settings.operands;
    if (operands->count != 1)
        return options_refuse(tune_name, "give one OPERATION, and after -- the command that starts MPI programs");
    int place = names_find(NAMES(tunable), operands->texts[0]);
    if (place < 0)
        return options_refuse(tune_name,
                              "operation \"%.60s\" is not allowed, give allgather, allreduce, alltoall, bcast, gather, "
                              "reduce, reduce_scatter, or scatter",
                              operands->texts[0]);
    tune->operation = operation_at(operation_find(tunable[place].name));
    tune->open_mpi_number = tunable[place].open_mpi_number;
    return OPTIONS_RUN;
}

/* This program, and beside it the others that it starts; in a build tree, where libtool's scripts are. */
static void find_program(char path[TUNE_PATH_BYTES])
{
    static const char built[] = "/.libs/";
    ssize_t bytes = readlink("/proc/self/exe", path, TUNE_PATH_BYTES - 1);
    path[bytes > 0 ? bytes : 0] = '\0';
    char *folder = strstr(path, built);
    if (folder && !strchr(folder + sizeof built - 1, '/'))
        snprintf(folder + 1, TUNE_PATH_BYTES - (size_t)(folder + 1 - path), "%s", tune_name);
}

/* Ranges are of sizes in their order. */
static options_outcome_t list_sizes(tune_t *tune)
{
    size_list_t *sizes = &tune->settings.sizes;
    int64_t element_bytes = tune->operation->shape->reduces ? (int64_t)sizeof(float) : 1, count = 0;
    options_list_sizes(&tune->settings.segments, 2, 1);
    options_begin_sizes(sizes, element_bytes);
    int64_t wrong = options_list_sizes(sizes, 2, element_bytes);
    if (wrong >= 0)
        return options_refuse(tune_name, "option --message-size: %lld is not allowed, give multiples of %lld",
                              (long long)wrong, (long long)element_bytes);
    mh_sort(sizes->bytes, sizes->count);
    for (int64_t i = 0; i < sizes->count; i++)
        if (count == 0 || sizes->bytes[i] != sizes->bytes[count - 1])
            sizes->bytes[count++] = sizes->bytes[i];
    sizes->count = count;
    return OPTIONS_RUN;
}

/* One that is named without a folder is looked for as execvp does. */
static bool can_run(const char *program)
{
    const char *path = getenv("PATH");
    char file[TUNE_PATH_BYTES];
    if (strchr(program, '/') || !path)
        return access(program, X_OK) == 0;
    for (const char *end; *path; path = *end ? end + 1 : end) {
        end = path + strcspn(path, ":");
        snprintf(file, sizeof file, "%.*s/%.255s", end > path ? (int)(end - path) : 1, end > path ? path : ".",
                 program);
        if (access(file, X_OK) == 0)
            return true;
    }
    errno = ENOENT;
    return false;
}

/* What can be seen to fail before anything is started. */
static options_outcome_t check_programs(const tune_t *tune)
{
    char usual[TUNE_PATH_BYTES];
    const char *bench = tune->settings.bench ? tune->settings.bench : usual;
    bool has_ranks = false;
    tune_sibling(tune, "mpix_bench", usual);
    for (int i = 0; i < tune->launcher_words; i++)
        has_ranks |= strstr(tune->launcher[i], "{ranks}") != NULL;
    if (!can_run(bench))
        return options_refuse(tune_name, "option --bench: cannot run \"%.400s\": %s", bench, strerror(errno));
    return has_ranks
               ? OPTIONS_RUN
               : options_refuse(tune_name, "give {ranks} in the launcher's command, such as -- mpiexec -n {ranks}: "
                                           "other numbers are tried, too");
}

/* If a magnitude is a multiple of an algorithm's own time, each algorithm meets other arrivals. */
static options_outcome_t check_arrivals(const char *patterns)
{
    static arrival_list_t list;
    char why[ARRIVAL_WHY_BYTES];
    arrival_tables_t tables = {0};
    bool good = arrival_parse(&list, &tables, patterns, why);
    arrival_tables_free(&tables);
    if (!good)
        return options_refuse(tune_name, "option --arrival: %s", why);
    if (patterns && list.count == 1)
        return options_refuse(tune_name, "option --arrival: \"together\" alone is not allowed, leave the option out");
    for (int i = 1; i < list.count; i++)
        if (list.items[i].is_multiple)
            return options_refuse(tune_name,
                                  "option --arrival: \"%s\" is not allowed, give a magnitude in us, such as :50",
                                  list.items[i].text);
    return OPTIONS_RUN;
}

static options_outcome_t read_options(int argc, char **argv, tune_t *tune)
{
    const program_spec_t spec =
        PROGRAM_SPEC(tune_name, "Finds faster algorithms of a collective operation, and writes the MPI library's file.",
                     .operand = &operand, .usage = usage, .schemas = SCHEMAS(&tune_schema));
    int place = 1;
    while (place < argc && strcmp(argv[place], "--") != 0)
        place++;
    options_outcome_t outcome = options_parse(&spec, place, argv, &tune->settings);
    if (outcome == OPTIONS_RUN)
        outcome = find_operation(tune);
    if (outcome == OPTIONS_RUN && place + 1 >= argc)
        outcome = options_refuse(tune_name, "give the command that starts MPI programs after --, such as "
                                            "-- mpiexec -n {ranks}");
    tune->launcher = argv + place + 1;
    tune->launcher_words = argc - place - 1;
    if (outcome == OPTIONS_RUN)
        outcome = check_arrivals(tune->settings.arrival);
    if (outcome == OPTIONS_RUN)
        outcome = list_sizes(tune);
    return outcome == OPTIONS_RUN ? check_programs(tune) : outcome;
}

int main(int argc, char **argv)
{
    static tune_t tune;
    if (argc > 1 && strcmp(argv[1], "probe") == 0)
        return probe_main(argc, argv);
    output_begin();
    find_program(tune.program);
    options_outcome_t outcome = read_options(argc, argv, &tune);
    if (outcome != OPTIONS_RUN)
        return output_answer(outcome, tune_name);
    variables_check(tune_name);
    tune.is_terminal = isatty(STDERR_FILENO) == 1;
    tune.settings.output.file = stdout;
    int status = run(&tune);
    for (int i = 0; i < tune.candidate_count; i++)
        json_decref(tune.candidates[i].leaf);
    json_decref(tune.listing);
    return output_finish(stdout, NULL, tune_name) || status != STATUS_GOOD ? status : STATUS_FAILED;
}
