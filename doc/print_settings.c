/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * print_settings - the tables of settings and statistics, for check_manual.sh.
 *
 * A line "setting|NAME|UNIT|DEFAULT|ALLOWED" for each setting, then "statistic|NAME|UNIT|DOC" for each statistic.
 */
#include "info.h"

#include <stdio.h>

int main(void)
{
    for (int i = 0; i < MH_SET_COUNT; i++) {
        const mh_setting *setting = &mh_settings_table[i];
        char allowed[512];

        mh_setting_allowed(setting, allowed, sizeof allowed);
        printf("setting|%s|%s|%s|%s\n", mh_setting_names[i], setting->unit, setting->default_text, allowed);
    }
    for (int i = 0; mh_statistic_at(i); i++)
        printf("statistic|%s|%s|%s\n", mh_statistic_at(i)->name, mh_statistic_at(i)->unit, mh_statistic_at(i)->doc);
    return 0;
}
