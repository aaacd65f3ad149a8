/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_clock_reader.c - times by files of clock records, against known truth: a host whose oscillator wanders, whose
 * clocks are slewed and set at any time, and which is suspended. What is read from the file may not be wrong by more
 * than its bound.
 *
 * MH_ROUNDS=100 makes 10^6 readings. MH_VERBOSE=1 prints the errors.
 */
#include "clock_files.h"
#include "mpix_clock_reader.h"
#include "pure/clock_history.h"
#include "pure/clock_writer.h"
#include "pure/model.h"
#include "pure/units.h"
#include "pure/utc_word.h"
#include "support.h"

#include <unistd.h>

/* ---- A host whose clocks are lines between the points of a grid of true time, which is the global one */

#define GRID_NS (10 * MH_NS_PER_MS)
#define LOOK_NS (50 * MH_NS_PER_MS)
#define RECORD_NS (5 * MH_NS_PER_S)
enum { POINTS = 6001, LIMIT_PPB_PER_S = 100, READINGS = 1000, APART = 12 };

typedef struct world {
    chance dice;
    double raw_ns[POINTS], monotonic_ns[POINTS],
        set_ns[POINTS]; /* set_ns: REALTIME less MONOTONIC, from the point on */
    double ticks_per_ns;
    bool may_be_disturbed; /* some clock is set */
} world_t;

typedef enum events { QUIET, SLEWED, STEPPED, SUSPENDED, EVENTS } events_t;

static double between(const double *at, double true_ns)
{
    const size_t point = (size_t)(true_ns / (double)GRID_NS);
    return at[point] + (at[point + 1] - at[point]) * (true_ns / (double)GRID_NS - (double)point);
}

static int64_t read_clock(const world_t *world, mpix_clock_id clock, double true_ns)
{
    const double monotonic_ns = between(world->monotonic_ns, true_ns);
    switch (clock) {
    case MPIX_CLOCK_MONOTONIC_RAW:
        return (int64_t)between(world->raw_ns, true_ns);
    case MPIX_CLOCK_COUNTER:
        return INT64_C(1) << 50 | (int64_t)(world->ticks_per_ns * between(world->raw_ns, true_ns));
    case MPIX_CLOCK_MONOTONIC:
        return (int64_t)monotonic_ns;
    default:
        return (int64_t)monotonic_ns + (int64_t)world->set_ns[(size_t)(true_ns / (double)GRID_NS)];
    }
}

/* apart: the least number of points between two changes of a clock. */
static void make_world(world_t *world, events_t events, int round, int apart)
{
    world->dice = chance_of_round(round);
    chance *dice = &world->dice;
    double ppb = (chance_unit(dice) - 0.5) * 40e3, turn = 0, rate_ppm = (chance_unit(dice) - 0.5) * 30, slew_ppm = 0;
    int64_t slew_until = 0, set_at = 0;
    world->raw_ns[0] = 1e14 * chance_unit(dice);
    world->monotonic_ns[0] = 2e14 * chance_unit(dice);
    world->set_ns[0] = 1.7e18;
    world->may_be_disturbed = events == STEPPED || events == SUSPENDED;
    world->ticks_per_ns = 1 + 3 * chance_unit(dice);
    for (int i = 1; i < POINTS; i++) {
        if (chance_between(dice, 0, 99) == 0)
            turn = (chance_unit(dice) - 0.5) * LIMIT_PPB_PER_S / 2;
        ppb += turn * (double)GRID_NS * MH_S_PER_NS;
        /* What changes twice between two looks is not seen. */
        if (events == SLEWED && i > slew_until + apart && chance_between(dice, 0, 199) == 0) {
            slew_ppm = chance_between(dice, 0, 1) ? 500 : -300;
            slew_until = i + chance_between(dice, apart, 300);
        }
        const double passed_ns = (double)GRID_NS * (1 + ppb * MH_PPB);
        const bool sleeps = events == SUSPENDED && i > 2500 && i <= 2800;
        world->raw_ns[i] = world->raw_ns[i - 1] + (sleeps ? 0 : passed_ns);
        world->monotonic_ns[i] =
            world->monotonic_ns[i - 1] +
            (sleeps ? 0 : passed_ns * (1 + MH_PPM * (rate_ppm + (i <= slew_until ? slew_ppm : 0))));
        world->set_ns[i] = world->set_ns[i - 1] + (sleeps ? passed_ns : 0);
        /* Nobody can know that a clock was set when nobody looks. */
        if (events == STEPPED && i > 400 && i < 5600 && i > set_at + apart && chance_between(dice, 0, 999) == 0) {
            world->set_ns[i] += chance_unit(dice) * 5e8 - 2.5e8;
            set_at = i;
        }
    }
}

/* ---- What a recorder on the host writes */

static const mpix_clock_id clocks[] = {MPIX_CLOCK_MONOTONIC, MPIX_CLOCK_REALTIME, MPIX_CLOCK_COUNTER};

static void write_looks(FILE *to, mpix_clock_id clock, const mh_look *looks, int count)
{
    char line[MH_CLOCK_LINE_BYTES];
    for (int i = 0; i < count; i++) {
        const size_t bytes = mh_clock_look_line(line, "h1", clock, looks[i]);
        fwrite(line, 1, bytes, to);
    }
}

static void write_record(FILE *to, world_t *world, double true_ns)
{
    char line[MH_CLOCK_LINE_BYTES];
    const int64_t bound_ns = chance_between(&world->dice, 500, 8000);
    const int64_t error_ns = (int64_t)((2 * chance_unit(&world->dice) - 1) * (double)bound_ns);
    const size_t bytes = mh_clock_record_line(line, "h1", read_clock(world, MPIX_CLOCK_MONOTONIC_RAW, true_ns),
                                              (int64_t)true_ns + error_ns, bound_ns);
    fwrite(line, 1, bytes, to);
}

/* Between two points of true time: the recorder begins late, ends early, and is suspended with its host. */
static void record(const char *path, world_t *world, events_t events, double from_ns, double to_ns)
{
    static const int64_t namespace_ns[MPIX_CLOCK_IDS];
    char line[MH_CLOCK_LINE_BYTES];
    mh_look_filter filters[COUNT_OF(clocks)];
    mh_look written[2];
    double due_ns = from_ns;
    FILE *to = fopen(path, "w");
    ck_assert_ptr_nonnull(to);
    size_t bytes = mh_clock_head_line(line, INT64_C(1700000000000000000), 500000, LIMIT_PPB_PER_S);
    fwrite(line, 1, bytes, to);
    bytes = mh_clock_host_line(line, "h1", "boot", LOOK_NS, namespace_ns);
    fwrite(line, 1, bytes, to);
    for (int k = 0; k < COUNT_OF(clocks); k++)
        filters[k] = (mh_look_filter){.look_ns = LOOK_NS};
    double now_ns = from_ns;
    while ((now_ns += (double)chance_between(&world->dice, LOOK_NS, LOOK_NS * 11 / 10)) < to_ns) {
        if (events == SUSPENDED && now_ns > 24.9e9 && now_ns < 28e9)
            continue;
        for (int k = 0; k < COUNT_OF(clocks); k++) {
            const int64_t half_ns = chance_between(&world->dice, 20, 60);
            const mh_look look = {read_clock(world, clocks[k], now_ns),
                                  read_clock(world, MPIX_CLOCK_MONOTONIC_RAW, now_ns) +
                                      chance_between(&world->dice, -half_ns, half_ns),
                                  half_ns, -1};
            write_looks(to, clocks[k], written, mh_look_filter_add(&filters[k], look, written));
        }
        if (now_ns >= due_ns) {
            write_record(to, world, now_ns);
            due_ns += (double)RECORD_NS;
        }
    }
    for (int k = 0; k < COUNT_OF(clocks); k++)
        write_looks(to, clocks[k], written, mh_look_filter_flush(&filters[k], written));
    ck_assert_int_eq(fclose(to), 0);
}

/* ---- What is read from the file */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One host recorded from 3 s to 57 s of 60 s. A reading is taken at any time. */
LOOP_TEST(times_are_within_their_bounds, EVENTS)
{
    static const char *const event_names[] = {"quiet", "slewed", "stepped", "suspended"};
    static world_t world;
    const events_t events = (events_t)_i;
    char path[] = "clock_records_XXXXXX";
    const int rounds = rounds_of(3);
    double *errors_ns = calloc((size_t)rounds * READINGS * COUNT_OF(clocks), sizeof *errors_ns);
    int64_t widest_ns = 0, narrow = 0, count = 0;
    close(mkstemp(path));
    for (int round = 0; round < rounds; round++) {
        make_world(&world, events, round * EVENTS + (int)events, APART);
        record(path, &world, events, 3e9, 57e9);
        mpix_clock_file *file = open_records(path);
        for (int i = 0; i < READINGS * COUNT_OF(clocks); i++) {
            const mpix_clock_id clock = clocks[i % COUNT_OF(clocks)];
            const double true_ns = chance_unit(&world.dice) * 59.9e9;
            mpix_clock_time time;
            if (events == SUSPENDED && true_ns > 24.99e9 && true_ns < 28.01e9)
                continue;
            ck_assert_int_eq(mpix_clock_convert(file, 0, clock, read_clock(&world, clock, true_ns), &time), 0);
            const double error_ns = (double)time.global_ns - true_ns;
            EXPECT(fabs(error_ns) <= (double)time.bound_ns + 1,
                   "%s, round %d: %s at %.9f s is off by %.0f ns, bound %" PRId64 " ns, how %d", event_names[events],
                   round, mpix_clock_id_names[clock], true_ns * MH_S_PER_NS, error_ns, time.bound_ns, time.how);
            ck_assert_int_eq(time.unix_ns - time.global_ns, INT64_C(1700000000000000000));
            if (time.how == 0) {
                errors_ns[count++] = fabs(error_ns);
                widest_ns = time.bound_ns > widest_ns ? time.bound_ns : widest_ns;
                narrow += time.bound_ns < 20000;
            }
        }
        mpix_clock_close(file);
    }
    unlink(path);
    qsort(errors_ns, (size_t)count, sizeof *errors_ns, by_size);
    if (getenv("MH_VERBOSE"))
        printf("%s: %" PRId64 " readings, error p50 %.0f p99 %.0f max %.0f ns, widest bound %" PRId64 " ns\n",
               event_names[events], count, errors_ns[count / 2], errors_ns[count * 99 / 100], errors_ns[count - 1],
               widest_ns);
    /* A bound is of use, too: nearly all are as narrow as records and wander allow. */
    EXPECT((double)narrow > 0.95 * (double)count, "only %" PRId64 " of %" PRId64 " bounds are below 20 us", narrow,
           count);
    free(errors_ns);
}

/* ---- What a host has in memory */

static mh_look look_of(world_t *world, mpix_clock_id clock, double true_ns)
{
    const int64_t half_ns = chance_between(&world->dice, 20, 60);
    return (mh_look){read_clock(world, clock, true_ns),
                     read_clock(world, MPIX_CLOCK_MONOTONIC_RAW, true_ns) +
                         chance_between(&world->dice, -half_ns, half_ns),
                     half_ns, -1};
}

static mh_history_record record_of(world_t *world, double true_ns)
{
    const int64_t bound_ns = chance_between(&world->dice, 500, 8000);
    const int64_t error_ns = (int64_t)((2 * chance_unit(&world->dice) - 1) * (double)bound_ns);
    return (mh_history_record){read_clock(world, MPIX_CLOCK_MONOTONIC_RAW, true_ns), (int64_t)true_ns + error_ns,
                               bound_ns};
}

typedef struct tally {
    int64_t readings, narrow;
} tally_t;

/* At a time, of a reading of then or before. */
static void check_reading(mh_clock_history *history, world_t *world, mpix_clock_id clock, double now_ns, double then_ns,
                          tally_t *tally)
{
    const int64_t reading = read_clock(world, clock, then_ns);
    if (!mh_clock_history_has(history, clock, reading)) {
        if (clock != MPIX_CLOCK_MONOTONIC_RAW)
            mh_clock_history_look(history, clock, look_of(world, clock, now_ns), true);
        mh_clock_history_add(history, record_of(world, now_ns), true);
    }
    const mpix_clock_time time = mh_clock_history_convert(history, clock, reading);
    const double error_ns = (double)time.global_ns - then_ns;
    /* Of what was before all that is kept, nobody knows whether a clock was set or the host suspended. */
    if ((time.how & MPIX_CLOCK_EXTRAPOLATED) && world->may_be_disturbed)
        return;
    EXPECT(fabs(error_ns) <= (double)time.bound_ns + 1,
           "%s at %.9f s, asked at %.9f s: off by %.0f ns, bound %" PRId64 " ns, how %d", mpix_clock_id_names[clock],
           then_ns * MH_S_PER_NS, now_ns * MH_S_PER_NS, error_ns, time.bound_ns, time.how);
    if (time.how & MPIX_CLOCK_EXTRAPOLATED)
        return;
    tally->readings++;
    tally->narrow += time.bound_ns < 20000;
}

static const mpix_clock_id all_clocks[] = {MPIX_CLOCK_MONOTONIC_RAW, MPIX_CLOCK_MONOTONIC, MPIX_CLOCK_REALTIME};

/* Looks scatter by less than SCATTER_NS. */
static void synchronize(mh_clock_history *history, world_t *world, double now_ns)
{
    enum { SCATTER_NS = 100 };
    mh_clock_history_sync(history, read_clock(world, MPIX_CLOCK_MONOTONIC_RAW, now_ns) - SCATTER_NS);
    for (int k = 1; k < COUNT_OF(all_clocks); k++)
        mh_clock_history_look(history, all_clocks[k], look_of(world, all_clocks[k], now_ns), false);
    mh_clock_history_add(history, record_of(world, now_ns), false);
}

/*
 * Synchronizations at any time, some of which are forgotten later, and readings in between: of now, a little while ago,
 * or any time before. Slews begin and end anywhere; a clock is set once between two looks at most.
 */
LOOP_TEST(times_of_a_history_are_within_their_bounds, EVENTS)
{
    enum { LONGEST_PAUSE_POINTS = 150 };
    static world_t world;
    const events_t events = (events_t)_i;
    for (int round = 0; round < rounds_of(5); round++) {
        mh_clock_history history = {.most = round % 2 ? 8 : 1000};
        tally_t raw = {0, 0}, others = {0, 0};
        make_world(&world, events, round * EVENTS + (int)events, events == STEPPED ? LONGEST_PAUSE_POINTS : 2);
        ck_assert(mh_clock_history_begin(&history, 0));
        mpix_clock_limit(history.file, 500 * MH_PPM, LIMIT_PPB_PER_S * MH_PPB);
        double due_ns = 3e9, now_ns = 3e9;
        while ((now_ns += chance_unit(&world.dice) * 0.02e9) < 59e9) {
            if (events == SUSPENDED && now_ns > 24.9e9 && now_ns < 28.01e9)
                continue;
            if (now_ns >= due_ns) {
                synchronize(&history, &world, now_ns);
                due_ns = now_ns + (double)GRID_NS * (double)chance_between(&world.dice, 1, LONGEST_PAUSE_POINTS - 20);
                continue;
            }
            const int64_t kind = chance_between(&world.dice, 0, 9);
            const double age_ns = chance_unit(&world.dice) * (kind == 0 ? 0 : kind < 4 ? 1e8 : now_ns);
            const mpix_clock_id clock = all_clocks[chance_between(&world.dice, 0, COUNT_OF(all_clocks) - 1)];
            if (chance_between(&world.dice, 0, 2) &&
                (events != SUSPENDED || now_ns - age_ns < 24.9e9 || now_ns - age_ns > 28.01e9))
                check_reading(&history, &world, clock, now_ns, now_ns - age_ns,
                              clock == MPIX_CLOCK_MONOTONIC_RAW ? &raw : &others);
        }
        ck_assert(history.syncs <= 2 * history.most);
        if (history.most == 1000 && events != SUSPENDED)
            EXPECT((double)raw.narrow > 0.9 * (double)raw.readings,
                   "only %" PRId64 " of %" PRId64 " bounds of MONOTONIC_RAW are below 20 us", raw.narrow, raw.readings);
        if (getenv("MH_VERBOSE"))
            printf("below 20 us: %" PRId64 " of %" PRId64 " of MONOTONIC_RAW, %" PRId64 " of %" PRId64 " of others\n",
                   raw.narrow, raw.readings, others.narrow, others.readings);
        mh_clock_history_free(&history);
    }
}

/* A file that begins as all do, and goes on with these lines, which it frees; the path is that of mkstemp. */
static mpix_clock_file *open_history(char *path, char *lines, size_t bytes)
{
    char head[MH_CLOCK_LINE_BYTES];
    FILE *to = fdopen(mkstemp(path), "w");
    ck_assert(to && lines);
    const size_t head_bytes = mh_clock_head_line(head, 0, 500000, LIMIT_PPB_PER_S);
    fwrite(head, 1, head_bytes, to);
    fwrite(lines, 1, bytes, to);
    ck_assert_int_eq(fclose(to), 0);
    free(lines);
    return open_records(path);
}

/* A file of the lines of a history has the times of the history. */
LOOP_TEST(a_history_is_written, EVENTS)
{
    static world_t world;
    static const mh_host_names names = {.name = "h1", .boot = "b", .namespace_ns = {[MPIX_CLOCK_BOOTTIME] = -7}};
    mh_clock_history history = {.most = 1000};
    char path[] = "clock_records_XXXXXX";
    size_t bytes;
    make_world(&world, (events_t)_i, _i, APART);
    ck_assert(mh_clock_history_begin(&history, 0));
    mpix_clock_limit(history.file, 500 * MH_PPM, LIMIT_PPB_PER_S * MH_PPB);
    double now_ns = 3e9;
    while ((now_ns += 1e6 + chance_unit(&world.dice) * 0.4e9) < 24e9) {
        synchronize(&history, &world, now_ns);
    }
    mh_history_copy copy;
    ck_assert(mh_clock_history_copy(&history, &copy));
    char *lines = mh_history_copy_lines(&copy, &names, &bytes);
    mh_history_copy_free(&copy);
    mpix_clock_file *file = open_history(path, lines, bytes);
    ck_assert_int_eq(mpix_clock_namespace_ns(file, 0, MPIX_CLOCK_BOOTTIME), -7);
    for (int i = 0; i < 300; i++) {
        const mpix_clock_id clock = all_clocks[i % COUNT_OF(all_clocks)];
        const int64_t reading = read_clock(&world, clock, chance_unit(&world.dice) * 24e9);
        const mpix_clock_time time = mh_clock_history_convert(&history, clock, reading);
        mpix_clock_time read;
        ck_assert_int_eq(mpix_clock_convert(file, 0, clock, reading, &read), 0);
        EXPECT(read.global_ns == time.global_ns && read.bound_ns == time.bound_ns && read.how == time.how,
               "%" PRId64 " within %" PRId64 ", but %" PRId64 " within %" PRId64, read.global_ns, read.bound_ns,
               time.global_ns, time.bound_ns);
    }
    mpix_clock_close(file);
    mh_clock_history_free(&history);
    unlink(path);
}

/* The numbers of all are as long as numbers are. */
TEST(the_longest_lines_of_a_history_have_room)
{
    enum { LINES = 100 };
    char name[256];
    size_t bytes;
    mpix_clock_pair pair = {.at_ns = INT64_MIN / 2, .ahead_ns = INT64_MIN / 3, .bound_ns = INFINITY};
    const mpix_clock_look look = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MAX};
    const mpix_clock_utc_look utc = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
    mh_history_copy copy = {.record_count = 1, .records = &pair, .has_utc = true, .utc = utc, .tai_s = INT64_MIN};
    mpix_clock_look *looks = calloc(LINES, sizeof *looks);
    memset(name, '\\', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (int i = 0; i < LINES; i++)
        looks[i] = look;
    copy.looks[MPIX_CLOCK_MONOTONIC] = looks;
    copy.look_counts[MPIX_CLOCK_MONOTONIC] = LINES;
    const mh_host_names names = {.name = name, .boot = name};
    char *lines = mh_history_copy_lines(&copy, &names, &bytes);
    ck_assert_ptr_nonnull(lines);
    /* The host's line has a boot of 64 characters, and nothing of a namespace. */
    EXPECT(bytes < MH_CLOCK_LINE_BYTES + (LINES + 2) * (sizeof name + 160), "%zu bytes", bytes);
    EXPECT(bytes > LINES * (sizeof name + 80), "%zu bytes", bytes);
    free(lines);
    free(looks);
}

/* ---- What the kernel says of UTC */

static const struct {
    const char *what;
    int state; /* what adjtimex returns */
    struct timex says;
    mpix_clock_utc_look look; /* of REALTIME 1000 at 2000 within 30 ns */
    int64_t tai_s;
    int found; /* what mpix_clock_find_utc returns */
} words[] = {
    {"chrony keeps the clock",
     TIME_OK,
     {.maxerror = 250, .esterror = 20, .tai = 37},
     {1000, 2000, 250030, 20000},
     37,
     0},
    {"a second is to be inserted", TIME_INS, {.maxerror = 9, .esterror = 9}, {1000, 2000, 9030, 9000}, 0, 0},
    {"nobody keeps the clock",
     TIME_ERROR,
     {.status = STA_UNSYNC, .maxerror = 16000000, .esterror = 16000000},
     {1000, 2000, -1, INT64_C(16000000000)},
     0,
     1},
    {"the kernel is not asked", -1, {.maxerror = 250, .esterror = 20, .tai = 37}, {1000, 2000, -1, 0}, 0, 1},
    {"systemd-timesyncd has just told it", TIME_OK, {.maxerror = 0, .esterror = 0}, {1000, 2000, 0, 0}, 0, 1},
    /* An error of 0 is no word, also if the estimate is below what the look is wrong by. */
    {"an error of 0", TIME_OK, {.maxerror = 0, .esterror = 1}, {1000, 2000, 0, 1000}, 0, 1},
};

LOOP_TEST(words_of_utc_are_written_as_the_kernel_says_them, COUNT_OF(words))
{
    const bool has_wide_look = words[_i].says.esterror == 1;
    const mpix_clock_look real = {1000, 2000, has_wide_look ? 1500 : 30, -1};
    const mh_utc_word word = mh_utc_word_of(words[_i].state, &words[_i].says);
    const mpix_clock_utc_look look = mh_utc_word_look(word, real), *expected = &words[_i].look;
    EXPECT(look.at == expected->at && look.raw_ns == expected->raw_ns, "%s: at %" PRId64 ", %" PRId64, words[_i].what,
           look.at, look.raw_ns);
    EXPECT(look.within_ns == expected->within_ns && look.estimate_ns == expected->estimate_ns,
           "%s: within %" PRId64 ", estimate %" PRId64, words[_i].what, look.within_ns, look.estimate_ns);
    EXPECT(word.tai_s == words[_i].tai_s, "%s: TAI %" PRId64, words[_i].what, word.tai_s);
}

/* The lines of a host end with one word, and a reader finds UTC by it. */
LOOP_TEST(a_history_is_written_with_a_word_of_utc, COUNT_OF(words))
{
    enum { WORD_BYTES = 300 };
    mpix_clock_pair pair = {.at_ns = 2000, .ahead_ns = 500, .bound_ns = 10};
    const mh_utc_word word = mh_utc_word_of(words[_i].state, &words[_i].says);
    mh_history_copy copy = {.record_count = 1,
                            .records = &pair,
                            .has_utc = true,
                            .utc = mh_utc_word_look(word, (mpix_clock_look){1000, 2000, 30, -1}),
                            .tai_s = word.tai_s};
    const mh_host_names names = {.name = "h1", .boot = "b"};
    char path[] = "clock_records_XXXXXX", expected[WORD_BYTES];
    size_t bytes;
    mpix_clock_utc utc;
    char *lines = mh_history_copy_lines(&copy, &names, &bytes);
    ck_assert_ptr_nonnull(lines);
    snprintf(expected, sizeof expected,
             "{\"host\": \"h1\", \"utc\": [1000, 2000, %" PRId64 ", %" PRId64 "], \"tai_s\": %" PRId64 "}\n",
             copy.utc.within_ns, copy.utc.estimate_ns, copy.tai_s);
    EXPECT(bytes > strlen(expected) && memcmp(lines + bytes - strlen(expected), expected, strlen(expected)) == 0,
           "%.*s", (int)bytes, lines);
    mpix_clock_file *file = open_history(path, lines, bytes);
    EXPECT(mpix_clock_find_utc(file, 2500, &utc) == words[_i].found, "%s", words[_i].what);
    EXPECT(words[_i].found != 0 || utc.ahead_ns == -1500, "%s: %" PRId64, words[_i].what, utc.ahead_ns);
    mpix_clock_close(file);
    unlink(path);
}

/* MONOTONIC_RAW goes back when a host is restored from what was saved of it. */
TEST(a_history_starts_over_when_the_raw_clock_goes_back)
{
    mh_clock_history history = {.most = 2};
    ck_assert(mh_clock_history_begin(&history, 0));
    mpix_clock_limit(history.file, 500 * MH_PPM, 100 * MH_PPB);
    mh_clock_history_look(&history, MPIX_CLOCK_MONOTONIC, (mh_look){9000, 5000, 10, -1}, false);
    mh_clock_history_add(&history, (mh_history_record){5000, 70000, 10}, false);
    mh_clock_history_look(&history, MPIX_CLOCK_MONOTONIC, (mh_look){200, 100, 10, -1}, true);
    mh_clock_history_add(&history, (mh_history_record){100, 80000, 10}, true);
    const mpix_clock_time time = mh_clock_history_convert(&history, MPIX_CLOCK_MONOTONIC, 200);
    EXPECT(time.global_ns == 80000 && time.bound_ns < 30, "%" PRId64 " within %" PRId64, time.global_ns, time.bound_ns);
    mh_clock_history_free(&history);
}

/* ---- What is remembered */

/* Of a host whose clocks all are the global one, but REALTIME, which has been set once. */
static void remember(mh_clock_history *history, int64_t now_ns, int64_t set_at_ns, bool is_sync)
{
    const mh_look look = {now_ns, now_ns, 20, -1},
                  set = {now_ns + (now_ns >= set_at_ns ? MH_NS_PER_MS : 0), now_ns, 20, -1};
    if (is_sync)
        mh_clock_history_sync(history, now_ns);
    mh_clock_history_look(history, MPIX_CLOCK_MONOTONIC, look, !is_sync);
    mh_clock_history_look(history, MPIX_CLOCK_REALTIME, set, !is_sync);
    mh_clock_history_add(history, (mh_history_record){now_ns, now_ns, 10}, !is_sync);
}

/* Conversions of what is new are frequent or rare, and the clocks run straight on or not. */
static const struct {
    int64_t sync_ns, conversion_ns;
} paces[] = {
    {100 * MH_NS_PER_S, 3 * MH_NS_PER_S}, {100 * MH_NS_PER_S, MH_NS_PER_S / 5}, {5 * MH_NS_PER_MS, MH_NS_PER_MS}};

LOOP_TEST(conversions_push_out_no_synchronization, COUNT_OF(paces))
{
    enum { SYNCS = 60, MOST = 5 };
    const int64_t sync_ns = paces[_i].sync_ns;
    mh_clock_history history = {.most = MOST};
    ck_assert(mh_clock_history_begin(&history, 0));
    mpix_clock_limit(history.file, 500 * MH_PPM, 100 * MH_PPB);
    for (int64_t sync = 1; sync <= SYNCS; sync++) {
        remember(&history, sync * sync_ns, (SYNCS - MOST + 1) * sync_ns + 1, true);
        for (int64_t ns = paces[_i].conversion_ns; ns < sync_ns; ns += paces[_i].conversion_ns)
            remember(&history, sync * sync_ns + ns, (SYNCS - MOST + 1) * sync_ns + 1, false);
        for (int64_t old = sync; old > 0 && old > sync - MOST; old--)
            for (mpix_clock_id id = MPIX_CLOCK_MONOTONIC_RAW; id <= MPIX_CLOCK_REALTIME; id++) {
                if (id == MPIX_CLOCK_BOOTTIME)
                    continue;
                const mpix_clock_time time = mh_clock_history_convert(&history, id, old * sync_ns);
                const bool is_set = id == MPIX_CLOCK_REALTIME && old > SYNCS - MOST + 1;
                EXPECT(!(time.how & MPIX_CLOCK_EXTRAPOLATED) && (is_set || time.bound_ns < 2 * MH_NS_PER_MS),
                       "after synchronization %" PRId64 ": %" PRId64 " by %s: the bound is %" PRId64 ", how %d", sync,
                       old, mpix_clock_id_names[id], time.bound_ns, time.how);
                EXPECT(is_set || llabs(time.global_ns - old * sync_ns) <= time.bound_ns, "%" PRId64, time.global_ns);
            }
    }
    mh_clock_history_free(&history);
}

/* A month with one synchronization. */
TEST(conversions_without_synchronizations_take_little_memory)
{
    enum { MOST = 10, MANY = 40 * MOST };
    size_t records, looks;
    mh_clock_history history = {.most = MOST};
    ck_assert(mh_clock_history_begin(&history, 0));
    mpix_clock_limit(history.file, 500 * MH_PPM, 100 * MH_PPB);
    for (int64_t second = 1; second < INT64_C(30) * 86400; second += second < 1000 ? 1 : 20)
        remember(&history, second * MH_NS_PER_S, INT64_MAX, second == 1);
    mpix_clock_records(history.file, &records);
    mpix_clock_looks(history.file, MPIX_CLOCK_MONOTONIC, &looks);
    EXPECT(records > (size_t)5 * MOST && records < MANY && looks > (size_t)5 * MOST && looks < MANY,
           "%zu records, %zu looks", records, looks);
    mh_clock_history_free(&history);
}

/* What was measured before the global clock was found wrong says nothing about the time until then. */
TEST(where_the_global_clock_was_wrong_no_bound_is_known)
{
    mh_clock_history history = {.most = 1000};
    ck_assert(mh_clock_history_begin(&history, 0));
    mpix_clock_limit(history.file, 500 * MH_PPM, 100 * MH_PPB);
    for (int64_t raw_ns = 0; raw_ns < 10 * MH_NS_PER_S; raw_ns += MH_NS_PER_S) {
        if (raw_ns == 5 * MH_NS_PER_S)
            mh_clock_history_add(&history, (mh_history_record){raw_ns, raw_ns, MH_TIME_UNKNOWN_NS}, false);
        mh_clock_history_add(&history, (mh_history_record){raw_ns, raw_ns + 7, 10}, false);
    }
    for (int64_t raw_ns = MH_NS_PER_S / 2; raw_ns < 9 * MH_NS_PER_S; raw_ns += MH_NS_PER_S) {
        const mpix_clock_time time = mh_clock_history_convert(&history, MPIX_CLOCK_MONOTONIC_RAW, raw_ns);
        const bool is_known = time.bound_ns != MH_TIME_UNKNOWN_NS;
        EXPECT(is_known == (raw_ns / MH_NS_PER_S != 4), "at %" PRId64 " the bound is %" PRId64, raw_ns, time.bound_ns);
        EXPECT(!is_known || time.global_ns == raw_ns + 7, "%" PRId64, time.global_ns);
    }
    mh_clock_history_drop_after(&history, 8 * MH_NS_PER_S);
    mh_clock_history_add(&history, (mh_history_record){20 * MH_NS_PER_S, 0, MH_TIME_UNKNOWN_NS}, true);
    for (int64_t raw_ns = 7 * MH_NS_PER_S + 1; raw_ns < 19 * MH_NS_PER_S; raw_ns += MH_NS_PER_S) {
        const mpix_clock_time time = mh_clock_history_convert(&history, MPIX_CLOCK_MONOTONIC_RAW, raw_ns);
        const bool is_known = time.bound_ns != MH_TIME_UNKNOWN_NS;
        EXPECT(is_known == (raw_ns < 8 * MH_NS_PER_S), "after 8 s were disproved, at %" PRId64 " the bound is %" PRId64,
               raw_ns, time.bound_ns);
    }
    mh_clock_history_drop_after(&history, 8 * MH_NS_PER_S);
    const mpix_clock_time far = mh_clock_history_convert(&history, MPIX_CLOCK_MONOTONIC_RAW, INT64_MAX);
    ck_assert(far.bound_ns > 1000 * MH_NS_PER_S);
    mh_clock_history_free(&history);
}

/* ---- Few looks */

/* Of a host whose MONOTONIC_RAW is the global clock. */
static mpix_clock_file *make_records(void)
{
    mpix_clock_file *file = mpix_clock_new(0, LOOK_NS);
    mpix_clock_limit(file, 500 * MH_PPM, LIMIT_PPB_PER_S * MH_PPB);
    for (int i = -10; i <= 10; i++)
        ck_assert_int_eq(mpix_clock_push_record(file, (mpix_clock_pair){.at_ns = i * MH_NS_PER_S, .bound_ns = 10}), 0);
    return file;
}

/* The rate was changed in the middle between two looks, and there are no others that would tell. */
TEST(two_looks_alone_do_not_tell_the_rate_between_them)
{
    static const mpix_clock_id slewed[] = {MPIX_CLOCK_MONOTONIC, MPIX_CLOCK_REALTIME};
    for (int k = 0; k < COUNT_OF(slewed); k++) {
        const int64_t middle_ns = 40 * MH_NS_PER_MS, gained_ns = middle_ns / 2000;
        mpix_clock_file *file = make_records();
        mpix_clock_time time;
        mpix_clock_push_look(file, slewed[k], (mpix_clock_look){0, 0, 20, -1});
        mpix_clock_push_look(file, slewed[k], (mpix_clock_look){2 * middle_ns + gained_ns, 2 * middle_ns, 20, -1});
        ck_assert_int_eq(mpix_clock_convert(file, 0, slewed[k], middle_ns + gained_ns, &time), 0);
        EXPECT(llabs(time.global_ns - middle_ns) <= time.bound_ns && time.bound_ns < 100 * MH_NS_PER_US,
               "off by %" PRId64 " ns, bound %" PRId64 " ns", time.global_ns - middle_ns, time.bound_ns);
        mpix_clock_close(file);
    }
}

/* Two looks within one step of MONOTONIC_RAW, alone and after a gap. */
LOOP_TEST(two_looks_of_one_raw_time_have_a_bound, 2)
{
    mpix_clock_file *file = make_records();
    mpix_clock_time time;
    if (_i > 0)
        mpix_clock_push_look(file, MPIX_CLOCK_MONOTONIC, (mpix_clock_look){-MH_NS_PER_S, -MH_NS_PER_S, 20, -1});
    mpix_clock_push_look(file, MPIX_CLOCK_MONOTONIC, (mpix_clock_look){0, 0, 60, -1});
    mpix_clock_push_look(file, MPIX_CLOCK_MONOTONIC, (mpix_clock_look){100, 0, 60, -1});
    for (int64_t reading_ns = 0; reading_ns <= 100; reading_ns += 50) {
        ck_assert_int_eq(mpix_clock_convert(file, 0, MPIX_CLOCK_MONOTONIC, reading_ns, &time), 0);
        EXPECT(llabs(time.global_ns) <= 100 && time.bound_ns < 300, "%" PRId64 " is at %" PRId64 " within %" PRId64,
               reading_ns, time.global_ns, time.bound_ns);
    }
    mpix_clock_close(file);
}

/* How long a tick is, nobody can tell from one look, nor from two within one step of MONOTONIC_RAW. */
LOOP_TEST(a_counter_whose_rate_is_not_known_has_no_bound, 2)
{
    static const int64_t readings[] = {INT64_C(-3000000000), -50, 150, INT64_C(3000000000)};
    mpix_clock_file *file = make_records();
    mpix_clock_time time;
    mpix_clock_push_look(file, MPIX_CLOCK_COUNTER, (mpix_clock_look){0, 0, 60, -1});
    if (_i > 0)
        mpix_clock_push_look(file, MPIX_CLOCK_COUNTER, (mpix_clock_look){100, 0, 60, -1});
    ck_assert_int_eq(mpix_clock_convert(file, 0, MPIX_CLOCK_COUNTER, 0, &time), 0);
    EXPECT(time.how == 0 && llabs(time.global_ns) <= time.bound_ns && time.bound_ns < 200,
           "at the look: %" PRId64 " within %" PRId64 ", how %d", time.global_ns, time.bound_ns, time.how);
    for (int i = 0; i < COUNT_OF(readings); i++) {
        ck_assert_int_eq(mpix_clock_convert(file, 0, MPIX_CLOCK_COUNTER, readings[i], &time), 0);
        EXPECT(time.bound_ns == INT64_MAX && (time.how & MPIX_CLOCK_EXTRAPOLATED),
               "%" PRId64 " is at %" PRId64 " within %" PRId64 ", how %d", readings[i], time.global_ns, time.bound_ns,
               time.how);
    }
    mpix_clock_close(file);
}

/*
 * A clock is set back by 0.25 s, and what was before is forgotten while it has the same readings again; also where it
 * was set once more, by less, since then.
 */
LOOP_TEST(readings_that_a_clock_had_before_it_was_set_are_not_forgotten_too_early, 2)
{
    enum { LOOKS = 60, SET_AT = 20 };
    const int64_t began_ns = INT64_C(1700000000000000000), step_ns = 50 * MH_NS_PER_MS;
    mpix_clock_file *file = mpix_clock_new(0, step_ns);
    mpix_clock_time time;
    size_t count;
    ck_assert_ptr_nonnull(file);
    mpix_clock_limit(file, 500 * MH_PPM, LIMIT_PPB_PER_S * MH_PPB);
    for (int i = 0; i < LOOKS; i++) {
        const int64_t set_ns = (i < SET_AT ? 0 : -5 * step_ns) + (_i == 1 && i > SET_AT ? step_ns : 0);
        const int64_t raw_ns = i * step_ns, at_ns = began_ns + raw_ns + set_ns;
        ck_assert_int_eq(mpix_clock_push_record(file, (mpix_clock_pair){.at_ns = raw_ns, .bound_ns = 10}), 0);
        ck_assert_int_eq(mpix_clock_push_look(file, MPIX_CLOCK_REALTIME, (mpix_clock_look){at_ns, raw_ns, 20, -1}), 0);
    }
    mpix_clock_forget(file, 22 * step_ns);
    ck_assert_int_eq(mpix_clock_convert(file, 0, MPIX_CLOCK_REALTIME, began_ns + 18 * step_ns, &time), 0);
    EXPECT((time.how & MPIX_CLOCK_AMBIGUOUS) && llabs(time.global_ns - 18 * step_ns) <= time.bound_ns,
           "%" PRId64 " within %" PRId64 ", how %d", time.global_ns, time.bound_ns, time.how);
    mpix_clock_forget(file, 40 * step_ns);
    const mpix_clock_look *looks = mpix_clock_looks(file, MPIX_CLOCK_REALTIME, &count);
    ck_assert(count == LOOKS - 40 && looks[0].raw_ns == 40 * step_ns);
    mpix_clock_close(file);
}

/* Without limits nothing is known but the records themselves. */
TEST(new_records_have_no_limits_and_no_bounds)
{
    mpix_clock_file *file = mpix_clock_new(7, LOOK_NS);
    mpix_clock_time time;
    for (int i = 0; i < 3; i++) {
        const mpix_clock_pair pair = {.at_ns = i * MH_NS_PER_S, .ahead_ns = 3, .bound_ns = 10};
        ck_assert_int_eq(mpix_clock_push_record(file, pair), 0);
        for (int64_t at_ns = -MH_NS_PER_S; at_ns <= 3 * MH_NS_PER_S; at_ns += MH_NS_PER_S / 2) {
            const bool is_record = at_ns % MH_NS_PER_S == 0 && at_ns >= 0 && at_ns <= i * MH_NS_PER_S;
            ck_assert_int_eq(mpix_clock_convert(file, 0, MPIX_CLOCK_MONOTONIC_RAW, at_ns, &time), 0);
            EXPECT(is_record ? time.bound_ns < 20 : time.bound_ns == INT64_MAX,
                   "%d records, at %" PRId64 ": the bound is %" PRId64, i + 1, at_ns, time.bound_ns);
            EXPECT(!is_record || time.global_ns == at_ns + 3, "%" PRId64, time.global_ns);
            ck_assert_int_eq(time.unix_ns - time.global_ns, 7);
        }
    }
    mpix_clock_close(file);
}

/* ---- Files that are not as they should be */

#define RECORD "{\"host\": \"h1\", \"raw\": [0, 1000, 10]}\n{\"host\": \"h1\", \"raw\": [1000000, 1001000, 10]}\n"

TEST(a_torn_last_line_is_left_out_and_what_is_wrong_is_said)
{
    static const struct {
        const char *text, *why; /* NULL: it can be read */
    } files[] = {
        {HEAD HOST RECORD "{\"host\": \"h1\", \"raw\": [2000000, 200", NULL},
        {HEAD HOST RECORD "{\"host\"", NULL},
        {HEAD HOST RECORD "{\"host\": \"h1\", \"raw\": [2000000, 200\n" RECORD, "line 5: has a line that is not"},
        {HEAD HOST "{\"host\": \"h2\", \"raw\": [0, 1000, 10]}\n", "line 3: has a record without a host"},
        {HEAD HOST "{\"host\": \"h1\", \"raw\": [0, 1000]}\n", "line 3: has a record without a host, or not of three"},
        {HEAD HOST "{\"host\": \"h1\", \"monotonic\": [0, 1000]}\n", "line 3: has a look without a host, or of fewer"},
        {HEAD HOST RECORD "{\"host\": \"h1\", \"utc\": [0, 600000000000000000, 9, 1]}\n",
         "line 5: has a word of UTC of more than 18 years"},
        {"", "is empty"},
        {"time,value\n", "is not a file of clock records"},
        {"{\"mpix_clock_records\": 2}\n", "has a version that is not known"},
        {"{\"mpix_clock_records\": 1}\n", "does not say what rates"},
        {"{\"mpix_clock_records\": \"1\", \"rate_limit_ppb\": 1, \"wander_ppb_per_s\": 1}\n", "is not a file of clock"},
        {"{\"mpix_clock_records\": 1, \"rate_limit_ppb\": \"1\", \"wander_ppb_per_s\": 1}\n",
         "does not say what rates"},
        {"{\"mpix_clock_records\": 1, \"rate_limit_ppb\": 1000000001, \"wander_ppb_per_s\": 1}\n",
         "does not say what rates"},
    };
    char path[] = "clock_records_XXXXXX";
    close(mkstemp(path));
    for (int i = 0; i < COUNT_OF(files); i++) {
        char why[MPIX_CLOCK_WHY_BYTES] = "";
        write_text(path, files[i].text);
        mpix_clock_file *file = mpix_clock_open(path, why);
        EXPECT(!file == !!files[i].why && (file || strstr(why, files[i].why)), "file %d: %s", i, why);
        mpix_clock_time time;
        if (file)
            ck_assert_int_eq(mpix_clock_convert(file, 0, MPIX_CLOCK_MONOTONIC_RAW, 500, &time), 0);
        if (file)
            ck_assert_int_eq(time.global_ns, 1500);
        mpix_clock_close(file);
    }
    unlink(path);
}

/* What the memory of a line had before would go on behind the torn one. */
TEST(a_last_line_that_ends_behind_a_backslash_is_left_out)
{
    char path[] = "clock_records_XXXXXX";
    size_t records;
    close(mkstemp(path));
    write_text(path, HEAD HOST RECORD "{\"words\": 0, \"host\": \"h1\", \"raw\": [2000000, 2001000, 10]}\n{\"w\\");
    mpix_clock_file *file = open_records(path);
    mpix_clock_records(file, &records);
    EXPECT(records == 3, "%zu records", records);
    mpix_clock_close(file);
    unlink(path);
}

TEST(a_clock_or_a_host_that_is_not_there_is_said)
{
    char path[] = "clock_records_XXXXXX";
    mpix_clock_time time = {.bound_ns = -1};
    close(mkstemp(path));
    write_text(path, HEAD HOST RECORD "{\"host\": \"h1\", \"boot\": \"b\", \"look_ns\": 50000000}\n"
                                      "{\"host\": \"h2\", \"boot\": \"c\", \"look_ns\": 50000000}\n");
    mpix_clock_file *file = open_records(path);
    ck_assert_int_eq(mpix_clock_find_host(file, "h1"), -2);
    ck_assert_int_eq(mpix_clock_find_host(file, "h2"), 2);
    ck_assert_int_eq(mpix_clock_find_host(file, "h3"), -1);
    ck_assert_int_eq(mpix_clock_convert(file, 0, MPIX_CLOCK_TAI, 0, &time), -1);
    ck_assert_int_eq(mpix_clock_convert(file, 2, MPIX_CLOCK_MONOTONIC_RAW, 0, &time), -1);
    ck_assert_int_eq(time.bound_ns, -1);
    mpix_clock_close(file);
    unlink(path);
}

/* h1 is not synchronized with UTC until it is; h2 is less sure of it, but was from the beginning. */
TEST(utc_is_told_by_the_kernel_that_is_surest)
{
    char path[] = "clock_records_XXXXXX";
    mpix_clock_utc utc;
    close(mkstemp(path));
    write_text(path, HEAD HOST RECORD);
    mpix_clock_file *file = open_records(path);
    ck_assert_int_eq(mpix_clock_find_utc(file, 0, &utc), -1);
    ck_assert_int_eq(mpix_clock_utc_of(file, 0, 0, &utc), -1);
    mpix_clock_close(file);
    write_text(path, HEAD HOST "{\"host\": \"h1\", \"raw\": [0, 0, 10]}\n"
                               "{\"host\": \"h1\", \"utc\": [1000, 0, -1, 0], \"tai_s\": 0}\n");
    file = open_records(path);
    ck_assert_int_eq(mpix_clock_find_utc(file, 0, &utc), 1);
    ck_assert_int_eq(mpix_clock_utc_of(file, 0, 0, &utc), 1);
    mpix_clock_close(file);
    /* As systemd-timesyncd and phc2sys leave the errors. */
    write_text(path, HEAD HOST "{\"host\": \"h1\", \"raw\": [0, 0, 10]}\n"
                               "{\"host\": \"h1\", \"utc\": [1000, 0, 40, 0], \"tai_s\": 0}\n"
                               "{\"host\": \"h1\", \"utc\": [1000, 0, 40, 16000000000], \"tai_s\": 37}\n");
    file = open_records(path);
    ck_assert_int_eq(mpix_clock_find_utc(file, 0, &utc), 1);
    mpix_clock_close(file);
    write_text(path, HEAD HOST "{\"host\": \"h1\", \"raw\": [0, 0, 10]}\n"
                               "{\"host\": \"h1\", \"raw\": [10000000000, 10000000000, 10]}\n"
                               "{\"host\": \"h2\", \"boot\": \"c\", \"look_ns\": 50000000}\n"
                               "{\"host\": \"h2\", \"raw\": [0, 0, 10]}\n"
                               "{\"host\": \"h2\", \"raw\": [10000000000, 10000000000, 10]}\n"
                               "{\"host\": \"h2\", \"utc\": [500000000, 0, 3000000, 9], \"tai_s\": 37}\n"
                               "{\"host\": \"h1\", \"utc\": [10500001000, 10000000000, 5000, 9], \"tai_s\": 37}\n");
    file = open_records(path);
    ck_assert_int_eq(mpix_clock_find_utc(file, 10000000000, &utc), 0);
    ck_assert_int_eq(utc.host, 0);
    EXPECT(utc.ahead_ns == 500001000, "%" PRId64, utc.ahead_ns);
    EXPECT(utc.within_ns >= 5010 && utc.within_ns <= 5015, "%" PRId64, utc.within_ns);
    /* h1's word of 10 s later may be off by 500 ppm of 10 s. */
    ck_assert_int_eq(mpix_clock_find_utc(file, 0, &utc), 0);
    ck_assert_int_eq(utc.host, 1);
    EXPECT(utc.ahead_ns == 500000000, "%" PRId64, utc.ahead_ns);
    EXPECT(utc.within_ns >= 3000010 && utc.within_ns <= 3000015, "%" PRId64, utc.within_ns);
    ck_assert_int_eq(mpix_clock_utc_of(file, 0, 0, &utc), 0);
    EXPECT(utc.host == 0 && utc.ahead_ns == 500001000 && utc.within_ns > 5000000, "%" PRId64, utc.within_ns);
    ck_assert_int_eq(mpix_clock_find_utc(file, INT64_MAX, &utc), 0);
    ck_assert_int_eq(mpix_clock_find_utc(file, INT64_MIN, &utc), 0);
    mpix_clock_close(file);
    unlink(path);
}
