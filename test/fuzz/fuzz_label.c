/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_label.c - labels of sync algorithms: what is accepted is within its limits, what is refused is explained. */
#include "fuzz.h"
#include "sync/offset.h"
#include "sync/sync.h"
#include "sync/sync_label.h"

#include <string.h>

static void check_part(const mh_label_part *part)
{
    FUZZ_REQUIRE(part->algorithm >= 0 && mh_sync_name(part->algorithm));
    FUZZ_REQUIRE(part->fit_points >= 1 && part->fit_points <= MH_MAX_FIT_POINTS);
    FUZZ_REQUIRE(part->exchanges >= 1 && part->exchanges <= MH_MAX_EXCHANGES);
    FUZZ_REQUIRE(part->estimator >= 0 && mh_offset_name(part->estimator));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[160] = "", *text = fuzz_text(data, size);
    mh_label label;
    if (mh_label_parse(text, &label, why, sizeof why) == 0) {
        FUZZ_REQUIRE(label.levels >= 1 && label.levels <= MH_MAX_LEVELS);
        for (int i = 0; i < label.levels; i++)
            check_part(&label.parts[i]);
        mh_label_synchronizes(&label);
        FUZZ_REQUIRE(mh_label_check(text, why, sizeof why) == 0);
    } else {
        FUZZ_REQUIRE(why[0] && strlen(why) < sizeof why);
        FUZZ_REQUIRE(mh_label_check(text, why, 1) != 0); /* nothing fits, and nothing is written beyond */
    }
    free(text);
    return 0;
}
