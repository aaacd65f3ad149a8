/* SPDX-License-Identifier: BSD-3-Clause */
/* sync_label.c - a parser of labels, field by field. */
#include "sync/sync_label.h"

#include "pure/text.h"
#include "sync/offset.h"

#include <stdio.h>
#include <string.h>

enum { FIELD_SIZE = 128, DEFAULT_FIT_POINTS = 100, DEFAULT_EXCHANGES = 10 };

/* Within one line. */
static int is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Copy the next field, up to "/" or "+", without blanks around it, in lower case. Returns what follows it. */
static const char *take_field(const char *text, char field[FIELD_SIZE])
{
    const char *end = text + strcspn(text, "/+"), *last = end;
    size_t length = 0;
    while (text < last && is_blank(*text))
        text++;
    while (text < last && is_blank(last[-1]))
        last--;
    for (; text < last && length < FIELD_SIZE - 1; text++)
        field[length++] = mh_to_lower(*text);
    field[length] = '\0';
    return end;
}

/* Names are compared without hyphens, underscores and blanks. */
static void strip_name(char *name)
{
    char *to = name;
    for (const char *from = name; *from; from++)
        if (!is_blank(*from) && *from != '-' && *from != '_')
            *to++ = *from;
    *to = '\0';
}

static int list_families(char *why, size_t why_size)
{
    size_t used = (size_t)snprintf(why, why_size, "ALGORITHM[/FIT POINTS][/ESTIMATOR[/EXCHANGES]][+...], ALGORITHM of");
    for (int i = 0; mh_sync_name(i) && used < why_size; i++)
        used += (size_t)snprintf(why + used, why_size - used, " %s", mh_sync_name(i));
    if (used < why_size)
        used += (size_t)snprintf(why + used, why_size - used, ", ESTIMATOR of");
    for (int i = 0; mh_offset_name(i) && used < why_size; i++)
        used += (size_t)snprintf(why + used, why_size - used, " %s", mh_offset_name(i));
    return -1;
}

static int parse_count(const char *field, int max, int *count)
{
    int64_t parsed;
    if (mh_parse_whole(field, &parsed) || parsed < 1 || parsed > max)
        return -1;
    *count = (int)parsed;
    return 0;
}

static int find_estimator(char *name)
{
    strip_name(name);
    size_t length = strlen(name);
    if (length > 6 && strcmp(name + length - 6, "offset") == 0)
        name[length - 6] = '\0';
    return mh_offset_find(name);
}

/* Read the next field of a part; returns 0 if there is none. */
static int next_field(const char **text, char field[FIELD_SIZE])
{
    if (**text != '/')
        return 0;
    *text = take_field(*text + 1, field);
    return 1;
}

/* Whether the next field is a number or meant to be one, and not a name. */
static int number_follows(const char *text)
{
    text += *text == '/';
    while (is_blank(*text))
        text++;
    return !mh_is_letter(*text);
}

static int take_recompute(const char **text)
{
    char field[FIELD_SIZE];
    const char *after = *text;
    if (!next_field(&after, field))
        return 0;
    strip_name(field);
    if (strcmp(field, "recompute") != 0 && strcmp(field, "recomputeintercept") != 0)
        return 0;
    *text = after;
    return 1;
}

/* The optional fields of an algorithm that fits a line. */
static int parse_fit(const char **text, mh_label_part *part, char *why, size_t why_size)
{
    char field[FIELD_SIZE];
    part->recompute = take_recompute(text);
    if (!number_follows(*text) || !next_field(text, field))
        return 0;
    if (parse_count(field, MH_MAX_FIT_POINTS, &part->fit_points) == 0 && part->fit_points > 1)
        return 0;
    snprintf(why, why_size, "for the fit points of %s, an integer from 2 to %d", mh_sync_name(part->algorithm),
             MH_MAX_FIT_POINTS);
    return -1;
}

static int parse_part(const char **text, mh_label_part *part, char *why, size_t why_size)
{
    char field[FIELD_SIZE];
    *text = take_field(*text, field);
    strip_name(field);
    part->algorithm = mh_sync_find(field);
    if (part->algorithm < 0)
        return list_families(why, why_size);
    bool fits = mh_sync_takes_fit_points(part->algorithm), estimates = mh_sync_takes_estimator(part->algorithm);
    part->fit_points = fits ? DEFAULT_FIT_POINTS : 1;
    part->estimator = 0;
    part->exchanges = DEFAULT_EXCHANGES;
    part->recompute = 0;
    if (fits && parse_fit(text, part, why, why_size))
        return -1;
    if (estimates && next_field(text, field) && (part->estimator = find_estimator(field)) < 0)
        return list_families(why, why_size);
    if (estimates && next_field(text, field) && parse_count(field, MH_MAX_EXCHANGES, &part->exchanges)) {
        snprintf(why, why_size, "for the exchanges of %s, an integer from 1 to %d", mh_offset_name(part->estimator),
                 MH_MAX_EXCHANGES);
        return -1;
    }
    if (**text != '/')
        return 0;
    snprintf(why, why_size, "%s%s%s", mh_sync_name(part->algorithm), fits ? "[/FIT POINTS]" : "",
             estimates ? "[/ESTIMATOR[/EXCHANGES]]" : " without further fields");
    return -1;
}

int mh_label_parse(const char *text, mh_label *label, char *why, size_t why_size)
{
    label->levels = 0;
    do {
        if (label->levels == MH_MAX_LEVELS) {
            snprintf(why, why_size, "at most %d levels", MH_MAX_LEVELS);
            return -1;
        }
        if (parse_part(&text, &label->parts[label->levels++], why, why_size))
            return -1;
    } while (*text++ == '+');
    return 0;
}

bool mh_label_synchronizes(const mh_label *label)
{
    for (int i = 0; i < label->levels; i++) {
        if (label->parts[i].algorithm == mh_sync_find("none"))
            return false;
    }
    return true;
}

int mh_label_check(const char *text, char *why, size_t why_size)
{
    mh_label label;
    return mh_label_parse(text, &label, why, why_size);
}
