/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_trace_report - report a trace: who waits for whom and why, time in MPI, when processes came to collective calls,
 * and a page of HTML.
 */
#include "common/cli/options.h"
#include "common/cli/output.h"
#include "common/cli/memory.h"
#include "trace/report/answer.h"
#include "trace/report/ended.h"
#include "trace/report/memory.h"
#include "trace/report/page.h"
#include "trace/read/symbols.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef enum show { SHOW_ANSWER, SHOW_CAUSES, SHOW_WAITS, SHOW_FUNCTIONS, SHOW_RANKS, SHOW_SITES, SHOW_CALLS } show_t;

typedef struct settings {
    text_list_t folders;
    const char *page_path, *title, *arrival_path;
    int64_t site;
    double from_s, to_s;
    output_t output; /* of the tables */
    int64_t show;    /* show_t, or ABSENT: what the format usually has */
} report_settings_t;

/* Names of a choice, NULL after the last. */
static const char *const show_names[] = {
    [SHOW_ANSWER] = "answer", [SHOW_CAUSES] = "causes", [SHOW_WAITS] = "waits", [SHOW_FUNCTIONS] = "functions",
    [SHOW_RANKS] = "ranks",   [SHOW_SITES] = "sites",   [SHOW_CALLS] = "calls", NULL};

#define FIELD(field) offsetof(report_settings_t, field)
#define MAX_S 1e9

static const option_spec_t options[] = {
    FILE_OPTION(0, "page", FIELD(page_path), .doc = "write a page of HTML to FILE"),
    {0, "title", "TEXT", OPTION_TEXT, FIELD(title), .doc = "the title of the page",
     .default_doc = "the command line, how many ranks, the host, the MPI library, and the date"},
    {0, "from-s", "S", OPTION_DECIMAL, FIELD(from_s), .max = MAX_S, .doc = "leave out what is earlier after MPI_Init",
     .more = "In global time, as mpix_trace(1) counts it, from the first synchronization of the clocks within "
             "MPI_Init: all that is printed and drawn is of the rest of the run. Calls and messages are matched as "
             "in the whole run. A call that is under way then is left out, too, with what it is matched with: the "
             "report says that what began before the part is not attributed. A trace that is larger than memory is "
             "reported in such parts, one after the other. Only one rank is in memory whole at a time, so the memory "
             "for its events, and for those of the part, must suffice, about 100 bytes for each event. If memory "
             "does not suffice, the program says how much it takes. The Gantt chart begins there. By default, it "
             "begins at the first call after MPI was initialized."},
    {0, "to-s", "S", OPTION_DECIMAL, FIELD(to_s), .max = MAX_S, .doc = "leave out what is later after MPI_Init",
     .more = "In global time; calls that end later are left out, too. "
             "The Gantt chart ends there. By default, it ends after a few dozen calls. "
             "If it has too many calls, it is cut short, and the program says so."},
    OUTPUT_OPTIONS(FIELD(output)),
    {0, "show", "KIND", OPTION_CHOICE, FIELD(show), .names = NAMES(show_names), .doc = "which rows are printed",
     .default_doc = "sites, and in a table before them sentences, the greatest causes, waits, and functions",
     .more = "`answer`: a row for each sentence, `causes`: for each cause of waits, "
             "`waits`: for each kind of wait at each call site, `functions`: for each function, "
             "`ranks`: for each function and rank, `sites`: for each call site, "
             "`calls`: for each call of a site and each rank."},
    FILE_OPTION(0, "write-arrivals", FIELD(arrival_path),
                .doc = "write the arrivals at a call site to FILE, for mpix_bench --arrival file:FILE",
                .more = "They are the delay of each rank after the first one, for each call. "
                        "Calls with a delay that `mpix_bench` does not allow are left out, and the program says so."),
    {0, "site", "N", OPTION_INTEGER, FIELD(site), .min = 1, .max = 1e9,
     .default_doc = "the one with the longest waits by --show waits",
     .doc = "the number of the call site for --write-arrivals, in the table"},
};

static const option_spec_t operand = {0, "trace", "DIR", OPTION_TEXTS, .place = FIELD(folders)};

static const char notes[] =
    "DIR is what mpix_trace recorded. A call site is a place in the program from which a collective function is\n"
    "called on a communicator. The sites where processes waited longest for each other come first.\n"
    "\n"
    "Exit status: 0 if all is well, 1 if output could not be written, 2 for a bad option or a trace that cannot be\n"
    "read.\n";

static const program_spec_t program =
    PROGRAM_SPEC("mpix_trace_report", "Shows who waits for whom in a trace, why, and what it would gain.",
                 .operand = &operand, .usage = "mpix_trace_report [OPTION]... DIR",
                 .schemas = SCHEMAS(&answer_schema, &cause_schema, &wait_schema, &function_schema, &rank_schema,
                                    &site_schema, &call_schema));

/* ---- Files */

/* Ranks may call from other places. */
static bool is_at(const site_t *site, const graph *of, size_t place)
{
    const trace_call *first = site->calls[0];
    for (const trace_part *part = first->parts; part < first->parts + first->count; part++) {
        const graph_lane *lane = &of->lanes[part->enter.at->index];
        const size_t call = graph_call_of(lane, part->enter.event);
        if (call != GRAPH_NONE && lane->calls[call].place == place)
            return true;
    }
    return false;
}

/* The call site of collective calls where processes wait longest, by the same account as the answer's. */
static int64_t find_answer_site(const sites_t *sites, const wait_analysis *waits)
{
    for (size_t i = 0; i < waits->sum_count; i++)
        for (int k = 0; k < sites->count; k++)
            if (is_at(&sites->list[k], &waits->graph, waits->sums[i].place))
                return k + 1;
    return 1;
}

static int write_pattern(const report_settings_t *settings, const sites_t *sites, const wait_analysis *waits)
{
    int64_t number = settings->site != ABSENT ? settings->site : find_answer_site(sites, waits);
    if (sites->count == 0) {
        options_refuse(program.name, "option --write-arrivals is not allowed, the trace has no collective calls");
        return STATUS_BAD_OPTION;
    }
    if (number > sites->count) {
        options_refuse(program.name, "option --site: %" PRId64 " is not allowed, the trace has %d call site%s", number,
                       sites->count, sites->count == 1 ? "" : "s");
        return STATUS_BAD_OPTION;
    }
    const site_t *site = &sites->list[number - 1];
    FILE *file = output_create(settings->arrival_path, "--write-arrivals", program.name);
    if (!file)
        return STATUS_BAD_OPTION;
    int64_t written = tables_pattern(file, site);
    if (!output_finish(file, settings->arrival_path, program.name))
        return STATUS_FAILED;
    if (written < site->arrivals.calls)
        fprintf(stderr, "%s: %s has %" PRId64 " of %" PRId64 " calls, because delays and their number are limited\n",
                program.name, settings->arrival_path, written, site->arrivals.calls);
    return STATUS_GOOD;
}

/* The interval of the Gantt chart: a few dozen calls, or what is asked for. False: there are no calls. */
static bool choose_interval(const report_settings_t *settings, const trace *of, const gantt_lanes_t *lanes,
                            interval_t *interval)
{
    const bool has_calls = gantt_usual(of, lanes, interval);
    if (settings->from_s >= 0)
        interval->from_ns = of->cut_from_ns;
    if (settings->to_s >= 0)
        interval->to_ns = of->cut_to_ns;
    if (has_calls && gantt_fit(of, lanes, interval))
        fprintf(stderr, "%s: the Gantt chart ends at %.9f s, because there are too many calls\n", program.name,
                (interval->to_ns - of->zero_ns) / 1e9);
    return has_calls;
}

static int write_page(const report_settings_t *settings, const findings_t *findings)
{
    interval_t interval;
    const gantt_lanes_t lanes = gantt_choose_lanes(&findings->of, NULL, 0);
    const bool has_calls = choose_interval(settings, &findings->of, &lanes, &interval);
    FILE *file = output_create(settings->page_path, "--page", program.name);
    if (file)
        trace_page_print(file, findings, settings->title, has_calls ? &interval : NULL, &lanes);
    free(lanes.rows);
    if (!file)
        return STATUS_BAD_OPTION;
    return output_finish(file, settings->page_path, program.name) ? STATUS_GOOD : STATUS_FAILED;
}

/* ---- All of it */

static void print_answer(const output_t *output, const findings_t *findings)
{
    answer_t answer;
    char *ended = ended_say(&findings->of);
    if (ended[0] != '\0')
        fprintf(output->file, "%s\n", ended);
    free(ended);
    answer_make(&answer, &findings->waits);
    for (int i = 0; i < answer.count; i++)
        fprintf(output->file, "%s\n", answer.sentences[i].text);
    fputc('\n', output->file);
    if (findings->waits.waits.count == 0)
        return;
    tables_short_causes(output, findings, NULL);
    fputc('\n', output->file);
    tables_waits(output, findings, NULL);
    fputc('\n', output->file);
}

static void print_tables(const report_settings_t *settings, const findings_t *findings)
{
    static table_printer_t *const printers[] = {
        [SHOW_ANSWER] = tables_answer,       [SHOW_CAUSES] = tables_causes, [SHOW_WAITS] = tables_waits,
        [SHOW_FUNCTIONS] = tables_functions, [SHOW_RANKS] = tables_ranks,   [SHOW_SITES] = tables_sites,
        [SHOW_CALLS] = tables_calls};
    const output_t *output = &settings->output;
    const bool is_usual = settings->show < 0;
    if (is_usual && output->format == FORMAT_TABLE) {
        print_answer(output, findings);
        tables_functions(output, findings, NULL);
        fputc('\n', output->file);
    }
    printers[is_usual ? SHOW_SITES : settings->show](output, findings, NULL);
}

static bool needs_waits(const report_settings_t *settings)
{
    return settings->page_path || settings->show == SHOW_ANSWER || settings->show == SHOW_CAUSES ||
           settings->show == SHOW_WAITS || (settings->show < 0 && settings->output.format == FORMAT_TABLE) ||
           (settings->arrival_path && settings->site == ABSENT);
}

static void find_all(const report_settings_t *settings, findings_t *findings)
{
    const trace *of = &findings->of;
    profile_make(&findings->profile, of);
    sites_find(&findings->sites, of, &findings->matches);
    if (needs_waits(settings))
        analysis_make(&findings->waits, of, &findings->matches);
}

static int report(report_settings_t *settings, findings_t *findings)
{
    output_t *output = &settings->output;
    const double end_s = (findings->of.last_ns - findings->of.zero_ns) / 1e9;
    if (settings->from_s > end_s) {
        options_refuse(program.name, "option --from-s: %g is not allowed, the trace ends at %.9f", settings->from_s,
                       end_s);
        return STATUS_BAD_OPTION;
    }
    find_all(settings, findings);
    int status = STATUS_GOOD;
    if (settings->arrival_path)
        status = write_pattern(settings, &findings->sites, &findings->waits);
    if (status == STATUS_GOOD && settings->page_path)
        status = write_page(settings, findings);
    if (status != STATUS_GOOD)
        return status;
    output->file = output_create(output->path, "--output", program.name);
    if (!output->file)
        return STATUS_BAD_OPTION;
    print_tables(settings, findings);
    return output_finish(output->file, output->path, program.name) ? STATUS_GOOD : STATUS_FAILED;
}

/* Of all ranks, or of the rank that has most of them. */
static uint64_t count_events(const trace *of, bool is_of_one)
{
    uint64_t all = 0, most = 0;
    for (int rank = 0; rank < of->size; rank++) {
        uint64_t its = 0;
        for (size_t i = 0; i < of->processes[rank].location_count; i++)
            its += of->processes[rank].locations[i].count;
        all += its;
        most = its > most ? its : most;
    }
    return is_of_one ? most : all;
}

static bool read_whole(findings_t *findings, const char *folder, char *message)
{
    trace *of = &findings->of;
    if (!memory_suffices("the trace", count_events(of, false), "a part", message))
        return false;
    for (int rank = 0; rank < of->size; rank++)
        if (!trace_read_events(of, folder, rank, message))
            return false;
    trace_set_times(of, TRACE_GLOBAL);
    trace_match(of, &findings->matches);
    return true;
}

static bool read_part(const report_settings_t *settings, findings_t *findings, const char *folder, char *message)
{
    trace *of = &findings->of;
    return memory_suffices("one rank", count_events(of, true), "a shorter part", message) &&
           trace_read_part(of, &findings->matches, folder, settings->from_s, settings->to_s, message) &&
           memory_suffices("the part", count_events(of, false), "a shorter part", message);
}

/* What is later than all ranks have recorded, if one of them met the limit of the trace. */
static bool leave_out_later(report_settings_t *settings, const trace *of, char *message)
{
    const double limit_s = trace_limit_s(of);
    if (limit_s >= 0 && settings->from_s >= limit_s) {
        snprintf(message, TRACE_MESSAGE_SIZE,
                 "option --from-s: %g is not allowed, the limit of the trace was met at %.9f (see --help)",
                 settings->from_s, limit_s);
        return false;
    }
    if (limit_s >= 0 && (settings->to_s < 0 || settings->to_s > limit_s))
        settings->to_s = limit_s;
    return true;
}

static bool read_trace(report_settings_t *settings, findings_t *findings, char *message)
{
    const char *folder = settings->folders.texts[0];
    if (!trace_read_outline(&findings->of, folder, message) || !leave_out_later(settings, &findings->of, message))
        return false;
    return settings->from_s >= 0 || settings->to_s >= 0 ? read_part(settings, findings, folder, message)
                                                        : read_whole(findings, folder, message);
}

static int read_and_report(report_settings_t *settings)
{
    findings_t findings = {.profile = {0}};
    char message[TRACE_MESSAGE_SIZE];
    int status = STATUS_BAD_OPTION;
    if (read_trace(settings, &findings, message)) {
        trace_warn(&findings.of, program.name);
        symbols_improve(&findings.of, settings->folders.texts[0]);
        status = report(settings, &findings);
    } else {
        fprintf(stderr, "%s: %s\n", program.name, message);
    }
    analysis_free(&findings.waits);
    sites_free(&findings.sites);
    profile_free(&findings.profile);
    trace_matches_free(&findings.matches);
    trace_free(&findings.of);
    return status;
}

static options_outcome_t check_options(const report_settings_t *settings)
{
    const output_option_t outputs[] = {{"--output", settings->output.path},
                                       {"--page", settings->page_path},
                                       {"--write-arrivals", settings->arrival_path}};
    if (settings->folders.count != 1)
        return options_refuse(program.name, "%" PRId64 " traces are not allowed, give the directory of one",
                              settings->folders.count);
    if (settings->title && !settings->page_path)
        return options_refuse(program.name, "option --title has no effect without --page");
    if (settings->to_s >= 0 && settings->to_s <= fmax(settings->from_s, 0))
        return options_refuse(program.name, "option --to-s: %g is not allowed, give more than --from-s, which is %g",
                              settings->to_s, fmax(settings->from_s, 0));
    if (settings->site != ABSENT && !settings->arrival_path)
        return options_refuse(program.name, "option --site has no effect without --write-arrivals");
    return outputs_check(outputs, 3, program.name) ? OPTIONS_RUN : OPTIONS_BAD;
}

int main(int argc, char **argv)
{
    report_settings_t settings = {0};
    output_begin();
    options_outcome_t outcome = options_parse(&program, argc, argv, &settings);
    if (outcome == OPTIONS_RUN)
        outcome = check_options(&settings);
    return outcome == OPTIONS_RUN ? read_and_report(&settings) : output_answer(outcome, program.name);
}
