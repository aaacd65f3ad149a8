/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/config.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void list_choices(const mh_setting *setting, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "one of");
    for (int i = 0; setting->choice(i) && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s %s", i ? "," : "", setting->choice(i));
}

void mh_setting_allowed(const mh_setting *setting, char *text, size_t size)
{
    switch (setting->type) {
    case MH_SETTING_INTEGER:
        snprintf(text, size, "%san integer from %" PRId64 " to %" PRId64 "%s%s%s", setting->allows_auto ? "auto, or " : "",
                 setting->least, setting->most, setting->unit[0] ? " (" : "", setting->unit, setting->unit[0] ? ")" : "");
        break;
    case MH_SETTING_FRACTION:
        snprintf(text, size, "%sa number from %g to %.9g", setting->allows_auto ? "auto, or " : "",
                 (double)setting->least * MH_CONFIG_BILLIONTH, (double)setting->most * MH_CONFIG_BILLIONTH);
        break;
    case MH_SETTING_CHOICE:
        list_choices(setting, text, size);
        break;
    case MH_SETTING_TEXT:
        setting->check("", text, size);
        break;
    }
}

/* Copy text without the blanks around it, in lower case. Returns -1 when it does not fit. */
static int trim(const char *text, char trimmed[MH_CONFIG_TEXT_SIZE])
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    if (length >= MH_CONFIG_TEXT_SIZE)
        return -1;
    for (size_t i = 0; i < length; i++)
        trimmed[i] = (char)tolower((unsigned char)text[i]);
    trimmed[length] = '\0';
    return 0;
}

static int parse_integer(const mh_setting *setting, const char *text, int64_t *number)
{
    if (setting->allows_auto && strcmp(text, "auto") == 0) {
        *number = MH_CONFIG_AUTO;
        return 0;
    }
    char *end;
    errno = 0;
    long long parsed = strtoll(text, &end, 10);
    if (end == text || *end || errno || parsed < setting->least || parsed > setting->most)
        return -1;
    *number = parsed;
    return 0;
}

static int parse_fraction(const mh_setting *setting, const char *text, int64_t *number)
{
    if (setting->allows_auto && strcmp(text, "auto") == 0) {
        *number = MH_CONFIG_AUTO;
        return 0;
    }
    char *end;
    double parsed = strtod(text, &end) / MH_CONFIG_BILLIONTH;
    /* Not in this range is also what is no number. */
    if (end == text || *end || !(parsed >= (double)setting->least - 0.5 && parsed <= (double)setting->most + 0.5))
        return -1;
    *number = llround(parsed);
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
        return parse_integer(setting, text, number);
    case MH_SETTING_FRACTION:
        return parse_fraction(setting, text, number);
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
    mh_setting_value parsed;
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
        if (iscntrl((unsigned char)*c))
            *c = ' ';
    snprintf(why, why_size, "'%.32s%s' is not valid; allowed: %s", shown, strlen(text) > 32 ? "..." : "", allowed);
    return -1;
}
