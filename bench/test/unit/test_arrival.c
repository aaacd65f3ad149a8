/* SPDX-License-Identifier: BSD-3-Clause */
/* test_arrival.c - arrival patterns: the parts of all ranks, names and magnitudes, and files of delays. */
#include "common/arrival/arrival.h"
#include "unit/support.h"

#include <unistd.h>

enum { MAX_RANKS = 1024, SEED = 3, CALL = 17 };

#define ROUNDING 1e-12

/* Of all files that a test names. */
static arrival_tables_t tables;

static arrival_t pattern_of(const char *text)
{
    char why[ARRIVAL_WHY_BYTES];
    arrival_list_t list;
    EXPECT(arrival_parse(&list, &tables, text, why), "\"%s\" is refused: %s", text, why);
    return list.items[list.count - 1];
}

static double part(const arrival_t *arrival, int rank, int ranks)
{
    return arrival_part(arrival, rank, ranks, SEED, CALL);
}

/* ---- Shapes */

/* rises, falls: the parts of neighbors never do anything else. */
static const struct {
    const char *text;
    bool rises, falls, is_symmetric;
} shapes[] = {
    {"together", true, true, true},     {"ascending", true, false, false}, {"descending", false, true, false},
    {"first-late", false, true, false}, {"last-late", true, false, false}, {"one-late:1", false, false, false},
    {"half-late", true, false, false},  {"bell", false, false, true},      {"exponential", true, false, false},
};

/* How many ranks have part 1. */
static int count_late(arrival_shape_t shape, int ranks)
{
    if (shape == ARRIVAL_TOGETHER || ranks == 1 || (shape == ARRIVAL_BELL && ranks == 2))
        return 0;
    return shape == ARRIVAL_HALF_LATE ? ranks / 2 : shape == ARRIVAL_BELL ? 2 - ranks % 2 : 1;
}

/* What is wrong with the part of a rank, or NULL. An EXPECT for each would take long. */
static const char *wrong_with(int shape, const arrival_t *arrival, int rank, int ranks)
{
    double mine = part(arrival, rank, ranks), next = rank + 1 < ranks ? part(arrival, rank + 1, ranks) : mine;
    if (!(mine >= 0 && mine <= 1 + ROUNDING))
        return "has no part from 0 to 1";
    if (shapes[shape].rises && next < mine)
        return "comes later than the next one";
    if (shapes[shape].falls && next > mine)
        return "comes before the next one";
    if (shapes[shape].is_symmetric && fabs(mine - part(arrival, ranks - 1 - rank, ranks)) > ROUNDING)
        return "differs from the one as far from the other end";
    return NULL;
}

static void check_parts(int shape, int ranks)
{
    const arrival_t arrival = pattern_of(shapes[shape].text);
    int late = 0, early = 0;
    for (int rank = 0; rank < ranks; rank++) {
        const char *wrong = wrong_with(shape, &arrival, rank, ranks);
        if (wrong)
            ck_abort_msg("%s: rank %d of %d %s", arrival.text, rank, ranks, wrong);
        late += part(&arrival, rank, ranks) > 1 - ROUNDING;
        early += part(&arrival, rank, ranks) < ROUNDING;
    }
    int expected = count_late(arrival.shape, ranks);
    EXPECT(late == expected, "%s: %d of %d ranks have part 1 instead of %d", arrival.text, late, ranks, expected);
    EXPECT(early > 0, "%s: no rank of %d has part 0", arrival.text, ranks);
}

LOOP_TEST(parts_of_all_numbers_of_ranks, COUNT_OF(shapes))
{
    for (int ranks = 1; ranks <= MAX_RANKS; ranks++)
        check_parts(_i, ranks);
}

/* Values that follow from the definitions, at the ranks 0, 1 and 3 of 5. */
static const struct {
    const char *text;
    double parts[3];
} values[] = {
    {"ascending", {0, 0.25, 0.75}},    {"descending", {1, 0.75, 0.25}},
    {"first-late", {1, 0, 0}},         {"last-late", {0, 0, 0}},
    {"one-late:3", {0, 0, 1}},         {"half-late", {0, 0, 1}},
    {"bell", {0, 0.317066, 0.317066}}, {"exponential", {0, 0.016894, 0.281665}},
};

LOOP_TEST(parts_by_definition, COUNT_OF(values))
{
    static const int ranks[] = {0, 1, 3};
    const arrival_t arrival = pattern_of(values[_i].text);
    for (int i = 0; i < 3; i++) {
        double is = part(&arrival, ranks[i], 5);
        EXPECT(fabs(is - values[_i].parts[i]) < 1e-5, "%s: rank %d of 5 has part %.6f instead of %.6f", arrival.text,
               ranks[i], is, values[_i].parts[i]);
    }
}

/* Uniform, another one for each rank, call and seed, and the same on each rank that asks. */
TEST(random_parts)
{
    enum { CALLS = 200 };
    const arrival_t arrival = pattern_of("random");
    double sum = 0, square_sum = 0, values_number = (double)CALLS * MAX_RANKS;
    int same = 0;
    for (int call = 0; call < CALLS; call++)
        for (int rank = 0; rank < MAX_RANKS; rank++) {
            double mine = arrival_part(&arrival, rank, MAX_RANKS, SEED, call);
            if (!(mine >= 0 && mine < 1 && mine == arrival_part(&arrival, rank, MAX_RANKS, SEED, call)))
                ck_abort_msg("rank %d has part %g, or another one if asked again", rank, mine);
            same += mine == arrival_part(&arrival, rank, MAX_RANKS, SEED + 1, call);
            same += mine == arrival_part(&arrival, rank, MAX_RANKS, SEED, call + 1);
            same += mine == arrival_part(&arrival, rank + 1, MAX_RANKS, SEED, call);
            sum += mine;
            square_sum += mine * mine;
        }
    double mean = sum / values_number, variance = square_sum / values_number - mean * mean;
    EXPECT(fabs(mean - 0.5) < 0.005 && fabs(variance - 1.0 / 12) < 0.002, "mean %g, variance %g", mean, variance);
    EXPECT(same < 3, "%d parts do not depend on rank, call or seed", same);
}

TEST(delays_are_parts_of_the_span)
{
    for (int rank = 0; rank < 5; rank++) {
        imposed_t imposed = {.arrival = pattern_of("ascending:7"), .span_ns = 1001, .rank = rank, .ranks = 5};
        EXPECT(imposed_delay_ns(&imposed, 0) == llround(1001 * rank / 4.0), "rank %d has a delay of %" PRId64 " ns",
               rank, imposed_delay_ns(&imposed, 0));
    }
    const imposed_t none = {.ranks = 5};
    EXPECT(imposed_delay_ns(&none, 3) == 0, "there is a delay, and no pattern");
}

/* ---- Names */

/* What results call the patterns of a list, each after a blank; NULL: refused, and part is in the reason. */
static const struct {
    const char *given, *names, *part;
} lists[] = {
    {"together", " together", ""},
    {"ascending", " together ascending:1x", ""},
    {"bell:50", " together bell:50", ""},
    {"bell:1.50x,bell:1.5", " together bell:1.5x bell:1.5", ""},
    {"half-late:0.001,together,random:1000x", " together half-late:0.001 random:1000x", ""},
    {"one-late:3", " together one-late:3:1x", ""},
    {"one-late:3:20,one-late:4:20", " together one-late:3:20 one-late:4:20", ""},
    {"last-late:10000000", " together last-late:10000000", ""},
    {"", NULL, "together, ascending"},
    {",", NULL, "together, ascending"},
    {"ascending,", NULL, "together, ascending"},
    {"ascend", NULL, "\"ascend\""},
    {"ascendingly", NULL, "\"ascendingly\""},
    {"Ascending", NULL, "\"Ascending\""},
    {"together:5", NULL, "\"together:5\""},
    {"ascending:", NULL, "magnitude \"\""},
    {"ascending:-5", NULL, "magnitude \"-5\""},
    {"ascending:nan", NULL, "magnitude \"nan\""},
    {"ascending:inf", NULL, "magnitude \"inf\""},
    {"ascending:0", NULL, "magnitude \"0\""},
    {"ascending:0x", NULL, "magnitude \"0x\""},
    {"ascending:x", NULL, "magnitude \"x\""},
    {"ascending:0x10", NULL, "magnitude \"0x10\""},
    {"ascending:1e3", NULL, "magnitude \"1e3\""},
    {"ascending: 5", NULL, "magnitude \" 5\""},
    {"ascending:5us", NULL, "magnitude \"5us\""},
    {"ascending:1.2.3", NULL, "magnitude \"1.2.3\""},
    {"ascending:5:5", NULL, "magnitude \"5:5\""},
    {"ascending:10000001", NULL, "0.001 to 10000000 (us)"},
    {"ascending:1001x", NULL, "0.001x to 1000x"},
    {"ascending:00000000000000000000000000000000000000000000005", " together ascending:5", ""},
    {"one-late", NULL, "one-late:RANK"},
    {"one-late:", NULL, "one-late:RANK"},
    {"one-late:x", NULL, "one-late:RANK"},
    {"one-late:-1", NULL, "one-late:RANK"},
    {"one-late:1.5:3", NULL, "one-late:RANK"},
    {"one-late:99999999999", NULL, "one-late:RANK"},
    {"one-late:1:", NULL, "magnitude \"\""},
    {"bell:2,bell:2.0", NULL, "twice"},
    {"file", NULL, "file:PATH"},
    {"file:", NULL, "file:PATH"},
    {"file:/nowhere/delays.csv", NULL, "\"/nowhere/delays.csv\""},
};

LOOP_TEST(lists_of_patterns, COUNT_OF(lists))
{
    char why[ARRIVAL_WHY_BYTES] = "", names[1024] = "";
    arrival_list_t list;
    bool good = arrival_parse(&list, &tables, lists[_i].given, why);
    for (int i = 0; i < list.count && good; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), " %s", list.items[i].text);
    EXPECT(good == (lists[_i].names != NULL), "\"%s\" is %s: %s", lists[_i].given, good ? "accepted" : "refused", why);
    if (good)
        ck_assert_str_eq(names, lists[_i].names);
    else
        EXPECT(strstr(why, lists[_i].part) && strstr(why, "give") && !strchr(why, '\n'), "\"%s\": the reason is \"%s\"",
               lists[_i].given, why);
    arrival_tables_free(&tables);
}

TEST(patterns_are_not_too_many)
{
    char text[1024] = "bell:1", why[ARRIVAL_WHY_BYTES];
    arrival_list_t list;
    EXPECT(arrival_parse(&list, &tables, NULL, why) && list.count == 1 && !list.given,
           "what was not given is a pattern");
    for (int i = 2; i < MAX_ARRIVALS; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ",bell:%d", i);
    EXPECT(arrival_parse(&list, &tables, text, why) && list.count == MAX_ARRIVALS, "%s", why);
    strcat(text, ",bell:99");
    EXPECT(!arrival_parse(&list, &tables, text, why) && strstr(why, "15"), "%d patterns are accepted: %s", list.count,
           why);
}

/* ---- Files */

static const char scratch_path[] = "test_arrival.csv";

static void write_file(const char *content)
{
    FILE *file = fopen(scratch_path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(content, file);
    fclose(file);
}

#define TITLES "call,rank,delay_ns\n"

/* Refused if ranks is 0; part is in the reason then. */
static const struct {
    const char *content;
    int ranks, calls;
    const char *part;
} files[] = {
    {TITLES "0,0,5\n", 1, 1, ""},
    {TITLES "0,0,5", 0, 0, "line 2: the file ends within the line, give whole lines"},
    {"# by a tool\n\n" TITLES "0,0,5\r\n0,1,10000000000\r\n# call 1\n1,0,0\n1,1,7\n", 2, 2, ""},
    {TITLES "0,0,1\n1,0,2\n2,0,3\n", 1, 3, ""},
    {"", 0, 0, "line 0: \"\" is not allowed, give the titles call,rank,delay_ns"},
    {"0,0,5\n", 0, 0, "line 1: \"0,0,5\" is not allowed, give the titles"},
    {"\x7f"
     "ELF\n",
     0, 0, "line 1: "},
    {TITLES, 0, 0, "line 1: there are no delays"},
    {TITLES "0,0,-5\n", 0, 0, "line 2: the delay \"-5\""},
    {TITLES "0,0,nan\n", 0, 0, "line 2: the delay \"nan\""},
    {TITLES "0,0,5.5\n", 0, 0, "line 2: the delay \"5.5\""},
    {TITLES "0,0,\n", 0, 0, "line 2: the delay \"\""},
    {TITLES "0,0,10000000001\n", 0, 0, "0 to 10000000000 (ns)"},
    {TITLES "0,0,99999999999999999999\n", 0, 0, "line 2: the delay \"9999"},
    {TITLES "0,0,5,6\n", 0, 0, "line 2: the delay \"5,6\""},
    {TITLES "0,0\n", 0, 0, "line 2: \"0,0\""},
    {TITLES "0;0;5\n", 0, 0, "CALL,RANK,DELAY"},
    {TITLES "x,0,5\n", 0, 0, "line 2: \"x,0,5\""},
    {TITLES "0,-1,5\n", 0, 0, "line 2: \"0,-1,5\""},
    {TITLES "1,0,5\n", 0, 0, "line 2: call 1, rank 0 is not allowed, give call 0, rank 0"},
    {TITLES "0,1,5\n", 0, 0, "give call 0, rank 0"},
    {TITLES "0,0,5\n0,0,5\n", 0, 0, "line 3: call 0, rank 0 is not allowed, give call 0, rank 1"},
    {TITLES "0,0,5\n0,2,5\n", 0, 0, "line 3: call 0, rank 2"},
    {TITLES "0,0,5\n0,1,5\n1,0,5\n2,0,5\n", 0, 0, "line 5: call 2, rank 0 is not allowed, give call 1, rank 1"},
    {TITLES "0,0,5\n0,1,5\n1,0,5\n1,1,5\n1,2,5\n", 0, 0, "line 6: call 1, rank 2 is not allowed, give call 2, rank 0"},
    {TITLES "0,0,5\n0,1,5\n1,0,5\n", 0, 0, "line 4: the file ends within call 1, give all of its 2 ranks"},
};

/* A function that a file names, "": none; and whether its delays are of this operation. */
static const struct {
    const char *function, *operation;
    bool fits;
} fits[] = {{"Reduce", "reduce", true},
            {"Reduce", "ireduce", true},
            {"Ireduce", "reduce_persistent", true},
            {"Reduce_init", "reduce", true},
            {"Reduce", "reduce_scatter", false},
            {"Allreduce", "bcast", false},
            {"", "bcast", true}};

LOOP_TEST(operations_of_files, COUNT_OF(fits))
{
    arrival_table_t table = {.calls = 0};
    snprintf(table.function, sizeof table.function, "%s", fits[_i].function);
    EXPECT(arrival_fits(&table, fits[_i].operation) == fits[_i].fits, "arrivals of \"%s\" with %s", table.function,
           fits[_i].operation);
}

LOOP_TEST(files_of_delays, COUNT_OF(files))
{
    char why[ARRIVAL_WHY_BYTES] = "";
    arrival_table_t table;
    write_file(files[_i].content);
    bool good = arrival_table_read(&table, scratch_path, why);
    unlink(scratch_path);
    EXPECT(good == (files[_i].ranks > 0), "file %d is %s: %s", _i, good ? "accepted" : "refused", why);
    if (good)
        EXPECT(table.ranks == files[_i].ranks && table.calls == files[_i].calls, "file %d: %d ranks, %" PRId64 " calls",
               _i, table.ranks, table.calls);
    else
        EXPECT(strstr(why, files[_i].part) && strstr(why, scratch_path) && !strchr(why, '\n'),
               "file %d: the reason is \"%s\"", _i, why);
    arrival_table_free(&table);
}

TEST(delays_of_a_file_are_taken_in_turn)
{
    static const int64_t expected_ns[] = {10, 30, 50, 10, 30};
    imposed_t imposed = {.rank = 1, .ranks = 2, .tables = &tables};
    char text[100];
    write_file(TITLES "0,0,0\n0,1,10\n1,0,20\n1,1,30\n2,0,40\n2,1,50\n");
    snprintf(text, sizeof text, "file:./%s", scratch_path);
    imposed.arrival = pattern_of(text);
    ck_assert_str_eq(imposed.arrival.text, "file:test_arrival.csv@6bc0637d");
    for (int call = 0; call < COUNT_OF(expected_ns); call++)
        EXPECT(imposed_delay_ns(&imposed, call) == expected_ns[call], "call %d: %" PRId64 " ns", call,
               imposed_delay_ns(&imposed, call));
    unlink(scratch_path);
    EXPECT(pattern_of(text).table == imposed.arrival.table && tables.count == 1, "the file is read again");
    arrival_tables_free(&tables);
}

static void expect_line_refused(const char *path, const char *part)
{
    char why[ARRIVAL_WHY_BYTES] = "";
    arrival_table_t table;
    EXPECT(!arrival_table_read(&table, path, why) && strstr(why, part), "%s: the reason is \"%s\"", path, why);
    arrival_table_free(&table);
}

static void write_number(int width, const char *after)
{
    FILE *file = fopen(scratch_path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, TITLES "%*d%s", width, 0, after);
    fclose(file);
}

/* Of lines of 300 and 65534 characters, the beginning is told; longer ones, and a file without any, are not read. */
TEST(long_lines)
{
    write_number(300, ",0,5\n");
    expect_line_refused(scratch_path, "line 2: \"   ");
    write_number(65534, "\n");
    expect_line_refused(scratch_path, "line 2: \"   ");
    write_number(65535, "\n");
    expect_line_refused(scratch_path, "line 2: it is not allowed, give text of at most 65534 characters");
    unlink(scratch_path);
    expect_line_refused("/dev/zero", "line 1: it is not allowed, give text of at most 65534 characters");
    expect_line_refused("/", "\"/\", line 0: the file cannot be read: ");
}
