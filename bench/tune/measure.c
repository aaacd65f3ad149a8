/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * measure.c - campaigns of mpix_bench: screening, choice, confirmation.
 *
 * The screening only says who takes part in the choice. The choice is made by launches of its own, so whoever was lucky
 * in the screening has no advantage, and the level of the test holds.
 */
#include "bench/campaign/campaign.h"
#include "common/cli/text.h"
#include "bench/compare/comparison.h"
#include "bench/tune/choose.h"
#include "bench/tune/tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SCREENED = 5, MAX_MEASURED = 40, MIN_PERMUTATIONS = 39999 };
/* Launches of the last campaign are planned for less than what is left, as some take longer than the mean. */
#define LAST_PART 0.8

static const char usual[] = "default", choice_name[] = "choice";

/* ---- One campaign */

typedef struct campaign_settings {
    tune_t *tune;
    const char *name;  /* of its folder */
    const bool *joins; /* which candidates; NULL: a file */
    const char *file;  /* its variant is called "tuned" */
    double part_s;     /* what all launches may take; 0: what is left, and each some times as long as usual */
    double launch_s;   /* out: what a launch takes */
} campaign_settings_t;

static json_t *variant_of(const campaign_settings_t *campaign, const char *name, const char *path)
{
    const tune_t *tune = campaign->tune;
    const size_list_t *sizes = &tune->settings.sizes;
    char bench[TUNE_PATH_BYTES], text[MAX_NAME_BYTES], list[(MAX_SIZES + 1) * MAX_NAME_BYTES] = "";
    json_t *command = tune_command(tune, tune->settings.ranks), *environment = json_object();
    if (path)
        tune_set_environment(tune, environment, path);
    tune_sibling(tune, "mpix_bench", bench);
    snprintf(text, sizeof text, "%lld", (long long)tune->settings.iterations);
    for (int i = 0; i < sizes->count; i++)
        text_append(list, sizeof list, "%s%lld", i > 0 ? "," : "", (long long)sizes->bytes[i]);
    if (sizes->count == 1) /* else it would be the maximum of a range */
        text_append(list, sizeof list, ":%lld", (long long)sizes->bytes[0]);
    const char *const words[] = {tune->settings.bench ? tune->settings.bench : bench,
                                 "--format",
                                 "json",
                                 "--iterations",
                                 text,
                                 "--message-size",
                                 list,
                                 tune->operation->name,
                                 tune->settings.arrival ? "--arrival" : NULL,
                                 tune->settings.arrival};
    for (size_t i = 0; i < sizeof words / sizeof words[0] && words[i]; i++)
        json_array_append_new(command, json_string(words[i]));
    return json_pack("{s:s, s:o, s:o}", "name", name, "command", command, "environment", environment);
}

static json_t *list_variants(const campaign_settings_t *campaign)
{
    const tune_t *tune = campaign->tune;
    json_t *variants = json_array();
    json_array_append_new(variants, variant_of(campaign, usual, NULL));
    if (!campaign->joins)
        json_array_append_new(variants, variant_of(campaign, "tuned", campaign->file));
    for (int i = 0; campaign->joins && i < tune->candidate_count; i++) {
        char path[TUNE_PATH_BYTES];
        tune_path(tune, path, "candidates/%s.%s", tune->candidates[i].name, tune->library->suffix);
        if (campaign->joins[i])
            json_array_append_new(variants, variant_of(campaign, tune->candidates[i].name, path));
    }
    return variants;
}

static double mean_launch_s(const json_t *runs)
{
    double sum_ns = 0;
    int count = 0;
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *duration_ns = json_object_get(json_array_get(runs, i), "duration_ns");
        count += duration_ns != NULL;
        sum_ns += (double)json_integer_value(duration_ns);
    }
    return count > 0 ? sum_ns / count / 1e9 : 0;
}

static bool is_variant(const json_t *variants, const char *name)
{
    size_t i = 0;
    while (i < json_array_size(variants) && strcmp(text_at(json_array_get(variants, i), "name"), name) != 0)
        i++;
    return i < json_array_size(variants);
}

/*
 * How many launches of each variant were planned before, or 0. What was planned stays, whatever launches take now.
 *
 * joins   out: the candidates of that plan; NULL, or without a plan: as it was
 */
static int planned_launches(const tune_t *tune, const char *name, bool *joins)
{
    char path[TUNE_PATH_BYTES];
    tune_path(tune, path, "%s/%s", name, manifest_name);
    json_t *manifest = json_clean(json_load_file(path, 0, NULL));
    const json_t *variants = json_object_get(manifest, "variants");
    int launches = (int)json_integer_value(json_object_get(manifest, "launches"));
    for (int i = 0; joins && launches > 0 && i < tune->candidate_count; i++)
        joins[i] = is_variant(variants, tune->candidates[i].name);
    json_decref(manifest);
    return launches;
}

/* A launch that takes so many times as long as the mean one, and some seconds longer, hangs. */
static double timeout_s(const tune_t *tune)
{
    enum { TIMES_AS_LONG = 4, SECONDS_LONGER = 5 };
    return fmax(TIMES_AS_LONG * tune->launch_s, tune->launch_s + SECONDS_LONGER);
}

/* So many launches of each variant, those that are done included. */
static bool measure(campaign_settings_t *settings, int launches, char complaint[COMPLAINT_BYTES])
{
    tune_t *tune = settings->tune;
    const double left_s = settings->part_s > 0 ? fmin(settings->part_s, tune->left_s) : tune->left_s;
    char folder[TUNE_PATH_BYTES];
    tune_path(tune, folder, "%s", settings->name);
    campaign_t campaign = {.manifest = {.program = tune_name, .directory = folder, .folder = -1},
                           .retries = 1,
                           .timeout_s = settings->part_s > 0 ? 0 : timeout_s(tune),
                           .left_s = left_s,
                           .is_terminal = tune->is_terminal,
                           .has_told = strcmp(settings->name, "screening") != 0};
    json_t *variants = list_variants(settings);
    bool good = manifest_open(&campaign.manifest, variants, launches, tune->settings.seed) && campaign_run(&campaign);
    bool is_late = campaign.left_s <= CAMPAIGN_LEAST_S;
    tune->left_s = fmax(tune->left_s - (left_s - campaign.left_s), CAMPAIGN_LEAST_S);
    settings->launch_s = mean_launch_s(campaign.manifest.runs);
    manifest_close(&campaign.manifest);
    json_decref(variants);
    if (!good && is_late)
        return complain(complaint,
                        "--budget-s %g is too small: the %s does not end within %s; what is done is kept, and the same "
                        "command continues",
                        tune->settings.budget_s, settings->name,
                        settings->part_s > 0 ? "a quarter of it" : "what is left of it, as launches take longer");
    return good || complain(complaint, "the %s did not come to its end; what is done is kept in %.400s", settings->name,
                            folder);
}

/* ---- What a campaign says */

static int find_size(const tune_t *tune, double bytes)
{
    for (int i = 0; i < tune->settings.sizes.count; i++)
        if ((double)tune->settings.sizes.bytes[i] == bytes)
            return i;
    return -1;
}

static void add_finding(evidence_t *evidence, const finding_t *finding)
{
    const evidence_t one = {exp(finding->log_ratio), exp(finding->low), exp(finding->high), finding->differs,
                            finding->differs && finding->log_ratio > 0};
    evidence_add(evidence, &one);
}

/* With --arrival, mpix_bench also measures calls to which all processes come together. They do not count. */
static bool counts(const tune_t *tune, const rows_t *rows, const series_t *row)
{
    const char *arrival = rows_key(rows, row, "arrival")->text;
    return !tune->settings.arrival || !arrival || strcmp(arrival, "together") != 0;
}

/* One variant against the library's own choice. evidence: of each size. */
static bool compare(const campaign_settings_t *campaign, const source_t *source, const char *name, double level,
                    evidence_t *evidence, char complaint[COMPLAINT_BYTES])
{
    const variant_t *base = source_variant(source, usual), *judged = source_variant(source, name);
    variants_t variants = {0};
    comparison_t comparison = {
        .variants = &variants,
        .rule = {.level = level, .seed = USUAL_SEED, .permutations = (int64_t)fmax(MIN_PERMUTATIONS, ceil(2 / level))},
        .column = campaign->tune->settings.arrival ? "from_last_ns" : USUAL_COLUMN,
        .same_percent = USUAL_SAME_PERCENT};
    if (!base || !judged)
        return complain(complaint, "%.400s has no launches of %s", source->path, name);
    bool good = variants_pair(source, base, judged, &variants, complaint) && comparison_make(&comparison, complaint);
    for (int i = 0; good && i < comparison.pairs.count; i++) {
        const finding_t *finding = &comparison.findings[i];
        const cell_t *bytes = rows_key(comparison.pairs.rows[1], comparison.pairs.list[i].judged, "size_bytes");
        int size = find_size(campaign->tune, bytes->number);
        if (size >= 0 && counts(campaign->tune, comparison.pairs.rows[1], comparison.pairs.list[i].judged))
            add_finding(&evidence[size], finding);
    }
    comparison_free(&comparison);
    variants_free(&variants);
    return good;
}

/* All candidates of a campaign. evidence: [candidate * sizes + size] */
static bool compare_all(const campaign_settings_t *campaign, double level, evidence_t *evidence,
                        char complaint[COMPLAINT_BYTES])
{
    const tune_t *tune = campaign->tune;
    char folder[TUNE_PATH_BYTES];
    size_t sizes = (size_t)tune->settings.sizes.count;
    source_t source = {0};
    tune_path(tune, folder, "%s", campaign->name);
    bool good = source_read(folder, variants_wants, tune_name, &source, complaint);
    for (int i = 0; good && campaign->joins && i < tune->candidate_count; i++)
        good = !campaign->joins[i] ||
               compare(campaign, &source, tune->candidates[i].name, level, &evidence[i * sizes], complaint);
    if (good && !campaign->joins)
        good = compare(campaign, &source, "tuned", level, evidence, complaint);
    source_free(&source);
    return good;
}

/* ---- How many launches */

/* The fewest for which a test in blocks can say anything at a level. */
static int least_launches(double level)
{
    int launches = 1;
    for (double permutations = 1; level * permutations < 1; permutations *= 2)
        launches++;
    return launches;
}

static int launches_within(double seconds, double launch_s, int variants, int most)
{
    double launches = floor(seconds / (launch_s * variants));
    return launches < 1 ? 1 : launches > most ? most : (int)launches;
}

/* A confirmation takes so many launches of the file, and of the library's own choice. */
static int confirming_launches(const tune_t *tune)
{
    return 2 * least_launches(tune->settings.level_percent / 100);
}

bool tune_has_time(const tune_t *tune, double launch_s, char complaint[COMPLAINT_BYTES])
{
    int launches = confirming_launches(tune);
    return launches * launch_s <= tune->settings.budget_s / 4 ||
           complain(complaint,
                    "--budget-s %g is too small: a confirmation takes %d launches of %.3g s or more, within a quarter "
                    "of it: give %.0f or more",
                    tune->settings.budget_s, launches, launch_s, ceil(4 * launches * launch_s));
}

/* ---- Screening and choice */

static int count_joining(const tune_t *tune, const bool *joins)
{
    int count = 0;
    for (int i = 0; i < tune->candidate_count; i++)
        count += joins[i];
    return count;
}

static bool screen(tune_t *tune, bool *joins, evidence_t *evidence, char complaint[COMPLAINT_BYTES])
{
    campaign_settings_t campaign = {.tune = tune, .name = "screening", .joins = joins};
    int variants = 1 + count_joining(tune, joins);
    double budget_s = tune->settings.budget_s, level = tune->settings.level_percent / 100;
    tune_tell(tune, "screening %d algorithms", variants - 1);
    int planned = planned_launches(tune, campaign.name, NULL);
    campaign.part_s = budget_s / 4;
    if (!measure(&campaign, planned > 1 ? planned : 1, complaint) ||
        (planned <= 1 && !tune_has_time(tune, campaign.launch_s, complaint)))
        return false;
    tune->launch_s = campaign.launch_s;
    campaign.part_s = 0;
    int launches = planned > 1 ? planned : launches_within(budget_s / 4, campaign.launch_s, variants, MAX_SCREENED);
    bool good = measure(&campaign, launches, complaint) && compare_all(&campaign, level, evidence, complaint);
    tune->launch_s = campaign.launch_s;
    return good;
}

/* Fewer take part if there is no time for enough launches of all: the one whose greatest gain is the least goes. */
static void drop_last(const tune_t *tune, const evidence_t *evidence, bool *joins)
{
    int sizes = (int)tune->settings.sizes.count, last = -1;
    double last_ratio = -1;
    for (int i = 0; i < tune->candidate_count; i++) {
        double ratio = INFINITY;
        for (int size = 0; joins[i] && size < sizes; size++)
            ratio = fmin(ratio, evidence[i * sizes + size].ratio);
        if (joins[i] && ratio > last_ratio)
            last = i, last_ratio = ratio;
    }
    if (last >= 0)
        joins[last] = false;
}

static void fill_range(const tune_t *tune, const evidence_t *evidence, const choice_t *choice, range_t *range)
{
    int sizes = (int)tune->settings.sizes.count;
    double sum = 0;
    *range = (range_t){.first_bytes = tune->settings.sizes.bytes[choice->first],
                       .last_bytes = tune->settings.sizes.bytes[choice->last],
                       .measured_last_bytes = tune->settings.sizes.bytes[choice->last],
                       .candidate = &tune->candidates[choice->candidate],
                       .low = INFINITY};
    for (int size = choice->first; size <= choice->last; size++) {
        const evidence_t *one = &evidence[choice->candidate * sizes + size];
        sum += log(one->ratio);
        range->low = fmin(range->low, one->low);
        range->high = fmax(range->high, one->high);
    }
    range->ratio = exp(sum / (choice->last - choice->first + 1));
}

static void fill_ranges(tune_t *tune, const evidence_t *evidence)
{
    const size_list_t *sizes = &tune->settings.sizes;
    choice_t choices[MAX_RANGES];
    bool is_allowed[MAX_SIZES];
    int64_t min_bytes = tune->library->min_bytes ? tune->library->min_bytes(tune) : 0;
    for (int i = 0; i < sizes->count; i++)
        is_allowed[i] = sizes->bytes[i] >= min_bytes;
    tune->range_count = choose(evidence, tune->candidate_count, (int)sizes->count,
                               tune->settings.min_gain_percent / 100, is_allowed, choices);
    for (int i = 0; i < tune->range_count; i++) {
        fill_range(tune, evidence, &choices[i], &tune->ranges[i]);
        /* Between two sizes that were measured one after the other, there is no third choice. */
        if (i > 0 && choices[i].first == choices[i - 1].last + 1)
            tune->ranges[i - 1].last_bytes = tune->ranges[i].first_bytes - 1;
    }
}

/* Plan the choice: how many launches, and of which candidates. Returns 0 if there is too little time for any. */
static int plan_choice(const tune_t *tune, bool *joins, const evidence_t *screened)
{
    double budget_s = tune->settings.budget_s, level = tune->settings.level_percent / 100;
    double seconds = fmin(budget_s / 2, tune->left_s - budget_s / 4);
    int planned = planned_launches(tune, choice_name, joins);
    for (int count; planned == 0 && (count = count_joining(tune, joins)) > 0;) {
        int launches = launches_within(seconds, tune->launch_s, 1 + count, MAX_MEASURED);
        if (launches >= least_launches(level / count))
            planned = launches;
        else
            drop_last(tune, screened, joins);
    }
    return planned;
}

static bool choose_from(tune_t *tune, bool *joins, const evidence_t *screened, evidence_t *evidence,
                        char complaint[COMPLAINT_BYTES])
{
    campaign_settings_t campaign = {.tune = tune, .name = choice_name, .joins = joins};
    double level = tune->settings.level_percent / 100;
    int launches = plan_choice(tune, joins, screened), count = count_joining(tune, joins);
    if (launches == 0)
        return complain(complaint,
                        "--budget-s %g is too small: a choice takes %d launches of 2 variants, %.0f s, of "
                        "at most half of it; what is done is kept",
                        tune->settings.budget_s, least_launches(level), 2 * tune->launch_s * least_launches(level));
    tune_tell(tune, "choosing from %d algorithms by %d launches", count, launches);
    return measure(&campaign, launches, complaint) && compare_all(&campaign, level / count, evidence, complaint);
}

bool tune_measure(tune_t *tune, char complaint[COMPLAINT_BYTES])
{
    static evidence_t screened[MAX_CANDIDATES * MAX_SIZES], evidence[MAX_CANDIDATES * MAX_SIZES];
    bool joins[MAX_CANDIDATES];
    for (int i = 0; i < tune->candidate_count; i++)
        joins[i] = !tune->candidates[i].excluded;
    if (!screen(tune, joins, screened, complaint))
        return false;
    if (choose_screened(screened, tune->candidate_count, (int)tune->settings.sizes.count,
                        tune->settings.min_gain_percent / 100, joins) == 0)
        return true;
    if (!choose_from(tune, joins, screened, evidence, complaint))
        return false;
    fill_ranges(tune, evidence);
    return true;
}

/* ---- Confirmation */

/* A range is confirmed if the file is faster than the library's own choice in each of its sizes together, by the mean,
 * and slower in none by the test. */
static void confirm_range(const tune_t *tune, const evidence_t *evidence, range_t *range)
{
    double sum = 0;
    int count = 0;
    bool is_slower = false;
    for (int size = 0; size < tune->settings.sizes.count; size++) {
        int64_t bytes = tune->settings.sizes.bytes[size];
        if (bytes < range->first_bytes || bytes > range->last_bytes || !(evidence[size].ratio > 0))
            continue;
        sum += log(evidence[size].ratio);
        count++;
        is_slower |= evidence[size].is_slower;
    }
    range->confirmed = count > 0 ? exp(sum / count) : 0;
    bool gains = range->confirmed > 0 && 100 * (1 - range->confirmed) >= tune->settings.min_gain_percent / 2;
    if (!gains || is_slower)
        range->unproven = "fresh launches did not gain";
}

bool tune_confirm(tune_t *tune, const char *file, char complaint[COMPLAINT_BYTES])
{
    static evidence_t evidence[MAX_SIZES];
    campaign_settings_t campaign = {.tune = tune, .name = "confirmation", .file = file};
    double level = tune->settings.level_percent / 100;
    int launches = planned_launches(tune, campaign.name, NULL);
    if (launches == 0)
        launches = launches_within(fmin(tune->settings.budget_s / 4, LAST_PART * tune->left_s), tune->launch_s, 2,
                                   MAX_MEASURED);
    if (launches < least_launches(level))
        launches = least_launches(level);
    tune_tell(tune, "measuring the file by %d fresh launches", launches);
    if (!measure(&campaign, launches, complaint) || !compare_all(&campaign, level, evidence, complaint))
        return false;
    for (int i = 0; i < tune->range_count; i++)
        confirm_range(tune, evidence, &tune->ranges[i]);
    return true;
}
