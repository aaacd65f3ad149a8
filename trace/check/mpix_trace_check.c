/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_trace_check - which events of a trace come before what they had to wait for, by each way to compute global
 * times; and a trace in which none does. It does not use MPI.
 */
#include "common/cli/options.h"
#include "common/results/table.h"
#include "pure/order_statistics.h"
#include "common/mpi/world.h"
#include "common/cli/memory.h"
#include "trace/check/check.h"
#include "trace/read/parse.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char program_name[] = "mpix_trace_check";

typedef struct {
    text_list_t operands;
    int64_t latency_ns;
    const char *write;
    output_t output;
} check_settings;

typedef struct {
    check_settings settings;
    trace trace;
    trace_matches matches;
    conditions conditions;
    int64_t *time_ns, *moved_ns, *scratch_ns;
    check_sum *sums;
    table_t table;
    char message[TRACE_MESSAGE_SIZE];
} check_run;

#define FIELD(field) offsetof(check_settings, field)

static const option_spec_t options[] = {
    {0, "latency-ns", "NS", OPTION_INTEGER, FIELD(latency_ns), .max = 1e9, .default_text = "0",
     .doc = "the minimum time that a message takes, and each relation of a collective operation"},
    {0, "corrected", "DIR", OPTION_TEXT, FIELD(write), .doc = "write the corrected trace to DIR",
     .more = "There must be no trace in it. The times of the trace are global, as its clock records say; the bound of "
             "each event is its former bound plus the time by which it was moved."},
    OUTPUT_OPTIONS(FIELD(output)),
};
static const option_spec_t operand = {0, "trace", "DIR", OPTION_TEXTS, .place = FIELD(operands)};

static const char notes[] =
    "DIR is a trace, as mpix_trace writes it. A violation is a receive before its send plus the latency, or a process\n"
    "that leaves a collective operation before another one enters that it must wait for.\n"
    "\n"
    "Exit status: 0 if all is well, 1 if violations remain or output could not be written, 2 for a bad option or a\n"
    "trace that cannot be read.\n";

static const schema_t schema;
static const program_spec_t program =
    PROGRAM_SPEC(program_name, "Counts violations of the clock condition in a trace, and corrects them.",
                 .operand = &operand, .usage = "mpix_trace_check [OPTION]... DIR", .schemas = SCHEMAS(&schema));

/* ---- Rows */

static const column_t columns[] = {
    {"clock", "", ROLE_KEY, TYPE_TEXT,
     "whose times are meant: local, the clocks of the processes, set once, to the second; start, with the offset at "
     "the start; linear, a line from the start to the end; global, all records of the global clock, interpolated; or "
     "corrected, these times after a controlled logical clock",
     "clock", 11, 0, 0},
    {"scope", "", ROLE_KEY, TYPE_TEXT, "what the row covers: all, operation, or pair", "scope", 11, 0, 0},
    {"operation", "", ROLE_KEY, TYPE_TEXT, "if the scope is operation: message, or the collective function",
     "operation", 26, 0, 0},
    {"from", "", ROLE_KEY, TYPE_INTEGER, "if the scope is pair: the process that the other waits for", "from", 6, 0, 0},
    {"to", "", ROLE_KEY, TYPE_INTEGER, "if the scope is pair: the process that waits", "to", 5, 0, 0},
    {"relations", "", ROLE_FIGURE, TYPE_INTEGER, "how many there are", "relations", 11, 0, 0},
    {"violations", "", ROLE_FIGURE, TYPE_INTEGER, "those in which the event comes before what it had to wait for",
     "violations", 12, 0, 0},
    {"violation_median_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "by how much, the median", NULL, 0, 0, 0},
    {"violation_max_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "by how much at most", "max(ns)", 10, 0, 0},
    {"beyond_bound", "", ROLE_FIGURE, TYPE_INTEGER,
     "violations greater than the bounds of both times together, by the clock global", "beyond", 8, 0, 0},
    {"moved", "", ROLE_FIGURE, TYPE_INTEGER, "how many events the correction moved", "moved", 0, 0, 0},
    {"moved_median_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "how far, the median", "moved p50(ns)", 0, 0, 0},
    {"moved_max_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "how far at most", "moved max(ns)", 0, 0, 0},
};
static const schema_t schema = SCHEMA(
    "mpix-trace-check",
    "A row for all relations, for each operation, and for each pair of processes with a violation, by each clock.\n"
    "A relation is a pair of events of which one must wait for the other.",
    columns);

/* How far events were moved. */
typedef struct {
    size_t count;
    int64_t median_ns, max_ns;
} movement;

static void print_row(const check_run *run, const char *clock, check_scope scope, const check_sum *sum,
                      const movement *moved)
{
    static const char *const scopes[] = {"all", "operation", "pair"};
    const bool is_global = strcmp(clock, "global") == 0, has_late = sum->violations > 0, is_pair = scope == CHECK_PAIR;
    const char *name = sum->of.function == 0 ? "message" : run->trace.names[sum->of.function];
    const cell_t cells[] = {
        text_cell(clock),
        text_cell(scopes[scope]),
        text_cell(scope == CHECK_OPERATION ? name : ""),
        number_cell(is_pair ? (double)sum->of.from : NAN),
        number_cell(is_pair ? (double)sum->of.to : NAN),
        number_cell((double)sum->relations),
        number_cell((double)sum->violations),
        number_cell(has_late ? (double)sum->median_ns : NAN),
        number_cell(has_late ? (double)sum->max_ns : NAN),
        number_cell(is_global ? (double)sum->beyond : NAN),
        number_cell(moved ? (double)moved->count : NAN),
        number_cell(moved ? (double)moved->median_ns : NAN),
        number_cell(moved ? (double)moved->max_ns : NAN),
    };
    table_row(&run->table, cells);
}

/* Returns how many violations there are. */
static size_t print_relations(check_run *run, const char *clock, check_relations found, const movement *moved)
{
    size_t violations = 0;
    for (check_scope scope = CHECK_ALL; scope <= CHECK_PAIR; scope++) {
        const size_t count = check_sums(&found, scope, run->sums, run->scratch_ns);
        for (size_t i = 0; i < count; i++)
            if (scope != CHECK_PAIR || run->sums[i].violations > 0)
                print_row(run, clock, scope, &run->sums[i], scope == CHECK_ALL ? moved : NULL);
        if (scope == CHECK_ALL)
            violations = run->sums[0].violations;
    }
    free(found.list);
    return violations;
}

static check_relations check_clock(check_run *run, trace_clock by)
{
    trace_set_times(&run->trace, by);
    conditions_times(&run->conditions, run->time_ns);
    return check_times(&run->conditions, run->time_ns, run->settings.latency_ns, by == TRACE_GLOBAL);
}

/* What matters in a sentence, before the table. */
static void say_first(check_run *run)
{
    FILE *file = run->settings.output.file;
    check_relations found = check_clock(run, TRACE_GLOBAL);
    check_sums(&found, CHECK_ALL, run->sums, run->scratch_ns);
    const check_sum sum = run->sums[0];
    if (sum.violations == 0)
        fprintf(file, "# By the global clock, none of %zu events comes before what it had to wait for.\n",
                sum.relations);
    else
        fprintf(file,
                "# By the global clock, %zu of %zu events come before what they had to wait for, %zu of them by more "
                "than its bounds.\n",
                sum.violations, sum.relations, sum.beyond);
    free(found.list);
}

/* ---- Correction */

static bool correct(check_run *run, movement *moved)
{
    const size_t count = run->conditions.event_count;
    memcpy(run->moved_ns, run->time_ns, count * sizeof *run->time_ns);
    if (!conditions_correct(&run->conditions, run->settings.latency_ns, run->time_ns))
        return trace_fail(run->message, "%.200s: it contradicts itself: events would have to wait for themselves",
                          run->settings.operands.texts[0]);
    *moved = (movement){0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        run->moved_ns[i] = run->time_ns[i] - run->moved_ns[i];
        if (run->moved_ns[i] != 0)
            run->scratch_ns[moved->count++] = run->moved_ns[i];
    }
    if (moved->count > 0) {
        mh_sort(run->scratch_ns, (int64_t)moved->count);
        moved->median_ns = quantile(run->scratch_ns, (int64_t)moved->count, 0.5);
        moved->max_ns = run->scratch_ns[moved->count - 1];
    }
    return true;
}

/* Of two records of one time the wider one counts. */
static int by_time(const void *a, const void *b)
{
    const trace_clock_record *x = a, *y = b;
    if (x->pair.at_ns != y->pair.at_ns)
        return x->pair.at_ns < y->pair.at_ns ? -1 : 1;
    return (x->pair.bound_ns < y->pair.bound_ns) - (x->pair.bound_ns > y->pair.bound_ns);
}

/* Whether an event or one beside it was moved, so that its bound is not that of the clock records around it. */
static bool is_near_moved(const int64_t *moved_ns, size_t k, size_t count)
{
    return moved_ns[k] != 0 || (k > 0 && moved_ns[k - 1] != 0) || (k + 1 < count && moved_ns[k + 1] != 0);
}

/* What is known of each event that was moved, if there is room for it. Returns how many records these are. */
static size_t add_moved(const trace *of, const trace_process *process, const int64_t *moved_ns, const int64_t *time_ns,
                        trace_clock_record *records)
{
    size_t count = 0, first = 0;
    for (size_t i = 0; i < process->location_count; first += process->locations[i++].count)
        for (size_t k = 0; k < process->locations[i].count; k++) {
            if (!is_near_moved(&moved_ns[first], k, process->locations[i].count))
                continue;
            if (records) {
                const double known_ns = trace_bound_ns(process, process->locations[i].events[k].time_ns);
                const double bound_ns = known_ns + (double)moved_ns[first + k];
                records[count] = (trace_clock_record){.pair = {.at_ns = of->start_ns + time_ns[first + k],
                                                               .deviation_ns = bound_ns,
                                                               .bound_ns = bound_ns}};
            }
            count++;
        }
    return count;
}

/* The records at their global times. They no longer tell that a clock was set between two of them, but by the bound. */
static void add_global(const trace_process *process, trace_clock_record *records)
{
    for (size_t i = 0; i < process->record_count; i++) {
        const trace_clock_record *its = &process->records[i];
        records[i] = (trace_clock_record){.pair.at_ns = its->pair.at_ns + its->pair.ahead_ns,
                                          .pair.deviation_ns = its->pair.deviation_ns,
                                          .pair.bound_ns = its->pair.bound_ns,
                                          .burst_ns = its->burst_ns};
        if (i > 0 && isinf(trace_bound_ns(process, its[-1].pair.at_ns + (its->pair.at_ns - its[-1].pair.at_ns) / 2)))
            records[i - 1].pair.bound_ns = records[i].pair.bound_ns = INFINITY;
    }
}

/* The clock of a process whose times are global. Of a process without records nothing is known. */
static void make_global(const trace *of, trace_process *process, const int64_t *moved_ns, const int64_t *time_ns)
{
    size_t count = process->record_count, kept = 0;
    if (count == 0)
        return;
    count += add_moved(of, process, moved_ns, time_ns, NULL);
    trace_clock_record *records = or_exit(malloc(count * sizeof *records));
    add_global(process, records);
    add_moved(of, process, moved_ns, time_ns, &records[process->record_count]);
    qsort(records, count, sizeof *records, by_time);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || records[i].pair.at_ns != records[i - 1].pair.at_ns)
            records[kept++] = records[i];
    free(process->records);
    process->records = records;
    process->record_count = kept;
}

static bool write_corrected(check_run *run)
{
    trace *of = &run->trace;
    size_t event = 0;
    for (int rank = 0; rank < of->size; rank++) {
        trace_process *process = &of->processes[rank];
        make_global(of, process, &run->moved_ns[event], &run->time_ns[event]);
        process->end.time_ns = of->start_ns;
        for (size_t i = 0; i < process->location_count; i++)
            for (size_t k = 0; k < process->locations[i].count; k++, event++) {
                trace_event *at = &process->locations[i].events[k];
                at->time_ns = of->start_ns + run->time_ns[event];
                if (at->time_ns > process->end.time_ns)
                    process->end.time_ns = at->time_ns;
            }
    }
    return trace_write(of, run->settings.write, run->message);
}

/* ---- All clocks */

static void prepare(check_run *run)
{
    trace_match(&run->trace, &run->matches);
    conditions_find(&run->trace, &run->matches, &run->conditions);
    const size_t events = run->conditions.event_count, members = run->conditions.member_count;
    const size_t room = events > members ? events : members;
    run->time_ns = array_or_exit(room, sizeof *run->time_ns);
    run->moved_ns = array_or_exit(room, sizeof *run->moved_ns);
    run->scratch_ns = array_or_exit(room, sizeof *run->scratch_ns);
    run->sums = array_or_exit(members + 1, sizeof *run->sums);
    if (run->matches.sends_alone + run->matches.receives_alone + run->matches.calls_incomplete > 0)
        fprintf(stderr, "%s: not checked: %zu sends and %zu receives alone, %zu calls without all parts\n",
                program_name, run->matches.sends_alone, run->matches.receives_alone, run->matches.calls_incomplete);
    if (run->matches.messages_at_once > 0)
        fprintf(stderr,
                "%s: messages of threads that share source, tag and communicator at the same time: %zu: which of them "
                "are one is not known, so no clock is blamed where another order is possible\n",
                program_name, run->matches.messages_at_once);
}

static bool check_all(check_run *run)
{
    movement moved;
    if (run->settings.output.format == FORMAT_TABLE)
        say_first(run);
    run->table = (table_t)TABLE(schema, &run->settings.output);
    table_head(&run->table, NULL, 0);
    for (trace_clock by = TRACE_LOCAL; by <= TRACE_GLOBAL; by++)
        print_relations(run, trace_clock_names[by], check_clock(run, by), NULL);
    if (!correct(run, &moved))
        return false;
    const check_relations left = check_times(&run->conditions, run->time_ns, run->settings.latency_ns, false);
    if (print_relations(run, "corrected", left, &moved) > 0)
        return trace_fail(run->message, "violations remain after the correction");
    return !run->settings.write || write_corrected(run);
}

static bool has_trace(const char *folder)
{
    char path[TRACE_PATH_SIZE];
    trace_path(path, folder, 0);
    return access(path, F_OK) == 0;
}

static int run_check(check_run *run)
{
    output_t *output = &run->settings.output;
    if (run->settings.operands.count != 1) {
        trace_fail(run->message, "give one folder with a trace");
        return STATUS_BAD_OPTION;
    }
    if (!trace_read(&run->trace, run->settings.operands.texts[0], run->message))
        return STATUS_BAD_OPTION;
    if (run->settings.write && has_trace(run->settings.write)) {
        trace_fail(run->message, "option --corrected: there is a trace in \"%.200s\", give another folder",
                   run->settings.write);
        return STATUS_BAD_OPTION;
    }
    if (run->settings.write && !output_folder(run->settings.write, "--corrected", program_name))
        return STATUS_BAD_OPTION;
    output->file = output_create(output->path, "--output", program_name);
    if (!output->file)
        return STATUS_BAD_OPTION;
    trace_warn(&run->trace, program_name);
    prepare(run);
    const int status = check_all(run) ? STATUS_GOOD : STATUS_FAILED;
    return output_finish(output->file, output->path, program_name) ? status : STATUS_FAILED;
}

int main(int argc, char **argv)
{
    static check_run run;
    output_begin();
    options_outcome_t outcome = options_parse(&program, argc, argv, &run.settings);
    if (outcome != OPTIONS_RUN)
        return output_answer(outcome, program_name);
    int status = run_check(&run);
    if (status != STATUS_GOOD && run.message[0] != '\0')
        fprintf(stderr, "%s: %s\n", program_name, run.message);
    conditions_free(&run.conditions);
    trace_matches_free(&run.matches);
    trace_free(&run.trace);
    free(run.time_ns);
    free(run.moved_ns);
    free(run.scratch_ns);
    free(run.sums);
    return status;
}
