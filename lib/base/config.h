/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * config.h - settings as a table: parsing, canonical text, and messages that name the setting, its value and what is
 * allowed. Pure; no MPI. settings.c has the table.
 */
#ifndef MH_CONFIG_H
#define MH_CONFIG_H

#include <stddef.h>
#include <stdint.h>

enum { MH_CONFIG_TEXT_SIZE = 128 };

/* The unit of the number of a fraction. */
#define MH_CONFIG_BILLIONTH 1e-9

/* The number of a setting given as "auto". */
#define MH_CONFIG_AUTO INT64_MIN

typedef enum mh_setting_type {
    MH_SETTING_INTEGER,  /* from min to max, at least 0, in digits without a sign; or "auto" if that is allowed */
    MH_SETTING_FRACTION, /* the same with up to nine decimals; the number, min and max are in billionths */
    MH_SETTING_CHOICE,   /* one of the names that choice() lists; the number is its index in that list */
    MH_SETTING_TEXT      /* what check() accepts */
} mh_setting_type;

typedef struct mh_setting {
    const char *unit; /* for the manual and for messages; "" if there is none */
    const char *default_text;
    mh_setting_type type;
    int allows_auto;
    int64_t min, max;
    const char *(*choice)(int index);                           /* NULL past the last one */
    int (*check)(const char *text, char *why, size_t why_size); /* 0: good; else why says what is allowed */
} mh_setting;

typedef struct mh_setting_value {
    int64_t number;
    char text[MH_CONFIG_TEXT_SIZE]; /* as given, without blanks around it, in lower case */
} mh_setting_value;

/*
 * Parse text for setting. Blanks around the value, case and the locale do not matter. Text of MH_CONFIG_TEXT_SIZE
 * characters or more, blanks included, is refused. Returns 0; or -1 and, in why, one clause that quotes the value and
 * says what is allowed. value is then unchanged.
 */
int mh_setting_parse(const mh_setting *setting, const char *text, mh_setting_value *value, char *why, size_t why_size);

/* What setting allows, as one clause: "auto, or an integer from 1 to 1000 (nanoseconds)". */
void mh_setting_allowed(const mh_setting *setting, char *text, size_t size);

#endif
