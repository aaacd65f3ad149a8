/* SPDX-License-Identifier: BSD-3-Clause */
/* utc_word.c - the word of the kernel by adjtimex, which changes nothing here, and which every user may call. */
#include "pure/utc_word.h"

#include "pure/units.h"

mh_utc_word mh_utc_word_of(int state, const struct timex *says)
{
    if (state < 0)
        return (mh_utc_word){.is_synchronized = false};
    return (mh_utc_word){
        .is_synchronized = (says->status & STA_UNSYNC) == 0,
        .most_ns = (int64_t)says->maxerror * MH_NS_PER_US,
        .estimate_ns = (int64_t)says->esterror * MH_NS_PER_US,
        .tai_s = says->tai,
    };
}

mh_utc_word mh_utc_word_ask(void)
{
    struct timex says = {.modes = 0};
    const int state = adjtimex(&says);
    return mh_utc_word_of(state, &says);
}

/* What the look is wrong by adds to an error. An error of 0 stays 0, by which a reader knows that it is no bound. */
mpix_clock_utc_look mh_utc_word_look(mh_utc_word word, mpix_clock_look real)
{
    return (mpix_clock_utc_look){
        .at = real.at,
        .raw_ns = real.raw_ns,
        .within_ns = !word.is_synchronized ? -1
                     : word.most_ns > 0    ? word.most_ns + real.half_ns
                                           : 0,
        .estimate_ns = word.estimate_ns,
    };
}
