/* SPDX-License-Identifier: BSD-3-Clause */
/* test_trace_report.c - what mpix_trace_report says of a trace: arrivals, closest shapes, call sites, time in calls. */
#include "common/arrival/arrival.h"
#include "unit/support.h"
#include "common/cli/memory.h"
#include "common/cli/text.h"
#include "trace/read/calls.h"
#include "trace/report/profile.h"
#include "trace/report/sites.h"
#include "trace/report/tables.h"
#include "made_trace.h"

#include <unistd.h>

enum { CALLS = 60, MAGNITUDE_NS = 100000, CALL_NS = 5000 };

/* ---- Arrivals */

TEST(summary_of_known_calls)
{
    /* Three calls of three ranks. In the last one rank 0 leaves before the last one comes. */
    static const double enters[] = {0, 10, 40, 100, 130, 100, 300, 200, 260};
    static const double leaves[] = {50, 50, 50, 140, 140, 140, 310, 215, 305};
    arrivals_t arrivals = arrivals_alloc(3, 3);
    for (int i = 0; i < 9; i++) {
        arrivals.enter_ns[i] = enters[i];
        arrivals.leave_ns[i] = leaves[i];
        arrivals.bound_ns[i] = i % 3 * 15; /* of first and last together: 30, 15, 15 */
    }
    arrivals_summary_t summary = arrivals_summarize(&arrivals);
    EXPECT(summary.spread_median_ns == 40 && summary.spread_p99_ns == 100 && summary.spread_max_ns == 100,
           "spreads: %" PRId64 ", %" PRId64, summary.spread_median_ns, summary.spread_p99_ns);
    EXPECT(summary.bound_ns == 15 && summary.clear_calls == 3, "bound: %" PRId64 ", above: %" PRId64, summary.bound_ns,
           summary.clear_calls);
    EXPECT(summary.last_rank == 0 && summary.last_calls == 1, "last: rank %d in %" PRId64 " calls", summary.last_rank,
           summary.last_calls);
    /* 40 + 30, 30 + 30, 15 (its own exit) + 40. */
    EXPECT(summary.wait_ns == 185, "waited: %g", summary.wait_ns);
    EXPECT(summary.in_call_ns == 50 + 40 + 10 + 40 + 10 + 40 + 10 + 15 + 45, "in the call: %g", summary.in_call_ns);
    /* The first call did not wait: ranks 0 and 1 came to wait for it after 20 and 45, when the last one was there. */
    arrivals.wait_from_ns[0] = 20;
    arrivals.wait_from_ns[1] = 45;
    summary = arrivals_summarize(&arrivals);
    EXPECT(summary.wait_ns == 185 - 20 - 30, "waited: %g", summary.wait_ns);
    EXPECT(summary.in_call_ns == 30 + 5 + 10 + 40 + 10 + 40 + 10 + 15 + 45, "in the call: %g", summary.in_call_ns);
    arrivals.bound_ns[4] = INFINITY;
    summary = arrivals_summarize(&arrivals);
    EXPECT(summary.bound_ns < 0 && summary.clear_calls == 0, "a bound that is not known is one: %" PRId64,
           summary.bound_ns);
    arrivals_free(&arrivals);
}

/* ---- Shapes */

static arrival_tables_t no_files;

/* Calls with the delays of a pattern, and errors of up to so many nanoseconds. */
static arrivals_t imposed(const char *text, int ranks, int64_t error_ns, chance *source)
{
    char why[ARRIVAL_WHY_BYTES];
    arrival_list_t list;
    EXPECT(arrival_parse(&list, &no_files, text, why), "\"%s\" is refused: %s", text, why);
    arrivals_t arrivals = arrivals_alloc(ranks, CALLS);
    for (int call = 0; call < CALLS; call++)
        for (int rank = 0; rank < ranks; rank++) {
            double part = arrival_part(&list.items[list.count - 1], rank, ranks, 5, call);
            arrivals.enter_ns[call * ranks + rank] =
                1e6 * call + part * MAGNITUDE_NS + (double)chance_between(source, 0, error_ns);
            arrivals.leave_ns[call * ranks + rank] = 1e6 * call + MAGNITUDE_NS + CALL_NS;
        }
    return arrivals;
}

static const char *const shapes[] = {"ascending",  "descending", "random", "first-late", "last-late",
                                     "one-late:2", "half-late",  "bell",   "exponential"};

LOOP_TEST(shapes_are_recognized, COUNT_OF(shapes))
{
    static const int ranks[] = {5, 8, 16, 33};
    for (int i = 0; i < COUNT_OF(ranks); i++) {
        chance source = chance_of_round(_i);
        arrivals_t arrivals = imposed(shapes[_i], ranks[i], MAGNITUDE_NS / 50, &source);
        arrivals_summary_t summary = arrivals_summarize(&arrivals);
        size_t length = strlen(shapes[_i]);
        EXPECT(strncmp(summary.pattern, shapes[_i], length) == 0 && summary.pattern[length] == ':',
               "%s of %d ranks is taken for %s, close by %g", shapes[_i], ranks[i], summary.pattern, summary.closeness);
        EXPECT(summary.closeness > 0.75 && summary.closeness <= 1, "%s of %d ranks is close by %g only", shapes[_i],
               ranks[i], summary.closeness);
        double magnitude_ns = 1e3 * atof(summary.pattern + length + 1);
        EXPECT(fabs(magnitude_ns - MAGNITUDE_NS) < 0.15 * MAGNITUDE_NS, "%s of %d ranks: %g ns", shapes[_i], ranks[i],
               magnitude_ns);
        arrival_list_t list;
        char why[ARRIVAL_WHY_BYTES];
        EXPECT(arrival_parse(&list, &no_files, summary.pattern, why), "mpix_bench refuses %s: %s", summary.pattern,
               why);
        arrivals_free(&arrivals);
    }
}

/* Two ranks, of which few words say all; a spread that may be an error of the clock, which has no shape; one rank. */
static const struct {
    const char *imposed;
    int ranks, bound_ns;
    const char *pattern;
    int last_rank, last_calls;
} special[] = {{"first-late", 2, 0, "first-late:", 0, CALLS},
               {"last-late", 2, 0, "last-late:", 1, CALLS},
               {"last-late", 4, MAGNITUDE_NS, "together", 3, CALLS},
               {"ascending", 1, 0, "together", 0, 0}};

LOOP_TEST(special_arrivals, COUNT_OF(special))
{
    const int ranks = special[_i].ranks;
    chance source = chance_of_round(_i);
    arrivals_t arrivals = imposed(special[_i].imposed, ranks, 100, &source);
    for (int i = 0; i < ranks * CALLS; i++)
        arrivals.bound_ns[i] = special[_i].bound_ns;
    const arrivals_summary_t summary = arrivals_summarize(&arrivals);
    EXPECT(strncmp(summary.pattern, special[_i].pattern, strlen(special[_i].pattern)) == 0 && summary.closeness > 0.99,
           "%s is taken for %s, close by %g", special[_i].imposed, summary.pattern, summary.closeness);
    EXPECT(summary.last_rank == special[_i].last_rank && summary.last_calls == special[_i].last_calls,
           "rank %d is last in %" PRId64 " calls", summary.last_rank, summary.last_calls);
    EXPECT(ranks > 1 || (summary.spread_max_ns == 0 && summary.wait_ns == 0), "one rank waits for itself");
    arrivals_free(&arrivals);
}

/* ---- Files of delays */

TEST(patterns_can_be_replayed)
{
    chance source = chance_of_round(0);
    site_t site = {.function = "MPI_Reduce", .place = "somewhere, \"quoted\"", .comm = "world"};
    site.arrivals = imposed("descending", 3, 1000, &source);
    site.arrivals.enter_ns[3 * 7 + 1] += 2e10; /* longer than mpix_bench allows: call 7 is left out */
    char path[] = "/tmp/trace_report_XXXXXX", why[ARRIVAL_WHY_BYTES];
    FILE *file = fdopen(mkstemp(path), "w");
    EXPECT(file && tables_pattern(file, &site) == CALLS - 1 && fclose(file) == 0, "%s: not written", path);
    arrival_table_t table;
    EXPECT(arrival_table_read(&table, path, why), "mpix_bench refuses the file: %s", why);
    EXPECT(table.ranks == 3 && table.calls == CALLS - 1, "%d ranks, %" PRId64 " calls", table.ranks, table.calls);
    for (int call = 0; call < CALLS - 1; call++) {
        const int place = 3 * (call < 7 ? call : call + 1);
        const double *enter_ns = site.arrivals.enter_ns + place;
        double first_ns = fmin(fmin(enter_ns[0], enter_ns[1]), enter_ns[2]);
        for (int rank = 0; rank < 3; rank++)
            EXPECT((double)table.delays_ns[3 * call + rank] == enter_ns[rank] - first_ns, "call %d, rank %d: %" PRId64,
                   call, rank, table.delays_ns[3 * call + rank]);
    }
    arrival_table_free(&table);
    arrivals_free(&site.arrivals);
    unlink(path);
}

/* ---- A small trace of two ranks, which call MPI_Bcast from one place and then from another one */

enum { REGION = MADE_SCAN, EVENTS = 10 };
static const uint8_t kinds[EVENTS] = {TRACE_ENTER, TRACE_ENTER,      TRACE_COLLECTIVE, TRACE_LEAVE, TRACE_LEAVE,
                                      TRACE_ENTER, TRACE_COLLECTIVE, TRACE_LEAVE,      TRACE_LEAVE, TRACE_ENTER};
static const uint16_t ids[EVENTS] = {REGION,     MADE_BCAST, 0,          MADE_BCAST, REGION,
                                     MADE_BCAST, 0,          MADE_BCAST, REGION,     REGION};
static const double times[2][EVENTS] = {{0, 10, 30, 30, 40, 100, 180, 180, 190, 200},
                                        {5, 20, 35, 35, 45, 170, 185, 185, 190, 200}};

/* Objects lie at other addresses on each rank. */
static void make_trace(made_trace *made, trace_matches *matches)
{
    static const made_clock clocks[2] = {{0}};
    made_begin(made, 2, clocks, 1);
    free(made->trace.names[REGION]);
    made->trace.names[REGION] = strdup("region 1");
    for (int rank = 0; rank < 2; rank++) {
        const uint64_t base = rank == 0 ? 0x5000 : 0x9000;
        trace_process *process = &made->trace.processes[rank];
        process->sites = calloc(2, sizeof *process->sites);
        process->sites[process->site_count++] = (trace_site){base + 0x10, strdup("main+0x10 (0x1010) in program")};
        process->sites[process->site_count++] = (trace_site){base + 0x20, strdup("+0x1020 in program")};
        for (int i = 0; i < EVENTS; i++)
            made_event(made, rank, times[rank][i],
                       (trace_event){.kind = kinds[i],
                                     .id = ids[i],
                                     .tag = i,
                                     .value = i == 1   ? base + 0x10
                                              : i == 5 ? base + 0x20
                                                       : 0});
    }
    trace_set_times(&made->trace, TRACE_LOCAL);
    made_match(made, matches);
}

static void free_trace(made_trace *made, trace_matches *matches)
{
    trace_matches_free(matches);
    made_free(made);
}

TEST(sites_of_a_trace)
{
    made_trace made;
    trace_matches matches;
    sites_t sites;
    make_trace(&made, &matches);
    sites_find(&sites, &made.trace, &matches);
    EXPECT(sites.count == 2, "%d sites", sites.count);
    EXPECT(strcmp(sites.list[0].place, "+0x1020 in program") == 0 && sites.list[0].summary.wait_ns == 70,
           "first: %s, waited %g", sites.list[0].place, sites.list[0].summary.wait_ns);
    EXPECT(strcmp(sites.list[1].place, "main+0x10 (0x1010) in program") == 0 &&
               sites.list[1].summary.spread_max_ns == 10,
           "second: %s", sites.list[1].place);
    EXPECT(strcmp(sites.list[0].comm, "world") == 0 && strcmp(sites.list[0].function, "MPI_Bcast") == 0, "%s on %s",
           sites.list[0].function, sites.list[0].comm);
    EXPECT(sites.list[0].summary.bound_ns < 0, "clocks without records have a bound");
    sites_free(&sites);
    /* Both from one place: one site. Without symbols they go by the addresses of rank 0. */
    trace_process *first = &made.trace.processes[0];
    first->locations[0].events[5].value = 0x5010;
    sites_find(&sites, &made.trace, &matches);
    EXPECT(sites.count == 1, "%d sites", sites.count);
    EXPECT(sites.list[0].arrivals.calls == 2 && sites.list[0].arrivals.enter_ns[0] == 10, "calls are not by time");
    sites_free(&sites);
    first->site_count = 0;
    sites_find(&sites, &made.trace, &matches);
    EXPECT(sites.count == 1, "%d sites", sites.count);
    EXPECT(strcmp(sites.list[0].place, "0x5010") == 0, "%s", sites.list[0].place);
    sites_free(&sites);
    first->site_count = 2;
    free_trace(&made, &matches);
}

TEST(time_by_function_and_rank)
{
    made_trace made;
    trace_matches matches;
    profile_t profile;
    make_trace(&made, &matches);
    made.trace.processes[1].locations[0].events[7].value = 9; /* unsuccessful calls that it stands for */
    profile_make(&profile, &made.trace);
    EXPECT(profile.count == 4, "%zu rows", profile.count);
    const usage_t *bcast = &profile.list[0];
    EXPECT(strcmp(bcast[0].function, "MPI_Bcast") == 0 && bcast[0].rank == 0 && bcast[0].calls == 2 &&
               bcast[0].total_ns == 100 && bcast[0].longest_ns == 80 && bcast[0].share == 0.5,
           "%s of rank %d: %" PRId64 " calls, %g ns", bcast[0].function, bcast[0].rank, bcast[0].calls,
           bcast[0].total_ns);
    EXPECT(bcast[1].rank == 1 && bcast[1].calls == 10 && bcast[1].total_ns == 30, "rank 1: %" PRId64 " calls, %g ns",
           bcast[1].calls, bcast[1].total_ns);
    /* The region around the first call; a LEAVE without its ENTER and an ENTER without its LEAVE are none. */
    EXPECT(profile.list[2].calls == 1 && profile.list[2].total_ns == 40, "region: %" PRId64 " calls, %g ns",
           profile.list[2].calls, profile.list[2].total_ns);
    profile_free(&profile);
    free_trace(&made, &matches);
}

/* Regions within regions: none is lost, and one that is never left goes on to the end. */
/* A letter may be of several bytes. */
TEST(texts_are_shortened_in_the_middle)
{
    static const struct {
        const char *text, *shorter;
        int allowed;
    } texts[] = {{"0123456789", "0123456789", 10}, {"0123456789", "012...789", 9},    {"0123456789", "0...9", 5},
                 {"äöüßäöüßäö", "äöüßäöüßäö", 10}, {"äöüßäöüßäöü", "äöü...ßäöü", 10}, {"", "", 5}};
    for (int i = 0; i < COUNT_OF(texts); i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", texts[i].text);
        text_shorten(text, texts[i].allowed);
        ck_assert_str_eq(text, texts[i].shorter);
    }
}

TEST(deep_regions)
{
    enum { DEPTH = 100 };
    static trace_event events[2 * DEPTH];
    static double global_ns[2 * DEPTH];
    trace_location location = {.count = 2 * DEPTH - 1, .events = events, .global_ns = global_ns};
    span_walk_t walk = {.location = &location};
    span_t span;
    int count = 0;
    for (int i = 0; i < 2 * DEPTH; i++)
        events[i] = (trace_event){.kind = i < DEPTH ? TRACE_ENTER : TRACE_LEAVE, .id = REGION};
    calls_find(&location);
    for (; span_next(&walk, &span); count++) {
        bool is_open = count == 0;
        EXPECT(span.depth == count && span.is_open == is_open, "call %d has depth %d", count, span.depth);
        EXPECT(span.leave == (size_t)(2 * DEPTH - 1 - (is_open ? 1 : count)), "call %d ends at %zu", count, span.leave);
    }
    free(location.calls);
    EXPECT(count == DEPTH, "%d calls", count);
}
