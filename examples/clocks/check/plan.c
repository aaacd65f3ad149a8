/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.c - what is to be done: labels, ages, and the ranks that are checked. */
#include "check/check.h"

#include "common/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Copies the next of a list separated by commas, without blanks before it. Returns what follows, NULL where it is empty
 * or too long. */
static const char *next_word(const char *list, char *word, size_t word_bytes)
{
    size_t length;

    list += strspn(list, " ");
    length = strcspn(list, ",");
    if (length == 0 || length >= word_bytes)
        return NULL;
    memcpy(word, list, length);
    word[length] = '\0';
    return list[length] == ',' ? list + length + 1 : list + length;
}

static bool parse_labels(plan_t *plan, const char *text)
{
    plan->labels = 0;
    for (const char *rest = text; plan->labels == 0 || rest[-1] == ',';) {
        if (plan->labels == LABELS_MOST)
            return false;
        rest = next_word(rest, plan->label[plan->labels++], LABEL_BYTES);
        if (rest == NULL)
            return false;
    }
    return true;
}

static bool parse_ages(plan_t *plan, const char *text)
{
    double before_s = -1;

    plan->ages = 0;
    for (const char *rest = text; plan->ages == 0 || rest[-1] == ',';) {
        char word[32], *end;
        double age_s;

        rest = plan->ages < AGES_MOST ? next_word(rest, word, sizeof(word)) : NULL;
        if (rest == NULL)
            return false;
        age_s = strtod(word, &end);
        if (end == word || *end != '\0' || !(age_s > before_s && age_s >= 0 && age_s <= AGE_MOST_S))
            return false;
        plan->age_s[plan->ages++] = before_s = age_s;
    }
    return true;
}

int check_make_plan(check_run_t *run)
{
    const check_settings_t *settings = &run->settings;
    plan_t *plan = &run->plan;
    bool labels_good = true, ages_good = true;

    plan->labels = 1;
    if (run->world.rank == 0) {
        labels_good = settings->labels_text == NULL || parse_labels(plan, settings->labels_text);
        ages_good = parse_ages(plan, settings->ages_text != NULL ? settings->ages_text : "0,1,10,60");
    }
    if (!world_all(&run->world, labels_good))
        return world_refuse(&run->world,
                            "option --sync: \"%.200s\" is not allowed, give 1 to %d labels of at most %d characters, "
                            "separated by commas (see --help)",
                            settings->labels_text, LABELS_MOST, LABEL_BYTES - 1);
    if (!world_all(&run->world, ages_good))
        return world_refuse(&run->world,
                            "option --ages: \"%.200s\" is not allowed, give 1 to %d ascending numbers from 0 to %.0f, "
                            "separated by commas (see --help)",
                            settings->ages_text, AGES_MOST, AGE_MOST_S);
    world_require(&run->world, MPI_Bcast(plan, sizeof(*plan), MPI_BYTE, 0, run->world.comm), "MPI_Bcast");
    return STATUS_GOOD;
}

int check_open_clock(const check_run_t *run, const char *label, world_t *clock_world)
{
    MPI_Info info;
    int code;

    *clock_world = run->world;
    world_require(&run->world, MPI_Comm_dup(run->world.comm, &clock_world->comm), "MPI_Comm_dup");
    MPI_Info_create(&info);
    if (label[0] != '\0')
        MPI_Info_set(info, "mpix_harmonize_sync", label);
    code = MPIX_Harmonize_set_info(clock_world->comm, info);
    MPI_Info_free(&info);
    return code;
}

/* Refuses a label that the library does; puts its own spelling in the place of others. Collective. */
static int check_label(const check_run_t *run, char *label)
{
    char text[MPI_MAX_INFO_VAL + 1];
    world_t clock_world;
    int code = check_open_clock(run, label, &clock_world);
    int class = MPI_SUCCESS;
    int status = STATUS_GOOD;

    MPI_Error_class(code, &class);
    if (class == MPI_ERR_INFO_VALUE) {
        world_statistic(&clock_world, "mpix_harmonize_last_error", text, sizeof(text));
        status = world_refuse(&run->world, "option --sync: %s (see --help)", text);
    } else if (!world_agree(&clock_world, code, "MPIX_Harmonize_set_info")) {
        status = STATUS_FAILED;
    } else if (world_statistic(&clock_world, "mpix_harmonize_sync", text, sizeof(text))) {
        snprintf(label, LABEL_BYTES, "%.*s", LABEL_BYTES - 1, text);
    }
    MPI_Comm_free(&clock_world.comm);
    return status;
}

int check_labels(check_run_t *run)
{
    int status = STATUS_GOOD;

    for (int i = 0; i < run->plan.labels && status == STATUS_GOOD; i++)
        status = check_label(run, run->plan.label[i]);
    return status;
}

bool check_is_sampled(const check_run_t *run)
{
    return run->checked < run->world.ranks - 1;
}

bool check_choose_ranks(check_run_t *run)
{
    check_settings_t *settings = &run->settings;
    int others = run->world.ranks - 1;
    uint64_t state;
    int taken = 0;

    run->checked = others;
    if (settings->pairs > 0 && settings->pairs < others)
        run->checked = (int)settings->pairs;
    if (settings->sample > 0)
        run->checked = (int)ceil(settings->sample * others);
    run->checked_rank = malloc((size_t)run->checked * sizeof(run->checked_rank[0]));
    if (!world_all(&run->world, run->checked_rank != NULL))
        return false;
    if (settings->seed < 0)
        settings->seed = (int64_t)time(NULL);
    world_require(&run->world, MPI_Bcast(&settings->seed, 1, MPI_INT64_T, 0, run->world.comm), "MPI_Bcast");
    state = (uint64_t)settings->seed;
    for (int i = 0; i < others; i++) {
        if (random_next(&state) % (uint64_t)(others - i) < (uint64_t)(run->checked - taken))
            run->checked_rank[taken++] = 1 + i;
    }
    return true;
}

bool check_is_checked(const check_run_t *run, int rank)
{
    for (int i = 0; i < run->checked; i++) {
        if (run->checked_rank[i] == rank)
            return true;
    }
    return false;
}
