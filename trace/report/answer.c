/* SPDX-License-Identifier: BSD-3-Clause */
/* answer.c - sentences about waits. */
#include "trace/report/answer.h"

#include "common/cli/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

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
        snprintf(text, PLACE_BYTES, "the edge of the run");
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

/* In a sentence, FILE:LINE says where a call is, without its function, address and object; so, too, of its caller. */
static void say_place(char text[PLACE_BYTES], const graph *of, size_t place)
{
    answer_place(text, of, place);
    const size_t bytes = trace_line_bytes(text);
    const char *caller = place != GRAPH_NONE ? of->places.list[place].caller : NULL;
    if (bytes == 0)
        return;
    text[bytes] = '\0';
    if (caller)
        text_append(text, PLACE_BYTES, " from %.*s", trace_place_bytes(caller), caller);
}

static graph_name_kind kind_of(const graph *of, size_t place)
{
    return place != GRAPH_NONE ? of->kinds[of->places.list[place].function] : NAME_REGION;
}

static bool is_trial(const graph *of, size_t place)
{
    const meaning *its = place != GRAPH_NONE ? of->meanings[of->places.list[place].function] : NULL;
    return its && its->means & MEANS_TRIAL;
}

/* Whether a rank called MPI_Init late, or was long in it. */
static bool is_beginning(const graph *of, const cause_key *key)
{
    return kind_of(of, key->to) == NAME_INIT;
}

static void say_where(char *text, const wait_analysis *of, const cause_key *key)
{
    const graph *in = &of->graph;
    const graph_name_kind kind = kind_of(in, key->to);
    char from[PLACE_BYTES], to[PLACE_BYTES];
    say_place(from, in, key->from);
    say_place(to, in, key->to);
    if (is_beginning(in, key))
        snprintf(text, ANSWER_BYTES, "Rank %d begins late", key->rank);
    else if (kind == NAME_CLOCK || kind == NAME_FLUSH)
        snprintf(text, ANSWER_BYTES, "mpix_trace itself keeps rank %d (%s)", key->rank,
                 in->of->names[in->places.list[key->from].function]);
    else if (key->is_call)
        snprintf(text, ANSWER_BYTES, "Rank %d is late in %s", key->rank, from);
    else if (is_trial(in, key->from) && is_trial(in, key->to))
        snprintf(text, ANSWER_BYTES, "Rank %d polls, and computes too long between %s and %s", key->rank, from, to);
    else
        snprintf(text, ANSWER_BYTES, "Rank %d %scomputes too long between %s and %s", key->rank,
                 kind == NAME_FINALIZE ? "ends late: it " : "", from, to);
}

/* What is taken away, and what that gains. */
static void say_gain(char *text, const wait_analysis *of, const cause *one)
{
    char taken[DURATION_BYTES], now[DURATION_BYTES], then[DURATION_BYTES];
    duration(now, (double)of->run_ns);
    duration(then, (double)one->without_ns);
    if (!one->is_replayed) {
        text_append(text, ANSWER_BYTES, ".");
        return;
    }
    text_append(text, ANSWER_BYTES, "; without these %s", duration(taken, (double)one->taken_ns));
    if (!one->key.is_call && !is_beginning(&of->graph, &one->key))
        text_append(text, ANSWER_BYTES, one->has_peers ? " more than other ranks" : ", where no other rank computes,");
    if (strcmp(then, now) == 0)
        text_append(text, ANSWER_BYTES, " alone the run would be no shorter.");
    else
        text_append(text, ANSWER_BYTES, " the run would take %s instead of %s.", then, now);
}

/* What percentages are of. */
static const char *all(const wait_analysis *of)
{
    return of->has_threads ? "threads that call MPI" : "ranks";
}

static void say_cause(char *text, const wait_analysis *of, const cause *one)
{
    char late[DURATION_BYTES], waited[DURATION_BYTES], bound[DURATION_BYTES];
    say_where(text, of, &one->key);
    text_append(text, ANSWER_BYTES, one->may_wait ? ", where it may wait itself" : "");
    text_append(text, ANSWER_BYTES, ", by %s", duration(late, (double)one->late_ns));
    if (!is_beginning(&of->graph, &one->key))
        text_append(text, ANSWER_BYTES, " in %" PRId64 " instance%s", one->instances, one->instances == 1 ? "" : "s");
    text_append(text, ANSWER_BYTES, "; other ranks wait %s (± %s) for it, %.1f %% of the run on all %s",
                duration(waited, (double)one->charged_ns), duration(bound, one->bound_ns),
                analysis_percent(of, (double)one->charged_ns), all(of));
    say_gain(text, of, one);
}

/* Whether a time of all ranks together is worth to be told. */
static bool is_worth(const wait_analysis *of, int64_t ns)
{
    return analysis_percent(of, (double)ns) >= ANALYSIS_WORTH_PERCENT;
}

/* ---- What is not attributed */

enum { UNSEEN_NAMES = 3 };

static void say_unseen(char *text, const wait_analysis *of)
{
    char ns[DURATION_BYTES];
    text_append(text, ANSWER_BYTES,
                "Not attributed: %.1f %% of the run on all %s, %s in calls whose waits the trace does not show (",
                analysis_percent(of, (double)of->unseen_ns), all(of), duration(ns, (double)of->unseen_ns));
    for (size_t i = 0; i < UNSEEN_NAMES && i < of->graph.of->name_count && of->unseen[i].ns > 0; i++)
        text_append(text, ANSWER_BYTES, "%s%s %s", i > 0 ? ", " : "", of->graph.of->names[of->unseen[i].name],
                    duration(ns, (double)of->unseen[i].ns));
    text_append(text, ANSWER_BYTES, ").");
}

/* ---- All waits, and all times */

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

/* How many ranks have a thread that recorded nothing more when its buffer was full. */
static int count_full(const trace *of)
{
    int count = 0;
    for (int rank = 0; rank < of->size; rank++) {
        const trace_process *process = &of->processes[rank];
        size_t i = 0;
        while (i < process->location_count && process->locations[i].last.kind != TRACE_DROPPED)
            i++;
        count += i < process->location_count;
    }
    return count;
}

/* Some were not recorded. */
static bool lacks_ranks(const wait_analysis *of)
{
    return of->ranks < of->graph.of->size;
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
    else if (lacks_ranks(of) || is_worth(of, of->unseen_ns) || is_worth(of, of->polled_ns))
        snprintf(text, ANSWER_BYTES, "No waits are seen, but the trace does not show all that ranks may wait for.");
    else
        snprintf(text, ANSWER_BYTES, "No rank waits for another one longer than the clocks may be wrong.");
}

static void say_polls(char *text, const wait_analysis *of)
{
    char ns[DURATION_BYTES], where[PLACE_BYTES];
    say_place(where, &of->graph, of->polled_place);
    text_append(text, ANSWER_BYTES,
                " Ranks poll: between tests that find nothing they compute for %s, which may be waits; the most is "
                "that of rank %d before %s.",
                duration(ns, (double)of->polled_ns), of->graph.lanes[of->polled_lane].location->rank, where);
}

static void say_all(char *text, const wait_analysis *of, int said)
{
    char waited[DURATION_BYTES], bound[DURATION_BYTES], other[DURATION_BYTES];
    const double waited_ns = (double)of->causes.waited_ns, percent = analysis_percent(of, waited_ns);
    duration(waited, waited_ns);
    duration(bound, of->bound_ns);
    const bool is_unexplained = is_worth(of, of->unexplained_ns), is_hidden = is_worth(of, of->waits.hidden_ns);
    if (of->waits.count == 0)
        say_no_waits(text, of);
    else if (said == 0 && !is_unexplained && !is_hidden)
        snprintf(text, ANSWER_BYTES,
                 "No cause of waits costs %g %% of the run; all waits together take %s (± %s), %.2f %%.",
                 ANALYSIS_WORTH_PERCENT, waited, bound, percent);
    else
        snprintf(text, ANSWER_BYTES, "All waits together take %s (± %s), %.1f %% of the run on all %s.", waited, bound,
                 percent, all(of));
    if (is_unexplained)
        text_append(text, ANSWER_BYTES, " The trace does not show why ranks wait for %s of this.",
                    duration(other, (double)of->unexplained_ns));
    if (is_hidden)
        text_append(text, ANSWER_BYTES, " Ranks seem to wait for %s%s, each time no longer than clocks may be wrong.",
                    duration(other, (double)of->waits.hidden_ns), of->waits.count > 0 ? " more" : "");
    if (is_worth(of, of->polled_ns))
        say_polls(text, of);
}

static void say_part(char *text, const trace *of)
{
    const double from_s = fmax((of->cut_from_ns - of->zero_ns) / 1e9, 0), to_s = (of->cut_to_ns - of->zero_ns) / 1e9;
    if (isinf(to_s))
        text_append(text, ANSWER_BYTES,
                    " Only the part of the run from %.9g s on was analyzed, which is called the run here;", from_s);
    else
        text_append(text, ANSWER_BYTES,
                    " Only the part of the run from %.9g s to %.9g s was analyzed, which is called the run here;",
                    from_s, to_s);
    text_append(text, ANSWER_BYTES, " what began before the part is not attributed.");
}

static void say_times(char *text, const wait_analysis *of)
{
    char recorder[DURATION_BYTES];
    if (of->run_ns == 0 && of->graph.of->is_cut)
        snprintf(text, ANSWER_BYTES, "All ranks are in calls of MPI all the time.");
    else
        snprintf(text, ANSWER_BYTES,
                 "Ranks compute %.1f %% of the time: load balance %.3f, serialization %.3f, transfer %.3f.",
                 100 * of->load_balance * of->serialization * of->transfer, of->load_balance, of->serialization,
                 of->transfer);
    if (of->has_threads)
        text_append(text, ANSWER_BYTES, " Ranks have several threads, so no gain is predicted.");
    if (is_worth(of, of->recorder_ns))
        text_append(text, ANSWER_BYTES, " mpix_trace itself takes %s, %.1f %%.",
                    duration(recorder, (double)of->recorder_ns), analysis_percent(of, (double)of->recorder_ns));
    if (of->recording_ns > 0)
        text_append(text, ANSWER_BYTES, " Recording calls takes about %s, %.1f %%.",
                    duration(recorder, of->recording_ns), analysis_percent(of, of->recording_ns));
    if (lacks_ranks(of))
        text_append(text, ANSWER_BYTES,
                    " Only %d of %d ranks %s in the trace, which are called all ranks here; waits for others are not "
                    "attributed.",
                    of->ranks, of->graph.of->size, of->ranks == 1 ? "is" : "are");
    if (of->graph.of->is_cut)
        say_part(text, of->graph.of);
    const int full = count_full(of->graph.of);
    if (full > 0)
        text_append(text, ANSWER_BYTES,
                    " On %d of %d ranks the buffer was full: what they did then is not in the trace.", full,
                    of->graph.of->size);
}

const char *const answer_kind_names[] = {[ANSWER_NOTHING] = "nothing",
                                         [ANSWER_UNSEEN] = "not attributed",
                                         [ANSWER_CAUSE] = "cause",
                                         [ANSWER_WAITS] = "waits",
                                         [ANSWER_TIMES] = "times"};

/* Returns the text of the next sentence, which is empty. */
static char *next_sentence(answer_t *answer, answer_kind kind, size_t cause)
{
    const int next = answer->count++;
    answer->sentences[next].kind = kind;
    answer->sentences[next].cause = cause;
    answer->sentences[next].text[0] = '\0';
    return answer->sentences[next].text;
}

/* How many of the first causes are worth a sentence. */
static int count_causes(const wait_analysis *of)
{
    int count = 0;
    while (count < ANALYSIS_GAINS && (size_t)count < of->causes.count && analysis_is_worth(of, of->order[count]))
        count++;
    return count;
}

void answer_make(answer_t *answer, const wait_analysis *of)
{
    *answer = (answer_t){.count = 0};
    if (!of->graph.of->is_cut && !has_calls(&of->graph)) {
        text_append(next_sentence(answer, ANSWER_NOTHING, 0), ANSWER_BYTES,
                    "The trace has no events, so it does not show what the program did.");
        return;
    }
    const int causes = answer->causes = count_causes(of);
    const int64_t first_ns = causes > 0 ? of->order[0]->charged_ns : 0;
    const bool has_unseen = is_worth(of, of->unseen_ns);
    if (has_unseen && of->unseen_ns > first_ns)
        say_unseen(next_sentence(answer, ANSWER_UNSEEN, 0), of);
    const bool is_hidden = is_worth(of, of->waits.hidden_ns) && of->waits.hidden_ns > first_ns;
    const bool is_first = of->unexplained_ns > first_ns || is_hidden;
    if (is_first)
        say_all(next_sentence(answer, ANSWER_WAITS, 0), of, causes);
    for (int i = 0; i < causes; i++)
        say_cause(next_sentence(answer, ANSWER_CAUSE, (size_t)i), of, of->order[i]);
    if (!is_first)
        say_all(next_sentence(answer, ANSWER_WAITS, 0), of, causes);
    say_times(next_sentence(answer, ANSWER_TIMES, 0), of);
    if (has_unseen && of->unseen_ns <= first_ns)
        say_unseen(next_sentence(answer, ANSWER_UNSEEN, 0), of);
}
