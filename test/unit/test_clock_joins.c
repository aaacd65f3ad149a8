/* SPDX-License-Identifier: BSD-3-Clause */
/* test_clock_joins.c - files of clock records of several jobs, joined by hosts that were suspended or not. */
#include "clock_files.h"
#include "pure/units.h"

/* Two jobs whose global clocks have nothing in common but a host, on which both were recorded. */
TEST(jobs_are_joined_by_the_host_that_they_share)
{
    char first[] = "clock_records_XXXXXX", second[] = "clock_records_XXXXXX", why[MPIX_CLOCK_WHY_BYTES];
    mpix_clock_time time;
    close(mkstemp(first));
    close(mkstemp(second));
    write_text(first, HEAD HOST
               "{\"host\": \"h1\", \"raw\": [0, 0, 10]}\n{\"host\": \"h1\", \"raw\": [1000000000, 1000010000, 10]}\n");
    write_text(
        second, HEAD HOST
        "{\"host\": \"h1\", \"raw\": [0, 5000, 20]}\n{\"host\": \"h1\", \"raw\": [1000000000, 1000015000, 20]}\n"
        "{\"host\": \"h2\", \"boot\": \"c\", \"look_ns\": 50000000}\n"
        "{\"host\": \"h2\", \"raw\": [700, 5700, 5]}\n{\"host\": \"h2\", \"raw\": [1000000700, 1000005700, 5]}\n");
    mpix_clock_file *file = open_records(first), *other = open_records(second);
    ck_assert_int_eq(mpix_clock_join(file, other, why), 0);
    const int host = mpix_clock_find_host(file, "h2");
    ck_assert_int_eq(mpix_clock_convert(file, host, MPIX_CLOCK_MONOTONIC_RAW, 500000700, &time), 0);
    EXPECT(llabs(time.global_ns - 500000700) <= 2, "%" PRId64, time.global_ns);
    /* The bounds of three records, and the wander in the middle between two. */
    EXPECT(time.bound_ns >= 35 + 37 && time.bound_ns < 35 + 37 + 8, "%" PRId64, time.bound_ns);
    ck_assert_int_eq(mpix_clock_host_count(file), 2);
    mpix_clock_close(other);
    write_text(second, HEAD "{\"host\": \"h1\", \"boot\": \"other\", \"look_ns\": 1}\n"
                            "{\"host\": \"h1\", \"raw\": [0, 1000, 10]}\n");
    other = open_records(second);
    ck_assert_int_eq(mpix_clock_join(file, other, why), -1);
    EXPECT(strstr(why, "no host in common"), "%s", why);
    mpix_clock_close(other);
    mpix_clock_close(file);
    unlink(first);
    unlink(second);
}

/* A recorder was ended, and started again: what the second one saw of the same hosts counts, too. */
TEST(jobs_of_the_same_hosts_are_joined_one_after_the_other)
{
    char first[] = "clock_records_XXXXXX", second[] = "clock_records_XXXXXX", why[MPIX_CLOCK_WHY_BYTES];
    mpix_clock_time time;
    close(mkstemp(first));
    close(mkstemp(second));
    /* h2 is 10 ppm faster than h1 at first, and 30 ppm later. */
    write_text(first, HEAD HOST
               "{\"host\": \"h1\", \"raw\": [0, 0, 10]}\n{\"host\": \"h1\", \"raw\": [1000000000, 1000000000, 10]}\n"
               "{\"host\": \"h1\", \"monotonic\": [5, 0, 5]}\n{\"host\": \"h1\", \"monotonic\": [1000000005, "
               "1000000000, 5, 5]}\n"
               "{\"host\": \"h2\", \"boot\": \"c\", \"look_ns\": 50000000}\n"
               "{\"host\": \"h2\", \"raw\": [0, 0, 10]}\n{\"host\": \"h2\", \"raw\": [1000010000, 1000000000, 10]}\n");
    write_text(second, HEAD HOST "{\"host\": \"h1\", \"raw\": [3000000000, 0, 10]}\n"
                                 "{\"host\": \"h1\", \"raw\": [4000000000, 1000000000, 10]}\n"
                                 "{\"host\": \"h1\", \"monotonic\": [3000000005, 3000000000, 5]}\n"
                                 "{\"host\": \"h1\", \"monotonic\": [4000000005, 4000000000, 5, 5]}\n"
                                 "{\"host\": \"h2\", \"boot\": \"c\", \"look_ns\": 50000000}\n"
                                 "{\"host\": \"h2\", \"raw\": [3000050000, 0, 10]}\n"
                                 "{\"host\": \"h2\", \"raw\": [4000080000, 1000000000, 10]}\n");
    mpix_clock_file *file = open_records(first), *other = open_records(second);
    ck_assert_int_eq(mpix_clock_join(file, other, why), 0);
    ck_assert_int_eq(mpix_clock_host_count(file), 2);
    ck_assert_int_eq(
        mpix_clock_convert(file, mpix_clock_find_host(file, "h2"), MPIX_CLOCK_MONOTONIC_RAW, 3500065000, &time), 0);
    EXPECT(llabs(time.global_ns - 3500000000) <= 2 && time.how == 0, "%" PRId64, time.global_ns);
    EXPECT(time.bound_ns < 2000, "%" PRId64, time.bound_ns);
    ck_assert_int_eq(
        mpix_clock_convert(file, mpix_clock_find_host(file, "h1"), MPIX_CLOCK_MONOTONIC, 3500000005, &time), 0);
    EXPECT(llabs(time.global_ns - 3500000000) <= 2 && time.how == 0, "%" PRId64, time.global_ns);
    EXPECT(time.bound_ns < 2000, "%" PRId64, time.bound_ns);
    mpix_clock_close(other);
    mpix_clock_close(file);
    unlink(first);
    unlink(second);
}

/* Of three jobs one after the other, the second one comes last. */
TEST(a_job_between_two_others_is_joined)
{
    char path[] = "clock_records_XXXXXX", text[1000], why[MPIX_CLOCK_WHY_BYTES];
    static const int begins_s[] = {0, 4, 2};
    mpix_clock_file *file = NULL;
    mpix_clock_time time;
    close(mkstemp(path));
    for (int i = 0; i < COUNT_OF(begins_s); i++) {
        const int from_s = begins_s[i], to_s = from_s + 1, us = from_s == 2 ? 500 : 0; /* how MONOTONIC is ahead */
        snprintf(text, sizeof text,
                 HEAD HOST "{\"host\": \"h1\", \"raw\": [%d000000000, 0, 10]}\n"
                           "{\"host\": \"h1\", \"raw\": [%d000000000, 1000000000, 10]}\n"
                           "{\"host\": \"h1\", \"monotonic\": [%d000%03d000, %d000000000, 20]}\n"
                           "{\"host\": \"h1\", \"monotonic\": [%d000%03d000, %d000000000, 20, 5]}\n",
                 from_s, to_s, from_s, us, from_s, to_s, us, to_s);
        write_text(path, text);
        mpix_clock_file *other = open_records(path);
        if (i > 0) {
            EXPECT(mpix_clock_join(file, other, why) == 0, "%s", why);
            mpix_clock_close(other);
        } else {
            file = other;
        }
    }
    ck_assert_int_eq(mpix_clock_convert(file, 0, MPIX_CLOCK_MONOTONIC, 2500500000, &time), 0);
    EXPECT(llabs(time.global_ns - 2500000000) <= 100 && time.bound_ns < 5000, "%" PRId64 " within %" PRId64,
           time.global_ns, time.bound_ns);
    mpix_clock_close(file);
    unlink(path);
}

/* What h1 was between two jobs, and whether h2 was there in both. */
TEST(jobs_are_not_joined_by_a_host_that_was_suspended_or_has_another_namespace)
{
    static const struct {
        const char *host;
        int slept_s;
        bool has_other;
        const char *why; /* NULL: they are joined */
    } cases[] = {{HOST, 0, false, NULL},
                 {HOST, 3, false, "h1, which the files have in common, was suspended between them"},
                 {HOST, 3, true, NULL},
                 {"{\"host\": \"h1\", \"boot\": \"a\", \"look_ns\": 50000000, \"monotonic_namespace_ns\": 7}\n", 0,
                  true, "h1 had another time namespace"}};
    static const char other_host[] = "{\"host\": \"h2\", \"boot\": \"b\", \"look_ns\": 50000000}\n";
    char paths[2][24] = {"clock_records_XXXXXX", "clock_records_XXXXXX"}, text[1000], why[MPIX_CLOCK_WHY_BYTES];
    close(mkstemp(paths[0]));
    close(mkstemp(paths[1]));
    for (int i = 0; i < 2 * COUNT_OF(cases); i++) {
        for (int job = 0; job < 2; job++) {
            const int boot_s = 20 + 10 * job + (job ? cases[i / 2].slept_s : 0);
            snprintf(text, sizeof text,
                     HEAD "%s{\"host\": \"h1\", \"raw\": [%d000000000, 0, 10]}\n"
                          "{\"host\": \"h1\", \"boottime\": [%d000000000, %d000000000, 20]}\n%s",
                     job ? cases[i / 2].host : HOST, 10 + 10 * job, boot_s, 10 + 10 * job, other_host);
            if (cases[i / 2].has_other)
                strcat(text, "{\"host\": \"h2\", \"raw\": [5, 0, 10]}\n");
            write_text(paths[job], text);
        }
        mpix_clock_file *file = open_records(paths[i % 2]), *other = open_records(paths[1 - i % 2]);
        const char *expected = cases[i / 2].why;
        const bool is_joined = mpix_clock_join(file, other, why) == 0;
        EXPECT(is_joined == !expected && (is_joined || strstr(why, expected)), "case %d: %s", i, why);
        mpix_clock_close(other);
        mpix_clock_close(file);
    }
    unlink(paths[0]);
    unlink(paths[1]);
}

/* h2 is suspended for 3 ms in the second job, so long after the first one that bounds are wider than that. */
TEST(a_suspended_host_is_found_in_a_job_that_is_joined)
{
    char first[] = "clock_records_XXXXXX", second[] = "clock_records_XXXXXX", why[MPIX_CLOCK_WHY_BYTES];
    mpix_clock_time time;
    close(mkstemp(first));
    close(mkstemp(second));
    write_text(first, HEAD HOST "{\"host\": \"h1\", \"raw\": [0, 0, 10]}\n"
                                "{\"host\": \"h1\", \"raw\": [1000000000, 1000000000, 10]}\n");
    write_text(second, HEAD HOST "{\"host\": \"h1\", \"raw\": [1000000000000, 0, 10]}\n"
                                 "{\"host\": \"h1\", \"raw\": [1001000000000, 1000000000, 10]}\n"
                                 "{\"host\": \"h2\", \"boot\": \"c\", \"look_ns\": 50000000}\n"
                                 "{\"host\": \"h2\", \"raw\": [0, 0, 10]}\n"
                                 "{\"host\": \"h2\", \"raw\": [997000000, 1000000000, 10]}\n");
    mpix_clock_file *other = open_records(second);
    ck_assert_int_eq(mpix_clock_convert(other, 1, MPIX_CLOCK_MONOTONIC_RAW, 500000000, &time), 0);
    ck_assert_int_eq(time.how, MPIX_CLOCK_AMBIGUOUS);
    mpix_clock_file *file = open_records(first);
    ck_assert_int_eq(mpix_clock_join(file, other, why), 0);
    ck_assert_int_eq(mpix_clock_convert(file, 1, MPIX_CLOCK_MONOTONIC_RAW, 500000000, &time), 0);
    EXPECT(time.how == MPIX_CLOCK_AMBIGUOUS && time.bound_ns > 3 * MH_NS_PER_MS / 2, "how %d, bound %" PRId64, time.how,
           time.bound_ns);
    mpix_clock_close(other);
    mpix_clock_close(file);
    unlink(first);
    unlink(second);
}

#define LOOK(at, raw) "{\"host\": \"h1\", \"monotonic\": [" #at ", " #raw ", 20]}\n"

/*
 * Where nobody looked for 16 times as long as usual, a clock may be slewed again and again. Another recorder of the
 * host, before or after, looks less frequently.
 */
LOOP_TEST(gaps_remain_gaps_when_files_are_joined, 2)
{
    char paths[2][24] = {"clock_records_XXXXXX", "clock_records_XXXXXX"}, why[MPIX_CLOCK_WHY_BYTES];
    mpix_clock_time time;
    close(mkstemp(paths[0]));
    close(mkstemp(paths[1]));
    /* Within 80 ms slewed by 500 ppm for 20 ms, by -500 ppm for 40 ms, and by 500 ppm for 20 ms. */
    write_text(paths[0], HEAD "{\"host\": \"h1\", \"boot\": \"a\", \"look_ns\": 5000000}\n"
                              "{\"host\": \"h1\", \"raw\": [0, 0, 10]}\n"
                              "{\"host\": \"h1\", \"raw\": [1000000000, 1000000000, 10]}\n" LOOK(490000000, 490000000)
                                  LOOK(495000000, 495000000) LOOK(500000000, 500000000) LOOK(580000000, 580000000)
                                      LOOK(585000000, 585000000) LOOK(590000000, 590000000));
    write_text(paths[1],
               HEAD HOST "{\"host\": \"h1\", \"raw\": [3000000000, 0, 10]}\n"
                         "{\"host\": \"h1\", \"raw\": [4000000000, 1000000000, 10]}\n" LOOK(3500000000, 3500000000)
                             LOOK(3550000000, 3550000000));
    mpix_clock_file *file = open_records(paths[_i]), *other = open_records(paths[1 - _i]);
    ck_assert_int_eq(mpix_clock_join(file, other, why), 0);
    ck_assert_int_eq(mpix_clock_convert(file, 0, MPIX_CLOCK_MONOTONIC, 520010000, &time), 0);
    const int64_t error_ns = time.global_ns - (520000000 - _i * INT64_C(3000000000));
    EXPECT(llabs(error_ns) <= time.bound_ns && time.bound_ns < 50 * MH_NS_PER_US,
           "off by %" PRId64 " ns, bound %" PRId64 " ns", error_ns, time.bound_ns);
    mpix_clock_close(other);
    mpix_clock_close(file);
    unlink(paths[0]);
    unlink(paths[1]);
}

/* ---- Hosts that are suspended */

/* A file of two hosts, in seconds. */
static FILE *begin_job(const char *path)
{
    FILE *to = fopen(path, "w");
    ck_assert_ptr_nonnull(to);
    fputs(HEAD HOST "{\"host\": \"h2\", \"boot\": \"b\", \"look_ns\": 50000000}\n", to);
    return to;
}

static int64_t ns_of(double s)
{
    return llround(s * 1e9);
}

static void add_record(FILE *to, const char *host, double raw_s, double global_s)
{
    fprintf(to, "{\"host\": \"%s\", \"raw\": [%" PRId64 ", %" PRId64 ", 10]}\n", host, ns_of(raw_s), ns_of(global_s));
}

/* At BOOTTIME and MONOTONIC of h1, which are slewed by 400 ppm. */
static void add_looks(FILE *to, double raw_s, double asleep_s, bool has_monotonic)
{
    const double monotonic_s = 50 + raw_s * (1 + 400e-6);
    fprintf(to, "{\"host\": \"h1\", \"boottime\": [%" PRId64 ", %" PRId64 ", 20]}\n", ns_of(monotonic_s + asleep_s),
            ns_of(raw_s));
    if (has_monotonic)
        fprintf(to, "{\"host\": \"h1\", \"monotonic\": [%" PRId64 ", %" PRId64 ", 20]}\n", ns_of(monotonic_s),
                ns_of(raw_s));
}

/* NULL: they cannot be joined. */
static mpix_clock_file *join(const char *first, const char *second, char why[MPIX_CLOCK_WHY_BYTES])
{
    mpix_clock_file *file = open_records(first), *other = open_records(second);
    const bool is_joined = mpix_clock_join(file, other, why) == 0;
    mpix_clock_close(other);
    if (is_joined)
        return file;
    mpix_clock_close(file);
    return NULL;
}

static void expect_time(const mpix_clock_file *file, const char *host, double raw_s, double true_s, double bound_s)
{
    mpix_clock_time time;
    const int number = mpix_clock_find_host(file, host);
    ck_assert_int_eq(mpix_clock_convert(file, number, MPIX_CLOCK_MONOTONIC_RAW, ns_of(raw_s), &time), 0);
    EXPECT(llabs(time.global_ns - ns_of(true_s)) <= time.bound_ns && time.bound_ns < ns_of(bound_s),
           "%s at %.3f s is at %.6f s, not %.6f s, bound %.9f s", host, raw_s, (double)time.global_ns * 1e-9, true_s,
           (double)time.bound_ns * 1e-9);
}

/* In the second job, h1 is suspended for 5 s, and h2 is not. Looks may be at BOOTTIME alone, or at no clock. */
LOOP_TEST(a_suspend_within_a_job_that_is_joined_moves_no_time, 3)
{
    char first[] = "clock_records_XXXXXX", second[] = "clock_records_XXXXXX", why[MPIX_CLOCK_WHY_BYTES] = "";
    const bool has_looks = _i > 0, has_monotonic = _i == 1;
    close(mkstemp(first));
    close(mkstemp(second));
    FILE *to = begin_job(first);
    for (int s = 0; s < 2; s++) {
        add_record(to, "h1", s, s);
        if (has_looks)
            add_looks(to, s, 0, has_monotonic);
    }
    fclose(to);
    to = begin_job(second);
    for (int s = 0; s < 4; s++) {
        const int global_s = s < 2 ? s : s + 5;
        add_record(to, "h1", 10 + s, global_s);
        add_record(to, "h2", global_s, global_s);
        if (has_looks)
            add_looks(to, 10 + s, s < 2 ? 0 : 5, has_monotonic);
    }
    fclose(to);
    /* Looks at BOOTTIME alone do not tell suspends of 1 ms for each second between the files. */
    const double bound_s = has_looks && !has_monotonic ? 30e-3 : 100e-6;
    mpix_clock_file *file = join(first, second, why);
    EXPECT(file, "%s", why);
    expect_time(file, "h1", 10.5, 10.5, bound_s);
    expect_time(file, "h1", 12.5, 17.5, bound_s);
    expect_time(file, "h2", 0.5, 10.5, bound_s);
    expect_time(file, "h2", 7.5, 17.5, bound_s);
    mpix_clock_close(file);
    file = join(second, first, why);
    EXPECT(file, "%s", why);
    expect_time(file, "h1", 0.5, -9.5, bound_s);
    expect_time(file, "h1", 12.5, 7.5, 1e-6);
    mpix_clock_close(file);
    unlink(first);
    unlink(second);
}

/* The same suspend is in both jobs, which were recorded at one time. */
TEST(a_suspend_that_both_jobs_have_makes_no_bound_wide)
{
    char first[] = "clock_records_XXXXXX", second[] = "clock_records_XXXXXX", why[MPIX_CLOCK_WHY_BYTES] = "";
    close(mkstemp(first));
    close(mkstemp(second));
    FILE *files[] = {begin_job(first), begin_job(second)};
    for (int job = 0; job < 2; job++)
        for (int i = 0; i < 4; i++) {
            const double raw_s = i + 0.25 * job, true_s = i < 2 ? raw_s : raw_s + 6;
            add_record(files[job], "h1", raw_s, true_s - 100 * job);
            add_looks(files[job], raw_s, i < 2 ? 0 : 6, true);
            if (job == 1)
                add_record(files[job], "h2", true_s, true_s - 100);
        }
    fclose(files[0]);
    fclose(files[1]);
    mpix_clock_file *file = join(first, second, why);
    EXPECT(file, "%s", why);
    expect_time(file, "h2", 0.75, 0.75, 1e-6);
    expect_time(file, "h2", 8.75, 8.75, 1e-6);
    mpix_clock_close(file);
    unlink(first);
    unlink(second);
}

/*
 * In the second job, h1 has the global clock, which stops while h1 is suspended. What h1 recorded does not tell this,
 * and what h2 recorded does.
 */
LOOP_TEST(a_host_that_does_not_tell_its_suspend_joins_no_jobs, 2)
{
    char first[] = "clock_records_XXXXXX", second[] = "clock_records_XXXXXX", why[MPIX_CLOCK_WHY_BYTES] = "";
    const bool has_other = _i > 0;
    close(mkstemp(first));
    close(mkstemp(second));
    FILE *files[] = {begin_job(first), begin_job(second)};
    for (int job = 0; job < 2; job++)
        for (int s = 0; s < 4; s++) {
            const int asleep_s = job == 1 && s >= 2 ? 5 : 0, raw_s = 10 * job + s;
            add_record(files[job], "h1", raw_s, s);
            add_looks(files[job], raw_s, asleep_s, true);
            if (has_other)
                add_record(files[job], "h2", raw_s + asleep_s, s);
        }
    fclose(files[0]);
    fclose(files[1]);
    mpix_clock_file *file = join(first, second, why);
    EXPECT(!file == !has_other && (file || strstr(why, "h1, which the files have in common, was suspended")), "%s",
           why);
    if (file) {
        expect_time(file, "h1", 10.5, 10.5, 100e-6);
        expect_time(file, "h1", 12.5, 17.5, 100e-6);
    }
    mpix_clock_close(file);
    unlink(first);
    unlink(second);
}

/* Two jobs an hour apart, and a suspend in this hour that a slew of the clocks might be. */
TEST(a_short_suspend_between_jobs_is_found_or_within_the_bound)
{
    static const struct {
        double asleep_s;
        bool has_monotonic, is_joined;
        double bound_s; /* the clocks alone may wander by 0.7 s */
    } cases[] = {
        {0, true, true, 1}, {3, true, false, 0}, {0.001, true, false, 0}, {0, false, true, 10}, {1, false, true, 10}};
    char first[] = "clock_records_XXXXXX", second[] = "clock_records_XXXXXX", why[MPIX_CLOCK_WHY_BYTES] = "";
    close(mkstemp(first));
    close(mkstemp(second));
    for (int i = 0; i < COUNT_OF(cases); i++) {
        const double asleep_s = cases[i].asleep_s;
        FILE *files[] = {begin_job(first), begin_job(second)};
        for (int job = 0; job < 2; job++)
            for (int s = 0; s < 2; s++) {
                add_record(files[job], "h1", 3600 * job + s, s);
                add_looks(files[job], 3600 * job + s, asleep_s * job, cases[i].has_monotonic);
            }
        fclose(files[0]);
        fclose(files[1]);
        mpix_clock_file *file = join(first, second, why);
        EXPECT(!file == !cases[i].is_joined, "case %d: %s", i, file ? "they are joined" : why);
        EXPECT(file || strstr(why, "was suspended between them"), "case %d: %s", i, why);
        if (file)
            expect_time(file, "h1", 3600.5, 3600.5 + asleep_s, cases[i].bound_s);
        mpix_clock_close(file);
    }
    unlink(first);
    unlink(second);
}
