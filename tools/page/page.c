/* SPDX-License-Identifier: BSD-3-Clause */
/* page.c - print the sections of the page. */
#include "page/page.h"

#include "page/figures.h"
#include "page/html.h"
#include "page/rows.h"
#include "results/results.h"

#include <stdlib.h>
#include <string.h>

/* The sources of one kind, in campaigns or by themselves. */
typedef struct section {
    const kind_t *kind;
    bool is_campaign;
    int count;
} section_t;

typedef struct page {
    FILE *file;
    const sources_t *sources;
    section_t *sections;
    int section_count;
    int figures; /* so far */
} page_t;

/* ---- Sections */

/* A directory without a manifest that has only one file of a kind is not a campaign of that kind. */
static bool is_in_campaign(const sources_t *sources, const source_t *source)
{
    int launches = 0;
    for (int i = 0; i < sources->campaign_count && source->campaign; i++)
        if (sources->campaigns[i].manifest && strcmp(sources->campaigns[i].path, source->campaign) == 0)
            return true;
    for (int i = 0; i < sources->count && source->campaign; i++) {
        const source_t *other = &sources->list[i];
        launches += other->kind == source->kind && other->campaign && strcmp(other->campaign, source->campaign) == 0;
    }
    return launches > 1;
}

static bool is_of(const page_t *page, const section_t *section, const source_t *source)
{
    return source->kind == section->kind && is_in_campaign(page->sources, source) == section->is_campaign;
}

static void find_sections(page_t *page)
{
    page->sections = need(calloc((size_t)page->sources->count + 1, sizeof page->sections[0]));
    for (int i = 0; i < page->sources->count; i++) {
        const source_t *source = &page->sources->list[i];
        int place = 0;
        while (place < page->section_count && !is_of(page, &page->sections[place], source))
            place++;
        section_t *section = &page->sections[place];
        if (place == page->section_count) {
            *section = (section_t){source->kind, is_in_campaign(page->sources, source), 0};
            page->section_count++;
        }
        section->count++;
    }
}

/* A row, or the head of a file, after what distinguishes it from those of other files. */
static json_t *with_source(const page_t *page, const section_t *section, const source_t *source, json_t *row)
{
    json_t *whole = need(json_object());
    if (!section->is_campaign && section->count > 1)
        json_object_set_new(whole, rows_file_column, text_value(source->path));
    if (section->is_campaign && page->sources->campaign_count > 1)
        json_object_set_new(whole, "campaign", text_value(source->campaign));
    if (section->is_campaign) {
        json_object_set_new(whole, "variant", text_value(source->variant));
        json_object_set_new(whole, "launch", need(json_integer(source->launch)));
    }
    json_object_update_missing(whole, row);
    return whole;
}

/* All rows of a section, or all heads. */
static json_t *gather(const page_t *page, const section_t *section, bool heads)
{
    json_t *all = need(json_array()), *row;
    size_t k;
    for (int i = 0; i < page->sources->count; i++) {
        const source_t *source = &page->sources->list[i];
        if (!is_of(page, section, source))
            continue;
        if (heads && json_object_size(source->head) > 0)
            json_array_append_new(all, with_source(page, section, source, source->head));
        json_array_foreach(source->rows, k, row)
        {
            if (!heads)
                json_array_append_new(all, with_source(page, section, source, row));
        }
    }
    return all;
}

static void print_folded_table(const page_t *page, const json_t *rows, const char *title, bool print)
{
    fprintf(page->file, "<details%s><summary>%s</summary>\n", print ? " class=\"print\"" : "", title);
    html_table(page->file, rows, title, NULL);
    fputs("</details>\n", page->file);
}

static void print_provenance(const page_t *page, const section_t *section)
{
    json_t *heads = gather(page, section, true);
    if (json_array_size(heads) > 0)
        print_folded_table(page, heads, "How it was measured", true);
    json_decref(heads);
}

static const char *const *first_columns(const kind_t *kind)
{
    return kind->first[0] ? kind->first : NULL;
}

/* What mpix_compare calls A and B. */
static void print_sides(const page_t *page, const section_t *section)
{
    for (int i = 0; i < page->sources->count; i++) {
        const source_t *source = &page->sources->list[i];
        if (!is_of(page, section, source) || text_at(source->head, "b")[0] == '\0')
            continue;
        fputs("<p>", page->file);
        html_text(page->file, section->count > 1 ? source->path : "");
        fputs(section->count > 1 ? ": A is <b>" : "A is <b>", page->file);
        html_text(page->file, text_at(source->head, "a"));
        fputs("</b>, B is <b>", page->file);
        html_text(page->file, text_at(source->head, "b"));
        fputs("</b>.</p>\n", page->file);
    }
}

static void print_results(page_t *page, const section_t *section)
{
    json_t *rows = gather(page, section, false);
    fprintf(page->file, "<p>%s</p>\n", section->kind->text);
    print_sides(page, section);
    for (int i = 0; i < MAX_CHARTS && section->kind->charts[i].title; i++)
        figures_print(page->file, rows, section->kind, &section->kind->charts[i], &page->figures);
    html_table(page->file, rows, section->kind->title, first_columns(section->kind));
    json_decref(rows);
}

/* ---- Campaigns */

static void print_manifest(const page_t *page, const campaign_t *campaign)
{
    char number[64];
    fputs("<p>Campaign <b>", page->file);
    json_t *path = text_value(campaign->path);
    html_text(page->file, json_string_value(path));
    json_decref(path);
    fputs("</b>", page->file);
    if (campaign->manifest) {
        const json_t *seed = json_object_get(campaign->manifest, "seed");
        snprintf(number, sizeof number, "%.15g", json_number_value(seed));
        fprintf(page->file, ": launches in random order, seed %s", json_is_number(seed) ? number : "unknown");
    } else {
        fputs(": a directory of results, of which each file counts as a launch", page->file);
    }
    if (campaign->missing > 0)
        fprintf(page->file, ". <strong>Launches without results: %d</strong>", campaign->missing);
    fputs(".</p>\n", page->file);
    json_t *variants = json_object_get(campaign->manifest, "variants");
    if (json_array_size(variants) > 0)
        print_folded_table(page, variants, "Variants", true);
}

static void print_campaigns(page_t *page, const section_t *section)
{
    chart_t chart;
    json_t *rows = gather(page, section, false), *thing;
    json_t *things = figures_launches(rows, section->kind, &chart);
    size_t k;
    fputs("<p>Lines are medians over launches, bands reach from the smallest to the largest launch, and small points "
          "are launches.</p>\n",
          page->file);
    for (int i = 0; i < page->sources->campaign_count; i++)
        print_manifest(page, &page->sources->campaigns[i]);
    figures_print(page->file, things, section->kind, &chart, &page->figures);
    json_array_foreach(things, k, thing)
    {
        json_object_del(thing, "singles");
    }
    html_table(page->file, things, "Medians over launches, and how far launches are apart", NULL);
    print_folded_table(page, rows, "Every launch", false);
    json_decref(things);
    json_decref(rows);
}

/* ---- The page */

static void print_section(page_t *page, int number)
{
    const section_t *section = &page->sections[number];
    fprintf(page->file, "<section id=\"section-%d\">\n<h2>%s%s</h2>\n", number + 1, section->kind->title,
            section->is_campaign ? ", by launches" : "");
    if (section->is_campaign)
        print_campaigns(page, section);
    else
        print_results(page, section);
    print_provenance(page, section);
    fputs("</section>\n", page->file);
}

static void print_contents(const page_t *page)
{
    fputs("<nav aria-label=\"Contents\"><ul>\n", page->file);
    for (int i = 0; i < page->section_count; i++) {
        const section_t *section = &page->sections[i];
        fprintf(page->file, "<li><a href=\"#section-%d\">%s%s</a> <span class=\"tool\">%s, %d %s</span></li>\n", i + 1,
                section->kind->title, section->is_campaign ? ", by launches" : "", section->kind->tool, section->count,
                section->count == 1 ? "file" : "files");
    }
    fputs("</ul></nav>\n</header>\n<main>\n", page->file);
}

void page_print(FILE *file, const sources_t *sources, const char *title)
{
    page_t page = {.file = file, .sources = sources};
    find_sections(&page);
    html_begin(file, "mpix_report", title);
    print_contents(&page);
    for (int i = 0; i < page.section_count; i++)
        print_section(&page, i);
    html_end(file, "mpix_report");
    free(page.sections);
}
