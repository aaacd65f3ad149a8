/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_clock_reader.h - what the timestamps of any program on a host are on the global clock, by a file of clock
 * records.
 *
 * No MPI: this header and clock_reader.c, in C99 and the C library alone, may be copied into other programs. A file of
 * clock records is written by "mpix_clock record". It has, for each host, readings of the clock MONOTONIC_RAW beside
 * the global clock, and readings of the other clocks of the host beside MONOTONIC_RAW. Between two readings the time is
 * interpolated. Each time has a bound: the true time is within the bound of the stated one, unless a clock did what
 * mpix_clock_reader(3) says that the reader assumes not to happen.
 */
#ifndef MPIX_CLOCK_READER_H
#define MPIX_CLOCK_READER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Interpolation between readings of two clocks */

/* A reading of one clock beside another clock. */
typedef struct mpix_clock_pair {
    int64_t at_ns;       /* the reading of the one clock */
    int64_t ahead_ns;    /* the other clock less the one clock, at this instant, without ... */
    int64_t ahead_ps;    /* ... picoseconds, 0 to 999 */
    double deviation_ns; /* standard deviation of this difference; 0: not known; -1: a clock was set since the reading
                            before */
    double bound_ns;     /* the true difference is within this bound; infinite: not known */
} mpix_clock_pair;

/* Readings in the order of at_ns, and what is known of the rates of the two clocks. */
typedef struct mpix_clock_line {
    const mpix_clock_pair *pairs;
    size_t count;
    size_t stride_bytes; /* from one pair to the next: pairs may be the first members of larger structures */
    double rate_limit;   /* the rates of the two clocks differ by at most this ratio */
    double wander_per_s; /* within s seconds the drift changes by at most wander_per_s (1 + s); infinite: not known */
} mpix_clock_line;

/* A time by a line: time_ns + rest_ns, with 0 <= rest_ns < 1. */
typedef struct mpix_clock_reading {
    int64_t time_ns;
    double rest_ns;
} mpix_clock_reading;

/*
 * mpix_clock_read_line - the other clock when the one clock reads at_ns.
 *
 * line    has at least one pair
 * place   NULL, or where the last time was found in this line, at first 0: times in ascending order are found faster
 */
mpix_clock_reading mpix_clock_read_line(const mpix_clock_line *line, int64_t at_ns, size_t *place);

/* mpix_clock_line_bound_ns - what this time is wrong by at most. Infinite: not known. */
double mpix_clock_line_bound_ns(const mpix_clock_line *line, int64_t at_ns);

/* ---- Clock records */

/* The clocks of a host. The counter is that of the processor, in ticks. */
typedef enum mpix_clock_id {
    MPIX_CLOCK_MONOTONIC_RAW,
    MPIX_CLOCK_MONOTONIC,
    MPIX_CLOCK_BOOTTIME,
    MPIX_CLOCK_REALTIME,
    MPIX_CLOCK_TAI,
    MPIX_CLOCK_COUNTER,
    MPIX_CLOCK_IDS
} mpix_clock_id;

/* "monotonic_raw", "monotonic", "boottime", "realtime", "tai", "counter", and NULL: as files and options name them. */
extern const char *const mpix_clock_id_names[MPIX_CLOCK_IDS + 1];

/* How a time was found. */
enum {
    MPIX_CLOCK_EXTRAPOLATED = 1, /* it is before or after all records */
    MPIX_CLOCK_AMBIGUOUS = 2     /* the clock was set, and read this time twice, or perhaps never; the bound has both */
};

typedef struct mpix_clock_time {
    int64_t global_ns; /* on the global clock of the file */
    int64_t unix_ns;   /* likewise, since 1970 by the clock of the reference host */
    int64_t bound_ns;  /* the true global time is within this of global_ns; INT64_MAX: not known */
    int how;           /* 0: interpolated; or a sum of the above */
} mpix_clock_time;

typedef struct mpix_clock_file mpix_clock_file;

enum { MPIX_CLOCK_WHY_BYTES = 256 };

/*
 * mpix_clock_open - read a file of clock records. A last line that is not complete is left out.
 *
 * why   out, on failure: what is wrong, in one line
 *
 * Returns NULL on failure. mpix_clock_close frees what is returned.
 */
mpix_clock_file *mpix_clock_open(const char *path, char why[MPIX_CLOCK_WHY_BYTES]);
void mpix_clock_close(mpix_clock_file *file);

/*
 * mpix_clock_join - add the records of another file, which another job wrote, by a host that both files have. The times
 * of all hosts are then on the global clock of the first file.
 *
 * Returns 0; or -1, with the reason in why: the files have no host and boot in common, or these were suspended in a way
 * that mpix_clock_reader(3) excludes, or have another time namespace. Nothing is changed then; after other files were
 * joined, this one may be joined, too. If memory lacks, nothing but mpix_clock_close may follow.
 */
int mpix_clock_join(mpix_clock_file *file, const mpix_clock_file *other, char why[MPIX_CLOCK_WHY_BYTES]);

/* mpix_clock_host_count, mpix_clock_host_name, mpix_clock_host_boot - the hosts. A host that was booted again is
 * another one, with the same name. */
int mpix_clock_host_count(const mpix_clock_file *file);
const char *mpix_clock_host_name(const mpix_clock_file *file, int host);
const char *mpix_clock_host_boot(const mpix_clock_file *file, int host);

/* mpix_clock_find_host - the host of a name; -1: none; -2: several boots have it. */
int mpix_clock_find_host(const mpix_clock_file *file, const char *name);

/* mpix_clock_has - whether the records of a host have a clock. */
int mpix_clock_has(const mpix_clock_file *file, int host, mpix_clock_id clock);

/* mpix_clock_namespace_ns - what the time namespace of the recorder adds to a clock. Timestamps of the kernel, as those
 * of perf, are without it. */
int64_t mpix_clock_namespace_ns(const mpix_clock_file *file, int host, mpix_clock_id clock);

/* mpix_clock_span - the first and the last reading of a clock in the records of a host, which has the clock. */
void mpix_clock_span(const mpix_clock_file *file, int host, mpix_clock_id clock, int64_t *first, int64_t *last);

/*
 * mpix_clock_convert - the global time at which a clock of a host had a reading.
 *
 * reading   nanoseconds, as clock_gettime returns them; ticks of the counter
 *
 * Returns 0; or -1, and changes nothing, if the records of the host do not have the clock.
 */
int mpix_clock_convert(const mpix_clock_file *file, int host, mpix_clock_id clock, int64_t reading,
                       mpix_clock_time *time);

/* UTC at a global time, by the word of the kernel of a host whose clock chrony or ntpd keeps. */
typedef struct mpix_clock_utc {
    int host;
    int64_t ahead_ns;  /* UTC less unix_ns of the same time */
    int64_t within_ns; /* what this is wrong by at most */
} mpix_clock_utc;

/*
 * mpix_clock_find_utc - by the host whose word is surest.
 *
 * Returns 0; 1 if no word in the records bounds it; or -1 if there is no word.
 */
int mpix_clock_find_utc(const mpix_clock_file *file, int64_t global_ns, mpix_clock_utc *utc);

/* mpix_clock_utc_of - the same by the word of one host, which takes no longer if there are many. */
int mpix_clock_utc_of(const mpix_clock_file *file, int host, int64_t global_ns, mpix_clock_utc *utc);

/* ---- Records in memory: for a program that takes them itself */

/* A look at a clock beside MONOTONIC_RAW. */
typedef struct mpix_clock_look {
    int64_t at;     /* the clock: nanoseconds, or ticks of the counter */
    int64_t raw_ns; /* MONOTONIC_RAW was within half_ns of raw_ns then */
    int64_t half_ns;
    int64_t bend_ns; /* looks since the one before that are not here were within bend_ns of the line between the two;
                        -1: there were none */
} mpix_clock_look;

/* What a kernel says of UTC when it is asked, by adjtimex. */
typedef struct mpix_clock_utc_look {
    int64_t at, raw_ns;  /* REALTIME and MONOTONIC_RAW then */
    int64_t within_ns;   /* UTC was within this of REALTIME: maxerror; -1: the clock is not synchronized */
    int64_t estimate_ns; /* esterror; if it is not from 1 to within_ns, nobody told the kernel how far UTC is */
} mpix_clock_utc_look;

/*
 * mpix_clock_new - records of one host, number 0, without any yet. As if they were read from a file. The rates of the
 * clocks may be anything, so no bound is known beside a record, until mpix_clock_limit says what they keep.
 *
 * unix_ns   Unix time at global time 0, from which mpix_clock_convert has the Unix time of others
 * look_ns   what the clock may do at most once, mpix_clock_reader(3), it does at most once in twice this time
 *
 * Returns NULL if memory lacks.
 */
mpix_clock_file *mpix_clock_new(int64_t unix_ns, int64_t look_ns);

/* mpix_clock_limit - what the rates of the clocks are known to keep, as in mpix_clock_line. */
void mpix_clock_limit(mpix_clock_file *file, double rate_limit, double wander_per_s);

/*
 * mpix_clock_push_record, mpix_clock_push_look - add a record (at_ns: MONOTONIC_RAW), or a look, which is not older
 * than the last one. Returns -1 if memory lacks: it is then not there.
 */
int mpix_clock_push_record(mpix_clock_file *file, mpix_clock_pair record);
int mpix_clock_push_look(mpix_clock_file *file, mpix_clock_id clock, mpix_clock_look look);

/* mpix_clock_pop_record, mpix_clock_pop_look - take away the last one, which must be there. */
void mpix_clock_pop_record(mpix_clock_file *file);
void mpix_clock_pop_look(mpix_clock_file *file, mpix_clock_id clock);

/*
 * mpix_clock_forget - forget the records and looks from before a time of MONOTONIC_RAW. Of a clock, the last look of
 * before remains if looks between it and the next one are not here, and those since one after which the clock was set
 * back to readings that are not over yet.
 */
void mpix_clock_forget(mpix_clock_file *file, int64_t before_raw_ns);

/* mpix_clock_records, mpix_clock_looks - what is there, until the next change. */
const mpix_clock_pair *mpix_clock_records(const mpix_clock_file *file, size_t *count);
const mpix_clock_look *mpix_clock_looks(const mpix_clock_file *file, mpix_clock_id clock, size_t *count);

#ifdef __cplusplus
}
#endif

#endif /* MPIX_CLOCK_READER_H */
