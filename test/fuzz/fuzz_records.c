/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_records.c - files of clock records: what is accepted can be asked everything, what is refused is explained. The
 * input is a file, and behind a form feed another one that is joined; if there is none, a copy of the first one.
 */
#define _GNU_SOURCE /* memfd_create */
#include "fuzz.h"
#include "mpix_clock_reader.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { READINGS = 12 };

static void check_why(const char why[MPIX_CLOCK_WHY_BYTES])
{
    FUZZ_REQUIRE(why[0] != '\0' && memchr(why, '\0', MPIX_CLOCK_WHY_BYTES));
}

static mpix_clock_file *open_bytes(const uint8_t *data, size_t size)
{
    char path[64], why[MPIX_CLOCK_WHY_BYTES] = "";
    const int descriptor = memfd_create("records", MFD_CLOEXEC);
    FUZZ_REQUIRE(descriptor >= 0 && write(descriptor, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    mpix_clock_file *file = mpix_clock_open(path, why);
    close(descriptor);
    if (!file)
        check_why(why);
    return file;
}

static void check_time(const mpix_clock_file *file, int host, mpix_clock_id clock, int64_t reading)
{
    mpix_clock_time time, again;
    FUZZ_REQUIRE(mpix_clock_convert(file, host, clock, reading, &time) == 0);
    FUZZ_REQUIRE(time.bound_ns > 0);
    FUZZ_REQUIRE((time.how & ~(MPIX_CLOCK_EXTRAPOLATED | MPIX_CLOCK_AMBIGUOUS)) == 0);
    FUZZ_REQUIRE(mpix_clock_convert(file, host, clock, reading, &again) == 0);
    FUZZ_REQUIRE(again.global_ns == time.global_ns && again.bound_ns == time.bound_ns && again.how == time.how);
}

/* Readings in the records, near their ends, and as far away as numbers go. */
static void check_clock(const mpix_clock_file *file, int host, mpix_clock_id clock)
{
    mpix_clock_time time = {.bound_ns = -1};
    int64_t first, last;
    mpix_clock_namespace_ns(file, host, clock);
    if (!mpix_clock_has(file, host, clock)) {
        FUZZ_REQUIRE(mpix_clock_convert(file, host, clock, 0, &time) == -1 && time.bound_ns == -1);
        return;
    }
    mpix_clock_span(file, host, clock, &first, &last);
    FUZZ_REQUIRE(clock != MPIX_CLOCK_MONOTONIC_RAW || first <= last);
    const int64_t step = (last - first) / READINGS;
    for (int64_t i = -1; i <= READINGS + 1; i++)
        check_time(file, host, clock, first + i * step);
    const int64_t others[] = {last, first - 1, last + 1, 0, INT64_MIN, INT64_MAX, INT64_MIN / 4, INT64_MAX / 4};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        check_time(file, host, clock, others[i]);
}

static void check_host(const mpix_clock_file *file, int host)
{
    const char *name = mpix_clock_host_name(file, host);
    const int found = mpix_clock_find_host(file, name);
    FUZZ_REQUIRE(name && mpix_clock_host_boot(file, host));
    FUZZ_REQUIRE(found == host || found == -2);
    for (mpix_clock_id clock = 0; clock < MPIX_CLOCK_IDS; clock++)
        check_clock(file, host, clock);
}

static void check_utc(const mpix_clock_file *file)
{
    static const int64_t times_ns[] = {0, 1, INT64_C(1000000000), INT64_MIN / 8, INT64_MAX / 8, INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < sizeof times_ns / sizeof times_ns[0]; i++) {
        mpix_clock_utc utc = {.host = -1};
        const int found = mpix_clock_find_utc(file, times_ns[i], &utc);
        FUZZ_REQUIRE(found >= -1 && found <= 1);
        FUZZ_REQUIRE(found != 0 || (utc.host >= 0 && utc.host < mpix_clock_host_count(file) && utc.within_ns > 0));
    }
}

static void check_file(const mpix_clock_file *file)
{
    const int hosts = mpix_clock_host_count(file);
    size_t records = 0;
    const mpix_clock_pair *pairs = hosts > 0 ? mpix_clock_records(file, &records) : NULL;
    for (size_t i = 1; i < records; i++)
        FUZZ_REQUIRE(pairs[i - 1].at_ns <= pairs[i].at_ns);
    for (int host = 0; host < hosts; host++)
        check_host(file, host);
    check_utc(file);
}

static void check_join(mpix_clock_file *file, const mpix_clock_file *other)
{
    char why[MPIX_CLOCK_WHY_BYTES] = "";
    const int hosts = mpix_clock_host_count(file);
    if (mpix_clock_join(file, other, why) != 0)
        check_why(why);
    FUZZ_REQUIRE(mpix_clock_host_count(file) >= hosts);
    check_file(file);
    FUZZ_REQUIRE(mpix_clock_join(file, file, why) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *feed = size > 0 ? memchr(data, '\f', size) : NULL;
    const size_t first_size = feed ? (size_t)(feed - data) : size;
    mpix_clock_file *file = open_bytes(data, first_size);
    mpix_clock_file *other = feed ? open_bytes(feed + 1, size - first_size - 1) : open_bytes(data, size);
    if (file)
        check_file(file);
    if (file && other)
        check_join(file, other);
    mpix_clock_close(other);
    mpix_clock_close(file);
    return 0;
}
