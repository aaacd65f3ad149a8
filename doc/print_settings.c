/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * print_settings - the table of settings and the names of statistics, for check_manual.sh.
 *
 * A line "setting|NAME|UNIT|DEFAULT|ALLOWED" for each setting, then "statistic|NAME" for each statistic.
 */
#include "settings.h"

#include <stdio.h>

int main(void)
{
    for (int i = 0; i < MH_SET_COUNT; i++) {
        const mh_setting *setting = &mh_settings_table[i];
        char allowed[512];

        mh_setting_allowed(setting, allowed, sizeof allowed);
        printf("setting|%s|%s|%s|%s\n", setting->name, setting->unit, setting->default_text, allowed);
    }
    for (int i = 0; mh_statistic_name(i); i++)
        printf("statistic|%s\n", mh_statistic_name(i));
    return 0;
}
