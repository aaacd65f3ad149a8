/* SPDX-License-Identifier: BSD-3-Clause */
/* verdict.c - from intervals to verdicts. */
#include "compare/verdict.h"

#include <math.h>

verdict_t verdict_of(const finding_t *finding, double same_percent)
{
    double margin = log1p(same_percent / 100);
    if (same_percent > 0 && finding->low >= -margin && finding->high <= margin)
        return VERDICT_SAME;
    if (finding->high < 0)
        return VERDICT_FASTER;
    return finding->low > 0 ? VERDICT_SLOWER : VERDICT_UNDECIDED;
}

const char *verdict_name(verdict_t verdict, bool by_guideline)
{
    static const char *const names[VERDICTS] = {"faster", "slower", "same", "undecided"};
    static const char *const by_guidelines[VERDICTS] = {"kept", "violated", "kept", "undecided"};
    return by_guideline ? by_guidelines[verdict] : names[verdict];
}

judgment_t judge(const finding_t *findings, int count, double limit_percent)
{
    double limit = log1p(limit_percent / 100);
    judgment_t judgment = JUDGMENT_PASS;
    for (int i = 0; i < count; i++) {
        if (findings[i].low > limit)
            return JUDGMENT_FAIL;
        if (findings[i].high > limit)
            judgment = JUDGMENT_UNDECIDED;
    }
    return judgment;
}
