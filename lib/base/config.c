/* SPDX-License-Identifier: BSD-3-Clause */
/* config.c - parse settings by their table, and describe what a setting allows. */
#include "base/config.h"

#include "pure/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void list_choices(const mh_setting *setting, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "one of");
    for (int i = 0; setting->choice(i) && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s %s", i ? "," : "", setting->choice(i));
}

static void describe_fraction(const mh_setting *setting, char *text, size_t size)
{
    char min[MH_BILLIONTHS_TEXT_SIZE], max[MH_BILLIONTHS_TEXT_SIZE];
    mh_format_billionths(setting->min, min);
    mh_format_billionths(setting->max, max);
    snprintf(text, size, "%sa number from %s to %s, with at most 9 decimals", setting->allows_auto ? "auto, or " : "",
             min, max);
}

void mh_setting_allowed(const mh_setting *setting, char *text, size_t size)
{
    switch (setting->type) {
    case MH_SETTING_INTEGER:
        snprintf(text, size, "%san integer from %" PRId64 " to %" PRId64 "%s%s%s",
                 setting->allows_auto ? "auto, or " : "", setting->min, setting->max, setting->unit[0] ? " (" : "",
                 setting->unit, setting->unit[0] ? ")" : "");
        break;
    case MH_SETTING_FRACTION:
        describe_fraction(setting, text, size);
        break;
    case MH_SETTING_CHOICE:
        list_choices(setting, text, size);
        break;
    case MH_SETTING_TEXT:
        setting->check("", text, size);
        break;
    }
}

/* Copy text without the blanks around it, in lower case. Returns -1 if it does not fit, blanks included. */
static int trim(const char *text, char trimmed[MH_CONFIG_TEXT_SIZE])
{
    size_t length = strlen(text);
    if (length >= MH_CONFIG_TEXT_SIZE)
        return -1;
    for (; mh_is_blank(*text); text++)
        length--;
    while (length > 0 && mh_is_blank(text[length - 1]))
        length--;
    for (size_t i = 0; i < length; i++)
        trimmed[i] = mh_to_lower(text[i]);
    trimmed[length] = '\0';
    return 0;
}

static int parse_number(const mh_setting *setting, const char *text, int64_t *number)
{
    int64_t parsed;
    if (setting->allows_auto && strcmp(text, "auto") == 0) {
        *number = MH_CONFIG_AUTO;
        return 0;
    }
    bool has_decimals = setting->type == MH_SETTING_FRACTION;
    int code = has_decimals ? mh_parse_billionths(text, &parsed) : mh_parse_whole(text, &parsed);
    if (code != 0 || parsed < setting->min || parsed > setting->max)
        return -1;
    *number = parsed;
    return 0;
}

static int parse_choice(const mh_setting *setting, const char *text, int64_t *number)
{
    for (int i = 0; setting->choice(i); i++)
        if (strcmp(setting->choice(i), text) == 0) {
            *number = i;
            return 0;
        }
    return -1;
}

/* -1: bad, and why is empty or says what is allowed. */
static int parse(const mh_setting *setting, const char *text, int64_t *number, char *why, size_t why_size)
{
    switch (setting->type) {
    case MH_SETTING_INTEGER:
    case MH_SETTING_FRACTION:
        return parse_number(setting, text, number);
    case MH_SETTING_CHOICE:
        return parse_choice(setting, text, number);
    case MH_SETTING_TEXT:
        *number = 0;
        return setting->check(text, why, why_size);
    }
    return -1;
}

int mh_setting_parse(const mh_setting *setting, const char *text, mh_setting_value *value, char *why, size_t why_size)
{
    mh_setting_value parsed = {0}; /* with the bytes after the text, as all of it is sent to other processes */
    char allowed[160] = "";
    int fits = trim(text, parsed.text) == 0;
    if (fits && parse(setting, parsed.text, &parsed.number, allowed, sizeof allowed) == 0) {
        *value = parsed;
        return 0;
    }
    if (!allowed[0])
        mh_setting_allowed(setting, allowed, sizeof allowed);
    char shown[33];
    snprintf(shown, sizeof shown, "%s", text);
    for (char *c = shown; *c; c++)
        if (mh_is_control(*c))
            *c = ' ';
    snprintf(why, why_size, "'%.32s%s' is not valid; allowed: %s", shown, strlen(text) > 32 ? "..." : "", allowed);
    return -1;
}
