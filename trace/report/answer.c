/* SPDX-License-Identifier: BSD-3-Clause */
/* answer.c - sentences about waits. */
#include "trace/report/answer.h"

#include "common/cli/text.h"

#include <inttypes.h>
#include <math.h>

/* A cause is worth a sentence from this part of the run on. */
#define WORTH_PERCENT 1.0

enum { DURATION_BYTES = 32 };

/* Three digits, in the unit that needs the fewest: 57.1 ms. After ±: the part that may be an error of the clocks. */
static const char *duration(char text[DURATION_BYTES], double ns)
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
    size_t i = 0;
    while (i + 1 < sizeof units / sizeof units[0] && fabs(ns) < units[i].ns)
        i++;
    const double value = ns / units[i].ns;
    const int decimals = units[i].ns == 1 || fabs(value) >= 100 ? 0 : fabs(value) >= 10 ? 1 : 2;
    snprintf(text, DURATION_BYTES, "%.*f %s", decimals, value, units[i].name);
    return text;
}

void answer_place(char text[PLACE_BYTES], const graph *of, size_t place)
{
    if (place == GRAPH_NONE) {
        snprintf(text, PLACE_BYTES, "the edge of the trace");
        return;
    }
    const struct place *at = &of->places.list[place];
    const char *function = of->of->names[at->function];
    if (at->text)
        snprintf(text, PLACE_BYTES, "%s at %s", function, at->text);
    else if (at->address != 0)
        snprintf(text, PLACE_BYTES, "%s at 0x%" PRIx64, function, at->address);
    else
        snprintf(text, PLACE_BYTES, "%s", function);
}

/* In a sentence, FILE:LINE says where a call is, without its function, address and object. */
static void say_place(char text[PLACE_BYTES], const graph *of, size_t place)
{
    answer_place(text, of, place);
    char *colon = strchr(text, ':');
    size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
    if (digits > 0 && colon[1 + digits] == ' ')
        colon[1 + digits] = '\0';
}

static void say_where(char *text, size_t text_bytes, const wait_analysis *of, const cause_key *key)
{
    char from[PLACE_BYTES], to[PLACE_BYTES];
    say_place(from, &of->graph, key->from);
    say_place(to, &of->graph, key->to);
    if (key->is_call && of->graph.kinds[of->graph.places.list[key->from].function] == NAME_RECORDER)
        snprintf(text, text_bytes, "mpix_trace itself keeps rank %d (%s)", key->rank,
                 of->graph.of->names[of->graph.places.list[key->from].function]);
    else if (key->is_call)
        snprintf(text, text_bytes, "Rank %d is late in %s", key->rank, from);
    else
        snprintf(text, text_bytes, "Rank %d computes too long between %s and %s", key->rank, from, to);
}

static void say_cause(char *text, const wait_analysis *of, size_t place)
{
    const cause *one = of->order[place];
    char late[DURATION_BYTES], waited[DURATION_BYTES], now[DURATION_BYTES], then[DURATION_BYTES], bound[DURATION_BYTES];
    say_where(text, ANSWER_BYTES, of, &one->key);
    text_append(text, ANSWER_BYTES,
                ", by %s in %" PRId64
                " instance%s; other ranks wait %s (± %s) for it, %.1f %% of the run on all ranks; without "
                "that the run would take %s instead of %s.",
                duration(late, (double)one->late_ns), one->instances, one->instances == 1 ? "" : "s",
                duration(waited, (double)one->charged_ns), duration(bound, one->bound_ns),
                analysis_percent(of, (double)one->charged_ns), duration(then, (double)of->without_ns[place]),
                duration(now, (double)of->run_ns));
}

/* A rank without clock records; -1: there is none. */
static int find_without_clock(const trace *of)
{
    for (int rank = 0; rank < of->size; rank++)
        if (of->processes[rank].record_count == 0)
            return rank;
    return -1;
}

static bool has_calls(const graph *of)
{
    for (size_t lane = 0; lane < of->lane_count; lane++)
        if (of->lanes[lane].count > 0)
            return true;
    return false;
}

static void say_no_waits(char *text, const wait_analysis *of)
{
    const int rank = find_without_clock(of->graph.of);
    if (of->graph.is_too_long)
        snprintf(text, ANSWER_BYTES, "No waits can be told: the times of the trace are centuries apart.");
    else if (of->graph.of->is_cut && !has_calls(&of->graph))
        snprintf(text, ANSWER_BYTES, "No waits can be told: no call is wholly in this part of the run.");
    else if (rank >= 0)
        snprintf(text, ANSWER_BYTES, "No waits can be told from errors of the clocks: rank %d has no clock records.",
                 rank);
    else if (analysis_percent(of, (double)of->unseen_ns) >= WORTH_PERCENT)
        snprintf(text, ANSWER_BYTES, "No waits are seen, but the trace does not show all that ranks may wait for.");
    else
        snprintf(text, ANSWER_BYTES, "No rank waits for another one longer than the clocks may be wrong.");
}

static void say_all(char *text, const wait_analysis *of, int said)
{
    char waited[DURATION_BYTES], bound[DURATION_BYTES];
    const double waited_ns = (double)of->causes.waited_ns, percent = analysis_percent(of, waited_ns);
    if (of->waits.count == 0) {
        say_no_waits(text, of);
        return;
    }
    duration(waited, waited_ns);
    duration(bound, of->bound_ns);
    if (said == 0)
        snprintf(text, ANSWER_BYTES,
                 "No cause of waits costs %g %% of the run; all waits together take %s (± %s), %.2f %%.", WORTH_PERCENT,
                 waited, bound, percent);
    else
        snprintf(text, ANSWER_BYTES, "All waits together take %s (± %s), %.1f %% of the run on all ranks.", waited,
                 bound, percent);
}

static void say_part(char *text, const trace *of)
{
    const double from_s = (of->cut_from_ns - of->zero_ns) / 1e9, to_s = (of->cut_to_ns - of->zero_ns) / 1e9;
    if (isinf(to_s))
        text_append(text, ANSWER_BYTES,
                    " Only the part of the run from %.9g s on was analyzed, which is called the run here;", from_s);
    else
        text_append(text, ANSWER_BYTES,
                    " Only the part of the run from %.9g s to %.9g s was analyzed, which is called the run here;",
                    fmax(from_s, 0), to_s);
    text_append(text, ANSWER_BYTES, " what began before the part is not attributed.");
}

static void say_efficiency(char *text, const wait_analysis *of)
{
    char unseen[DURATION_BYTES];
    if (of->run_ns == 0 && of->graph.of->is_cut)
        snprintf(text, ANSWER_BYTES, "All ranks are in calls of MPI all the time.");
    else
        snprintf(text, ANSWER_BYTES,
                 "Ranks compute %.1f %% of the time: load balance %.3f, serialization %.3f, transfer %.3f.",
                 100 * of->load_balance * of->serialization * of->transfer, of->load_balance, of->serialization,
                 of->transfer);
    if (analysis_percent(of, (double)of->unseen_ns) >= WORTH_PERCENT)
        text_append(text, ANSWER_BYTES, " Not attributed: %s in calls whose waits the trace does not show, %.1f %%.",
                    duration(unseen, (double)of->unseen_ns), analysis_percent(of, (double)of->unseen_ns));
    if (of->graph.of->is_cut)
        say_part(text, of->graph.of);
}

void answer_make(answer_t *answer, const wait_analysis *of)
{
    *answer = (answer_t){.count = 0};
    for (size_t i = 0; i < ANALYSIS_GAINS && i < of->causes.count; i++)
        if (analysis_percent(of, (double)of->order[i]->charged_ns) >= WORTH_PERCENT)
            say_cause(answer->sentences[answer->count++], of, i);
    answer->causes = answer->count;
    say_all(answer->sentences[answer->count], of, answer->count);
    answer->count++;
    say_efficiency(answer->sentences[answer->count++], of);
}
