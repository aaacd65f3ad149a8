/* SPDX-License-Identifier: BSD-3-Clause */
/* variants.c - choose variants, and launches that belong together. */
#include "bench/compare/variants.h"

#include "common/cli/memory.h"
#include "common/cli/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What an operand names: FILE, FOLDER, or FOLDER:VARIANT. */
typedef struct place {
    char path[PATH_MAX];
    const char *variant; /* "" where it names none */
} place_t;

bool variants_wants(const char *schema)
{
    return strcmp(schema, "mpix-bench") == 0;
}

static bool complain_of_variants(const source_t *source, const char *what, char *complaint)
{
    complain(complaint, "%.400s has %d variants, %s:", source->path, source->variant_count, what);
    for (int i = 0; i < source->variant_count; i++)
        /* They exist: NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
        text_append(complaint, COMPLAINT_BYTES, "%s %s:%s", i > 0 ? "," : "", source->path, source->variants[i].name);
    return false;
}

static place_t find_place(const char *operand)
{
    const char *colon = strrchr(operand, ':');
    struct stat status;
    bool names_variant = stat(operand, &status) != 0 && colon;
    place_t place = {.variant = names_variant ? colon + 1 : ""};
    snprintf(place.path, sizeof place.path, "%.*s", names_variant ? (int)(colon - operand) : (int)strlen(operand),
             operand);
    return place;
}

/* ---- Launches */

static const measured_t *find_block(const variant_t *variant, json_int_t block)
{
    for (int i = 0; i < variant->count; i++)
        if (block >= 0 && variant->launches[i].block == block)
            return &variant->launches[i];
    return NULL;
}

static void add_launch(variant_t *variant, const measured_t *launch)
{
    variant->launches = or_exit(array_grow(variant->launches, variant->count, sizeof variant->launches[0]));
    variant->launches[variant->count++] = *launch;
}

static void take_blocks(variants_t *variants, const variant_t *base, const variant_t *judged)
{
    for (int i = 0; i < base->count; i++) {
        const measured_t *other = find_block(judged, base->launches[i].block);
        if (other) {
            add_launch(&variants->list[0], &base->launches[i]);
            add_launch(&variants->list[1], other);
        }
    }
    /* Each block that only one of them has. */
    variants->left_out = base->count + judged->count - 2 * variants->list[0].count;
    variants->in_blocks = true;
}

static void take_all(variants_t *variants, int place, const variant_t *from)
{
    for (int i = 0; i < from->count; i++)
        add_launch(&variants->list[place], &from->launches[i]);
}

bool variants_pair(const source_t *source, const variant_t *base, const variant_t *judged, variants_t *variants,
                   char complaint[COMPLAINT_BYTES])
{
    variants->count = 2;
    variants->list[0] = (variant_t){.name = or_exit(strdup(base->name))};
    variants->list[1] = (variant_t){.name = or_exit(strdup(judged->name))};
    if (source->manifest)
        take_blocks(variants, base, judged);
    else
        for (int i = 0; i < 2; i++)
            take_all(variants, i, i == 0 ? base : judged);
    return variants->list[0].count > 0 || complain(complaint, "%.400s has no block in which %s and %s are done",
                                                   source->path, base->name, judged->name);
}

/* ---- Operands */

/* The variant that a place names; if it names none, the one at this index. NULL after a complaint. */
static const variant_t *choose(const place_t *place, const source_t *source, int unnamed, char *complaint)
{
    if (place->variant[0] == '\0')
        return &source->variants[unnamed];
    const variant_t *named = source_variant(source, place->variant);
    if (!source->manifest)
        complain(complaint, "%.400s has no %s, so it has no variants", source->path, manifest_name);
    else if (!named)
        complain_of_variants(source, "of which one can be named", complaint);
    return source->manifest ? named : NULL;
}

/* Two variants of one campaign, named or all it has. */
static bool take_campaign(const place_t *places, int place_count, variants_t *variants, char *complaint)
{
    const source_t *source = &variants->sources[0];
    const variant_t *base = choose(&places[0], source, 0, complaint);
    const variant_t *judged = base ? choose(&places[place_count - 1], source, 1, complaint) : NULL;
    return judged && variants_pair(source, base, judged, variants, complaint);
}

/* One variant, whatever the other is. */
static bool take_place(const place_t *place, const source_t *source, variants_t *variants, int at, char *complaint)
{
    char name[COMPLAINT_BYTES];
    if (place->variant[0] == '\0' && source->variant_count != 1)
        return complain_of_variants(source, "name one", complaint);
    const variant_t *from = choose(place, source, 0, complaint);
    if (!from)
        return false;
    snprintf(name, sizeof name, "%.400s%s%s", place->path, source->manifest ? ":" : "",
             source->manifest ? from->name : "");
    variants->list[at] = (variant_t){.name = or_exit(strdup(name))};
    take_all(variants, at, from);
    return from->count > 0 || complain(complaint, "%.400s: no launch of %s is done", source->path, from->name);
}

static bool are_of_one_campaign(const place_t *places, const source_t *sources)
{
    struct stat first, second;
    return sources[0].manifest && places[0].variant[0] != '\0' && places[1].variant[0] != '\0' &&
           stat(places[0].path, &first) == 0 && stat(places[1].path, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

bool variants_read(const text_list_t *operands, int count, variants_t *variants, char complaint[COMPLAINT_BYTES])
{
    place_t places[2];
    source_t *sources = variants->sources;
    int place_count = (int)operands->count;
    *variants = (variants_t){.count = count};
    if (place_count < 1 || place_count > count)
        return complain(complaint, count == 1 ? "give one file, folder, or variant of a campaign"
                                              : "give two files, folders, or variants of a campaign, or a campaign of "
                                                "two");
    for (int i = 0; i < place_count; i++) {
        places[i] = find_place(operands->texts[i]);
        if (i > 0 && are_of_one_campaign(places, sources))
            return take_campaign(places, place_count, variants, complaint);
        if (!source_read(places[i].path, variants_wants, "mpix_compare", &sources[i], complaint))
            return false;
    }
    if (place_count < count) {
        if (!sources[0].manifest || places[0].variant[0] != '\0')
            return complain(complaint, "%.400s is one of two to compare, give the other too", places[0].path);
        if (sources[0].variant_count != 2)
            return complain_of_variants(&sources[0], "name two", complaint);
        return take_campaign(places, place_count, variants, complaint);
    }
    for (int i = 0; i < place_count; i++)
        if (!take_place(&places[i], &sources[i], variants, i, complaint))
            return false;
    return true;
}

void variants_free(variants_t *variants)
{
    for (int i = 0; i < 2; i++) {
        free(variants->list[i].launches);
        free(variants->list[i].name);
        source_free(&variants->sources[i]);
    }
    *variants = (variants_t){.count = 0};
}
