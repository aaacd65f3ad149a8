/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_logical_clock.c - the controlled logical clock: small problems of known solution, and made traces, of which
 * no condition is violated afterwards and nothing is moved that need not be.
 */
#include "made_trace.h"
#include "unit/support.h"
#include "common/cli/memory.h"
#include "trace/check/check.h"

enum { RANKS = 4, LATENCY_NS = 700 };
static const double ratio = 0.01;

/* Two locations of four nodes; a message from the first node of 0 to the third of 1. */
static const size_t two_first[] = {0, 4, 8};
static const logical_member two_members[] = {{0, 0}, {6, 1}};
static const logical_rule two_rules[] = {{0, 1, 2}};

static logical_problem two_locations(int64_t *time_ns)
{
    return (logical_problem){.location_count = 2,
                             .first = two_first,
                             .time_ns = time_ns,
                             .rule_count = 1,
                             .rules = two_rules,
                             .members = two_members,
                             .latency_ns = 100};
}

TEST(what_violates_nothing_stays)
{
    int64_t time_ns[] = {1000, 2000, 3000, 4000, 0, 500, 1100, 5000};
    const int64_t before_ns[] = {1000, 2000, 3000, 4000, 0, 500, 1100, 5000};
    const logical_problem problem = two_locations(time_ns);
    ck_assert(logical_clock(&problem, ratio));
    ck_assert_mem_eq(time_ns, before_ns, sizeof time_ns);
}

/* Off by 1000 ns, which takes 100 000 ns on both sides to fade. */
TEST(a_violation_fades_on_both_sides)
{
    int64_t time_ns[] = {1000900, 2000000, 3000000, 4000000, 0, 950000, 1000000, 1050000};
    const logical_problem problem = two_locations(time_ns);
    ck_assert(logical_clock(&problem, ratio));
    ck_assert_int_eq(time_ns[4], 0);
    ck_assert_int_eq(time_ns[5], 950500);
    ck_assert_int_eq(time_ns[6], 1001000);
    ck_assert_int_eq(time_ns[7], 1050500);
    ck_assert_int_eq(time_ns[0], 1000900);
}

TEST(a_contradiction_is_told)
{
    /* Each waits for what is after itself. */
    static const logical_member members[] = {{1, 0}, {4, 1}, {5, 1}, {0, 0}};
    static const logical_rule rules[] = {{0, 1, 2}, {2, 3, 4}};
    int64_t time_ns[8] = {0};
    logical_problem problem = two_locations(time_ns);
    problem.members = members;
    problem.rules = rules;
    problem.rule_count = 2;
    ck_assert(!logical_clock(&problem, ratio));
}

/* ---- Made traces */

/* The trace of a test, and what is found in it. */
static made_trace made;
static trace_matches matches;
static conditions found;

static void begin(void)
{
    made = (made_trace){.now_ns = NULL};
    matches = (trace_matches){0};
    found = (conditions){0};
}

static void end(void)
{
    conditions_free(&found);
    trace_matches_free(&matches);
    made_free(&made);
}

static void make(const made_clock *clocks, int rounds, double work_ns)
{
    static const made_name calls[] = {MADE_ALLREDUCE, MADE_BARRIER, MADE_BCAST, MADE_REDUCE};
    made_begin(&made, RANKS, clocks, base_seed());
    for (int i = 0; i < rounds; i++) {
        for (int rank = 0; rank < RANKS; rank++)
            made_work(&made, rank, work_ns * random_fraction(&made.chance));
        int from = (int)(random_next(&made.chance) % RANKS);
        int to = (from + 1 + (int)(random_next(&made.chance) % (RANKS - 1))) % RANKS;
        made_message(&made, from, to, i % 3, 1000);
        if (i % 5 < COUNT_OF(calls))
            made_collective(&made, calls[i % 5], i % 5 < 2 ? -1 : i % RANKS, 1000);
    }
    made_records(&made, 0, 1);
}

static check_sum count_violations(const int64_t *time_ns)
{
    check_relations relations = check_times(&found, time_ns, LATENCY_NS, false);
    check_sum *sums = malloc((found.member_count + 1) * sizeof *sums);
    int64_t *scratch_ns = malloc((found.member_count + 1) * sizeof *scratch_ns);
    ck_assert(sums && scratch_ns);
    ck_assert_uint_eq(check_sums(&relations, CHECK_ALL, sums, scratch_ns), 1);
    const check_sum all = sums[0];
    size_t by_pairs = 0, pairs = check_sums(&relations, CHECK_PAIR, sums, scratch_ns);
    for (size_t i = 0; i < pairs; i++)
        by_pairs += sums[i].violations;
    ck_assert_uint_eq(by_pairs, all.violations);
    free(relations.list);
    free(sums);
    free(scratch_ns);
    return all;
}

static void expect_order(const int64_t *time_ns, const int64_t *before_ns)
{
    for (size_t i = 0; i < found.location_count; i++)
        for (size_t k = found.first[i]; k < found.first[i + 1]; k++) {
            EXPECT(time_ns[k] >= before_ns[k], "event %zu is earlier", k);
            if (k == found.first[i])
                continue;
            const double apart_ns = (double)(before_ns[k] - before_ns[k - 1]);
            EXPECT((double)(time_ns[k] - time_ns[k - 1]) >= (1 - ratio) * apart_ns - 1,
                   "event %zu: an interval of %g has become %" PRId64, k, apart_ns, time_ns[k] - time_ns[k - 1]);
        }
}

/* Afterwards nothing is violated, and nothing is moved where nothing was. Returns what was before. */
static check_sum correct_made(void)
{
    made_match(&made, &matches);
    conditions_find(&made.trace, &matches, &found);
    const size_t bytes = found.event_count * sizeof(int64_t);
    int64_t *time_ns = malloc(bytes), *before_ns = malloc(bytes);
    ck_assert(time_ns && before_ns);
    trace_set_times(&made.trace, TRACE_START);
    conditions_times(&found, time_ns);
    memcpy(before_ns, time_ns, bytes);
    const check_sum before = count_violations(time_ns);
    ck_assert(conditions_correct(&found, LATENCY_NS, time_ns));
    const check_sum after = count_violations(time_ns);
    EXPECT(after.violations == 0, "%zu violations, of up to %" PRId64 " ns", after.violations, after.max_ns);
    expect_order(time_ns, before_ns);
    EXPECT(before.violations > 0 || memcmp(time_ns, before_ns, bytes) == 0, "right times are moved");
    free(time_ns);
    free(before_ns);
    return before;
}

static const made_clock exact[RANKS] = {{0}};

TEST(true_times_stay)
{
    make(exact, 400, 1e5);
    const check_sum before = correct_made();
    EXPECT(before.relations > 1000 && before.violations == 0, "%zu of %zu", before.violations, before.relations);
}

LOOP_TEST(nothing_is_violated_afterwards, 3)
{
    static const double works_ns[] = {1e3, 1e5, 1e7};
    static const made_clock clocks[RANKS] = {
        {0, 0, 0, 0}, {123, 20e-6, 0, 0}, {-55, -30e-6, 5e-6, 0.01}, {7, 1e-6, 0, 0}};
    make(clocks, rounds_of(2000), works_ns[_i]);
    const check_sum before = correct_made();
    EXPECT(works_ns[_i] < 1e5 || before.violations > 100, "only %zu violations", before.violations);
}

/* Whatever the form of a function: with large counts, or begun by MPI_Start. */
LOOP_TEST(all_forms_of_an_operation_wait, 4)
{
    static const char *const forms[] = {"MPI_Allreduce_c", "MPI_Iallreduce", "MPI_Allreduce_init", "MPI_Iallreduce_c"};
    made_begin(&made, RANKS, exact, 1);
    made_collective(&made, MADE_ALLREDUCE, -1, 1000);
    free(made.trace.names[MADE_ALLREDUCE]);
    made.trace.names[MADE_ALLREDUCE] = strdup(forms[_i]);
    for (int rank = 0; rank < RANKS; rank++) { /* the operation is told behind it, not by the call around it */
        trace_event *events = made.trace.processes[rank].locations[0].events;
        events[0].id = events[3].id = MADE_WAIT;
    }
    made_match(&made, &matches);
    conditions_find(&made.trace, &matches, &found);
    EXPECT(found.rule_count == 1 && found.member_count == 2UL * RANKS, "%s: %zu rules", forms[_i], found.rule_count);
}

/* A location of a further rank becomes a thread of a process. */
static void make_thread(int from, int to)
{
    trace_process *source = &made.trace.processes[from], *process = &made.trace.processes[to];
    const size_t thread = process->location_count++;
    process->locations = realloc(process->locations, process->location_count * sizeof *process->locations);
    ck_assert(process->locations);
    process->locations[thread] = source->locations[0];
    process->locations[thread].process = process;
    process->locations[thread].rank = to;
    process->locations[thread].thread = (int)thread;
    source->location_count = 0;
}

/* Rank 1 posts a receive after a message that came too early. Another thread of it waits for this receive. */
TEST(a_request_of_two_threads_ends_after_it_began)
{
    enum { EARLY_TAG, TAG, THREAD = 2, POST = 4, DONE = 1 };
    int64_t time_ns[20];
    made_begin(&made, 3, exact, 1);
    made_send(&made, 0, 1, TAG);
    made_work(&made, 0, 5000);
    made_send(&made, 0, 1, EARLY_TAG);
    made_receive(&made, 1, 0, EARLY_TAG, 0, 1000);
    made_enter(&made, 1, MADE_IRECV);
    made_put(&made, 1, (trace_event){.kind = TRACE_RECEIVE_POST, .tag = TAG, .request = 1});
    made_leave(&made, 1, MADE_IRECV);
    made_work(&made, THREAD, 1500);
    made_enter(&made, THREAD, MADE_WAIT);
    made_put(&made, THREAD, (trace_event){.kind = TRACE_RECEIVE, .tag = TAG, .request = 1});
    made_leave(&made, THREAD, MADE_WAIT);
    made_records(&made, 0, 1);
    make_thread(THREAD, 1);
    made_match(&made, &matches);
    trace_set_times(&made.trace, TRACE_START);
    conditions_find(&made.trace, &matches, &found);
    ck_assert_uint_le(found.event_count, COUNT_OF(time_ns));
    conditions_times(&found, time_ns);
    ck_assert_uint_eq(count_violations(time_ns).violations, 1);
    ck_assert(conditions_correct(&found, LATENCY_NS, time_ns));
    const check_sum after = count_violations(time_ns);
    EXPECT(after.relations == 2 && after.violations == 0, "%zu of %zu", after.violations, after.relations);
    const int64_t post_ns = time_ns[found.first[1] + POST], done_ns = time_ns[found.first[2] + DONE];
    EXPECT(done_ns == post_ns, "posted at %" PRId64 ", received at %" PRId64, post_ns, done_ns);
}

/* Enough to show what recurs for each event, or takes the square of their number. */
TEST(hundreds_of_thousands_of_events)
{
    static const made_clock clocks[RANKS] = {{0, 0, 0, 0}, {123, 1e-6, 0, 0}, {-55, -2e-6, 0, 0}, {7, 1e-6, 0, 0}};
    make(clocks, 15500, 1e4);
    correct_made();
    EXPECT(found.event_count > 250000, "%zu", found.event_count);
}

FIXTURE(begin, end)
