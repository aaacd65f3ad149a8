/* SPDX-License-Identifier: BSD-3-Clause */
/* utc_word.h - what the kernel says of UTC: how far REALTIME, the clock of this host, is from it at most. No MPI. */
#ifndef MH_UTC_WORD_H
#define MH_UTC_WORD_H

#include "mpix_clock_reader.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/timex.h>

typedef struct mh_utc_word {
    bool is_synchronized;         /* with UTC, by chrony, ntpd or another program */
    int64_t most_ns, estimate_ns; /* how far UTC is from REALTIME; most_ns is 0: nobody told the kernel */
    int64_t tai_s;                /* how far TAI is ahead of UTC; 0: nobody told the kernel */
} mh_utc_word;

/* Ask the kernel. */
mh_utc_word mh_utc_word_ask(void);

/* What adjtimex has returned and filled in. */
mh_utc_word mh_utc_word_of(int state, const struct timex *says);

/* The word as files of clock records have it, with a look at REALTIME beside MONOTONIC_RAW. */
mpix_clock_utc_look mh_utc_word_look(mh_utc_word word, mpix_clock_look real);

#endif
