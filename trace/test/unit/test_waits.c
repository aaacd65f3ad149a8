/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_waits.c - who waits for whom in short traces: in operations that are torn or between groups, where a run begins
 * and ends, and where the analysis has to say nothing.
 */
#include "unit/support.h"
#include "common/cli/memory.h"
#include "trace/read/paths.h"
#include "trace/report/answer.h"
#include "analyzed.h"

/* A torn trace may have an operation in which all get something and nobody gives it. Rank 1 waits for rank 0 later. */
TEST(nobody_gives)
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    begin(&made, 2);
    for (int rank = 0; rank < 2; rank++) {
        made_event(&made, rank, 100, (trace_event){.kind = TRACE_ENTER, .id = MADE_ALLREDUCE});
        made_event(&made, rank, 300, (trace_event){.kind = TRACE_COLLECTIVE, .partner = -1, .tag = 1});
        made_event(&made, rank, 300, (trace_event){.kind = TRACE_COLLECTIVE_OUT, .value = 8, .id = MADE_ALLREDUCE});
        made_event(&made, rank, 300, (trace_event){.kind = TRACE_LEAVE, .id = MADE_ALLREDUCE});
    }
    made_work(&made, 0, 5000);
    made_message(&made, 0, 1, 0, LATENCY_NS);
    made_message(&made, 0, 0, 0, LATENCY_NS);
    made_records(&made, 0, 0);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    expect_sums(&found, "nobody gives", 2);
    EXPECT(found.waits.count == 1 && found.order[0]->charged_ns == 5000 && found.order[0]->late_ns == 5000, "%zu waits",
           found.waits.count);
    forget(&found, &matches, &made);
}

/* Between two groups, what nobody gives is not known: each waits for the other one, or not. */
TEST(bytes_between_groups_are_not_known)
{
    static const struct {
        uint64_t bytes[2];
        int64_t unseen_ns;
    } given[] = {{{0, 0}, 800}, {{8, 0}, 0}, {{8, 8}, 0}};
    for (int i = 0; i < COUNT_OF(given); i++) {
        made_trace made;
        wait_analysis found;
        trace_matches matches;
        begin(&made, 2);
        made_bridge(&made);
        for (int rank = 0; rank < 2; rank++) {
            made_event(&made, rank, 100, (trace_event){.kind = TRACE_ENTER, .id = MADE_ALLREDUCE});
            made_event(&made, rank, 500,
                       (trace_event){
                           .kind = TRACE_COLLECTIVE, .partner = -1, .value = given[i].bytes[rank], .tag = 1, .id = 1});
            made_event(&made, rank, 500, (trace_event){.kind = TRACE_COLLECTIVE_OUT, .id = MADE_ALLREDUCE});
            made_event(&made, rank, 500, (trace_event){.kind = TRACE_LEAVE, .id = MADE_ALLREDUCE});
        }
        made_records(&made, 0, 0);
        analyze(&found, &matches, &made, TRACE_GLOBAL);
        EXPECT(found.unseen_ns == given[i].unseen_ns, "bytes %" PRIu64 " and %" PRIu64 ": %" PRId64, given[i].bytes[0],
               given[i].bytes[1], found.unseen_ns);
        forget(&found, &matches, &made);
    }
}

/* What a probe found may be received after another message. If it ends long after that was sent, it is not known. */
static const struct {
    int64_t until_found_ns;
    size_t waits;
} early_probes[] = {{LATENCY_NS, 1}, {900000, 1}, {1100000, 0}};

LOOP_TEST(a_probe_waits_for_what_is_received_later, COUNT_OF(early_probes))
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    begin(&made, 2);
    const double first_ns = made_send(&made, 1, 0, 1);
    made_work(&made, 1, WORK_NS);
    const double sent_ns = made_send(&made, 1, 0, 2);
    made_work(&made, 0, RESULT_NS);
    made_enter(&made, 0, MADE_PROBE);
    made_work(&made, 0, sent_ns + (double)early_probes[_i].until_found_ns - RESULT_NS);
    made_leave(&made, 0, MADE_PROBE);
    made_receive(&made, 0, 1, 1, first_ns, LATENCY_NS);
    made_receive(&made, 0, 1, 2, sent_ns, LATENCY_NS);
    made_records(&made, 0, 0);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    expect_sums(&found, "an early probe", 2);
    EXPECT(found.waits.count == early_probes[_i].waits &&
               found.causes.waited_ns == (early_probes[_i].waits > 0 ? (int64_t)sent_ns - RESULT_NS : 0),
           "%zu waits, of %" PRId64 " ns", found.waits.count, found.causes.waited_ns);
    EXPECT(found.waits.count == 0 || found.waits.list[0].state == STATE_WRONG_ORDER, "the other one had been sent");
    forget(&found, &matches, &made);
}

/* ---- Polling */

enum { POLLS = 5, POLL_PLACE = 0x1000 };

static const struct {
    const char *name;
    int64_t work_ns;  /* between two rounds of tests */
    int others;       /* tests at another place in each round, */
    uint64_t nothing; /* that found nothing, or had no request */
    bool waits;
} polls[] = {{"a request", 200000, 0, 0, true},
             {"two requests in turn", 200000, 1, 1, true},
             {"a request that is complete, too", 200000, 1, 0, true},
             {"a request, with much work", 2000000, 0, 0, false},
             {"two requests in turn, with much work", 2000000, 1, 1, false}};

static void test_at(made_trace *made, uint64_t place, uint64_t unsuccessful)
{
    made->site = place;
    made_enter(made, 0, MADE_TEST);
    made_work(made, 0, RESULT_NS);
    made_put(made, 0, (trace_event){.kind = TRACE_LEAVE, .id = MADE_TEST, .value = unsuccessful});
}

LOOP_TEST(a_rank_that_polls_waits, COUNT_OF(polls))
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    answer_t answer;
    trace_event event = {.kind = TRACE_RECEIVE_POST, .partner = 1, .request = 1};
    begin(&made, 2);
    made_enter(&made, 0, MADE_IRECV);
    made_put(&made, 0, event);
    made_leave(&made, 0, MADE_IRECV);
    const double began_ns = made.now_ns[0] += WORK_NS;
    for (int i = 0; i < POLLS; i++) {
        test_at(&made, POLL_PLACE, 1);
        for (int k = 0; k < polls[_i].others; k++)
            test_at(&made, POLL_PLACE + 1, polls[_i].nothing);
        made_work(&made, 0, (double)polls[_i].work_ns);
    }
    made_work(&made, 1, made.now_ns[0] - WORK_NS);
    const double sent_ns = made_send(&made, 1, 0, 0);
    made_enter(&made, 0, MADE_TEST);
    made_work(&made, 0, LATENCY_NS);
    event.kind = TRACE_RECEIVE;
    made_put(&made, 0, event);
    made_leave(&made, 0, MADE_TEST);
    made_records(&made, 0, 0);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    EXPECT(found.causes.waited_ns == (polls[_i].waits ? (int64_t)(sent_ns - began_ns) : 0),
           "%s: it waits for %" PRId64 " ns", polls[_i].name, found.causes.waited_ns);
    EXPECT((found.polled_ns >= POLLS * polls[_i].work_ns) == !polls[_i].waits, "%s: polled for %" PRId64 " ns",
           polls[_i].name, found.polled_ns);
    answer_make(&answer, &found);
    EXPECT((strstr(answer.sentences[0].text, " Ranks poll: ") != NULL) == !polls[_i].waits, "%s: %s", polls[_i].name,
           answer.sentences[0].text);
    EXPECT(polls[_i].waits || strstr(answer.sentences[0].text, "the most is that of rank 0 before MPI_Test at 0x1000."),
           "%s: %s", polls[_i].name, answer.sentences[0].text);
    forget(&found, &matches, &made);
}

/* ---- Places */

/* Barriers of one line that two lines call, and of another one. */
static void add_callers(trace_process *to)
{
    static const char *const symbols[] = {"meet.c:9 meet (0x2009) in a", "main.c:5 main (0x3005) in a",
                                          "main.c:7 main (0x3007) in a"};
    static const uint64_t frames[][2] = {{1, 2}, {1, 3}, {2, 3}};
    enum { COUNT = 3, FRAMES = 2 };
    to->sites = or_exit(calloc(COUNT, sizeof *to->sites));
    to->paths = or_exit(calloc(COUNT, sizeof *to->paths));
    to->site_count = to->path_count = COUNT;
    for (uint64_t i = 0; i < COUNT; i++) {
        to->sites[i] = (trace_site){i + 1, strdup(symbols[i])};
        to->paths[i] = (trace_call_path){.number = i + 1, .function = MADE_BARRIER, .count = FRAMES};
        to->paths[i].frames = or_exit(malloc(sizeof frames[i]));
        memcpy(to->paths[i].frames, frames[i], sizeof frames[i]);
    }
}

TEST(a_sentence_names_callers)
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    answer_t answer;
    begin(&made, 2);
    for (made.site = 3; made.site > 0; made.site--) {
        made_work(&made, 1, made.site == 1 ? WORK_NS : 0);
        made_collective(&made, MADE_BARRIER, -1, LATENCY_NS);
    }
    for (int rank = 0; rank < 2; rank++)
        add_callers(&made.trace.processes[rank]);
    paths_choose(&made.trace);
    made_records(&made, 0, 0);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    answer_make(&answer, &found);
    EXPECT(strstr(answer.sentences[0].text, "between MPI_Barrier at meet.c:9 from main.c:7 and MPI_Barrier at "
                                            "meet.c:9 from main.c:5, by"),
           "%s", answer.sentences[0].text);
    forget(&found, &matches, &made);
}

/* ---- The edges of the run */

enum { INIT_NS = 5000000, SKEW_NS = 300000, STAY_NS = 200000, SLOW_NS = 50000, LAST_NS = 2000000 };

/* What the recorder does with all processes: until the last one has come, and some time. */
static void look(made_trace *made, int64_t rank_1_ns)
{
    const double last_ns = fmax(made->now_ns[0], made->now_ns[1]) + 70000;
    for (int rank = 0; rank < 2; rank++) {
        made_enter(made, rank, MADE_CLOCK);
        made->now_ns[rank] = last_ns + (rank == 1 ? (double)rank_1_ns : 0);
        made_leave(made, rank, MADE_CLOCK);
    }
}

/*
 * Rank 1 calls MPI_Init late, stays in it for longer, and the recorder holds it there. The clocks are looked after when
 * only one phase is left, in which rank 1 computes for longer.
 */
static void make_edges(made_trace *made)
{
    begin(made, 2);
    made_work(made, 1, SKEW_NS);
    made_enter(made, 0, MADE_INIT);
    made_enter(made, 1, MADE_INIT);
    made->now_ns[0] = made->now_ns[1] = INIT_NS;
    made_work(made, 1, STAY_NS);
    made_leave(made, 0, MADE_INIT);
    made_leave(made, 1, MADE_INIT);
    look(made, SLOW_NS);
    made_work(made, 0, WORK_NS);
    made_work(made, 1, WORK_NS);
    made_collective(made, MADE_ALLREDUCE, -1, LATENCY_NS);
    look(made, 0);
    made_work(made, 0, WORK_NS);
    made_work(made, 1, WORK_NS + LAST_NS);
    look(made, 0);
    made_enter(made, 0, MADE_FINALIZE);
    made_enter(made, 1, MADE_FINALIZE);
    made_leave(made, 0, MADE_FINALIZE);
    made_leave(made, 1, MADE_FINALIZE);
    made_records(made, 0, 0);
}

static int64_t charged_at(const wait_analysis *of, made_name to, bool is_call)
{
    int64_t ns = 0;
    for (size_t i = 0; i < of->causes.count; i++) {
        const cause_key *key = &of->causes.list[i].key;
        if (key->rank == 1 && key->is_call == is_call && key->to != GRAPH_NONE &&
            of->graph.places.list[key->to].function == to)
            ns += of->causes.list[i].charged_ns;
    }
    return ns;
}

/* All of it is in the answer, and what the recorder does with all processes at the edges is not. */
TEST(nothing_of_the_run_is_lost)
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    answer_t answer;
    make_edges(&made);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    expect_sums(&found, "edges", 2);
    EXPECT(charged_at(&found, MADE_INIT, false) == SKEW_NS, "begins late by %" PRId64,
           charged_at(&found, MADE_INIT, false));
    EXPECT(charged_at(&found, MADE_INIT, true) == STAY_NS, "stays in MPI_Init for %" PRId64,
           charged_at(&found, MADE_INIT, true));
    EXPECT(charged_at(&found, MADE_CLOCK, true) == SLOW_NS, "the recorder keeps it for %" PRId64,
           charged_at(&found, MADE_CLOCK, true));
    EXPECT(charged_at(&found, MADE_FINALIZE, false) == LAST_NS, "ends late by %" PRId64,
           charged_at(&found, MADE_FINALIZE, false));
    const int64_t run_ns = SKEW_NS + STAY_NS + SLOW_NS + 2 * WORK_NS + LATENCY_NS + 70000 + LAST_NS;
    EXPECT(found.run_ns == run_ns, "the run takes %" PRId64 ", not %" PRId64, found.run_ns, run_ns);
    EXPECT(found.order[0]->without_ns == run_ns - LAST_NS && found.order[0]->taken_ns == LAST_NS,
           "without the first cause it takes %" PRId64, found.order[0]->without_ns);
    answer_make(&answer, &found);
    EXPECT(strncmp(answer.sentences[0].text, "Rank 1 ends late: ", 18) == 0, "%s", answer.sentences[0].text);
    EXPECT(strncmp(answer.sentences[1].text, "Rank 1 begins late, by ", 23) == 0, "%s", answer.sentences[1].text);
    forget(&found, &matches, &made);
}

/* ---- What is not concluded */

TEST(threads_are_not_predicted)
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    make_edges(&made);
    made.trace.processes[1].locations[0].thread = 1;
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    for (size_t i = 0; i < found.causes.count; i++)
        EXPECT(!found.order[i]->is_replayed, "cause %zu", i);
    forget(&found, &matches, &made);
}

/* Rank 1 computes for 10 us, and switches recording off for 90. Rank 0 computes for 50, and waits. */
TEST(what_is_not_recorded_is_no_cause)
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    answer_t answer;
    begin(&made, 2);
    made_calls(&made, MADE_INIT);
    made_work(&made, 0, 50000);
    made_work(&made, 1, 10000);
    made_enter(&made, 1, MADE_OFF);
    made_work(&made, 1, 90000);
    made_leave(&made, 1, MADE_OFF);
    made_collective(&made, MADE_ALLREDUCE, -1, LATENCY_NS);
    made_records(&made, 0, 0);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    const int64_t off_ns = charged_at(&found, MADE_OFF, true);
    EXPECT(off_ns >= 40000 && found.unexplained_ns == off_ns, "%" PRId64 " of %" PRId64 " are not explained",
           found.unexplained_ns, off_ns);
    for (size_t i = 0; i < found.causes.count; i++) {
        const cause *one = found.order[i];
        EXPECT(!one->key.is_call || !one->is_replayed || found.graph.places.list[one->key.to].function != MADE_OFF,
               "cause %zu", i);
    }
    answer_make(&answer, &found);
    for (int i = 0; i < answer.count; i++)
        EXPECT(!strstr(answer.sentences[i].text, "late in unrecorded") &&
                   !strstr(answer.sentences[i].text, "No cause of waits"),
               "%s", answer.sentences[i].text);
    EXPECT(answer.sentences[0].kind == ANSWER_UNSEEN && answer.sentences[1].kind == ANSWER_WAITS &&
               strstr(answer.sentences[1].text, "The trace does not show why ranks wait for "),
           "%s %s", answer.sentences[0].text, answer.sentences[1].text);
    /* Rank 0 computes for half of the time, rank 1 for all that is known of it. */
    EXPECT(fabs(found.load_balance - 0.75) < 0.02 && found.serialization > 0.98 && found.serialization <= 1 &&
               found.transfer > 0.97,
           "load balance %g, serialization %g, transfer %g", found.load_balance, found.serialization, found.transfer);
    forget(&found, &matches, &made);
}

/* Rank 1 is late ten times, by less than the clocks may be wrong; then its buffer is full. */
TEST(waits_that_clocks_hide_are_told)
{
    enum { TIMES = 10, LATE_NS = 50000, ERROR_NS = 2 * LATE_NS };
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    answer_t answer;
    begin(&made, 2);
    for (int i = 0; i < TIMES; i++) {
        made_work(&made, 1, LATE_NS);
        made_collective(&made, MADE_BARRIER, -1, LATENCY_NS);
    }
    made_records(&made, 0, ERROR_NS);
    made.trace.processes[1].locations[0].last.kind = TRACE_DROPPED;
    analyze(&found, &matches, &made, TRACE_LOCAL);
    answer_make(&answer, &found);
    EXPECT(found.waits.count == 0 && found.waits.hidden_ns >= (int64_t)TIMES * LATE_NS, "%zu waits, and %" PRId64 " ns",
           found.waits.count, found.waits.hidden_ns);
    EXPECT(strstr(answer.sentences[0].text, "longer than the clocks may be wrong. Ranks seem to wait for ") &&
               !strstr(answer.sentences[0].text, " more"),
           "%s", answer.sentences[0].text);
    EXPECT(strstr(answer.sentences[1].text, " On 1 of 2 ranks the buffer was full"), "%s", answer.sentences[1].text);
    forget(&found, &matches, &made);
}

/* The others wait for a call of which nothing is known. */
TEST(a_late_call_may_wait_itself)
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    answer_t answer;
    begin(&made, 4);
    made_calls(&made, MADE_INIT);
    made_enter(&made, 1, MADE_PUT);
    made_work(&made, 1, WORK_NS);
    made_leave(&made, 1, MADE_PUT);
    made_collective(&made, MADE_ALLREDUCE, -1, LATENCY_NS);
    made_work(&made, 1, WORK_NS);
    made_collective(&made, MADE_ALLREDUCE, -1, LATENCY_NS);
    made_records(&made, 0, 0);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    answer_make(&answer, &found);
    for (int i = 0; i < answer.causes; i++)
        EXPECT((strstr(answer.sentences[i].text, ", where it may wait itself, by ") != NULL) ==
                   found.order[i]->key.is_call,
               "%s", answer.sentences[i].text);
    EXPECT(answer.causes == 2, "%d causes", answer.causes);
    forget(&found, &matches, &made);
}

/* Of four ranks, two have events. */
TEST(percentages_are_of_ranks_with_events)
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    answer_t answer;
    begin(&made, 4);
    made_work(&made, 0, WORK_NS);
    made_message(&made, 0, 1, 0, LATENCY_NS);
    made_work(&made, 1, WORK_NS);
    made_message(&made, 1, 0, 0, LATENCY_NS);
    made_records(&made, 0, 0);
    made_leave_out(&made, 2);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    const double percent = analysis_percent(&found, 2 * (double)found.run_ns);
    EXPECT(fabs(percent - 100) < 1e-9, "all of both ranks is %g %%", percent);
    answer_make(&answer, &found);
    const char *last = answer.sentences[answer.count - 1].text;
    EXPECT(strstr(last, "Only 2 of 4 ranks are in the trace"), "%s", last);
    forget(&found, &matches, &made);
}

/* Two ranks make a call, and one of them tests nine times. */
TEST(what_recording_takes_is_said)
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    answer_t answer;
    begin(&made, 2);
    made_calls(&made, MADE_INIT);
    made_collective(&made, MADE_ALLREDUCE, -1, LATENCY_NS);
    test_at(&made, POLL_PLACE, 9);
    made_records(&made, 0, 0);
    for (int rank = 0; rank < 2; rank++) {
        free(made.trace.processes[rank].text);
        made.trace.processes[rank].text = strdup("call_ps 40500\n");
    }
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    EXPECT(found.recording_ns == 11 * 40.5, "%g ns", found.recording_ns);
    answer_make(&answer, &found);
    const char *last = answer.sentences[answer.count - 1].text;
    EXPECT(strstr(last, " Recording calls takes about 446 ns, "), "%s", last);
    forget(&found, &matches, &made);
}

TEST(nothing_is_said_of_no_events)
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    answer_t answer;
    begin(&made, 2);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    answer_make(&answer, &found);
    EXPECT(answer.count == 1 && answer.sentences[0].kind == ANSWER_NOTHING, "%s", answer.sentences[0].text);
    forget(&found, &matches, &made);
}
