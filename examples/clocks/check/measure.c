/* SPDX-License-Identifier: BSD-3-Clause */
/* measure.c - what is checked, and the clock of one communicator: synchronized, kept, compared with that of rank 0. */
#include "check/check.h"

#include "common/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- What is checked */

/* Cuts the list at commas. Blanks before a label do not count. */
static bool parse_labels(check_run_t *run, const char *list)
{
    for (run->labels = 0; list != NULL; run->labels++) {
        list += strspn(list, " ");
        size_t length = strcspn(list, ",");
        if (run->labels == MAX_LABELS || length == 0 || length >= LABEL_BYTES)
            return false;
        memcpy(run->label[run->labels], list, length);
        list = list[length] == ',' ? list + length + 1 : NULL;
    }
    return true;
}

/* Makes a communicator like the world's, to be synchronized as a label says. Returns the code of setting that. */
static int open_clock(const check_run_t *run, const char *label, world_t *clock_world)
{
    *clock_world = world_duplicate(&run->world);
    return world_set(clock_world, "mpix_harmonize_sync", label);
}

/* Refuses a label that the library does; puts its own spelling in the place of others. Collective. */
static int check_label(const check_run_t *run, char *label)
{
    char text[MPI_MAX_INFO_VAL + 1];
    world_t clock_world;
    int code = open_clock(run, label, &clock_world), class = MPI_SUCCESS, status = STATUS_GOOD;
    MPI_Error_class(code, &class);
    if (class == MPI_ERR_INFO_VALUE) {
        world_statistic(&clock_world, "mpix_harmonize_last_error", text, sizeof(text));
        status = world_refuse(&run->world, "option --sync: %s", text);
    } else if (!world_agree(&clock_world, code, "MPIX_Harmonize_set_info")) {
        status = STATUS_FAILED;
    } else if (world_statistic(&clock_world, "mpix_harmonize_sync", text, sizeof(text))) {
        snprintf(label, LABEL_BYTES, "%.*s", LABEL_BYTES - 1, text);
    }
    MPI_Comm_free(&clock_world.comm);
    return status;
}

int check_read_labels(check_run_t *run)
{
    const char *list = run->settings.labels;
    int status = STATUS_GOOD;
    run->labels = 1;
    if (!world_all(&run->world, run->world.rank > 0 || list == NULL || parse_labels(run, list)))
        return world_refuse(&run->world,
                            "option --sync: \"%.200s\" is not allowed, give 1 to %d labels of at most %d characters, "
                            "separated by commas",
                            list, MAX_LABELS, LABEL_BYTES - 1);
    MPI_Bcast(&run->labels, 1, MPI_INT, 0, run->world.comm);
    MPI_Bcast(run->label, sizeof(run->label), MPI_BYTE, 0, run->world.comm);
    for (int i = 0; i < run->labels && status == STATUS_GOOD; i++)
        status = check_label(run, run->label[i]);
    return status;
}

void check_choose_ranks(check_run_t *run)
{
    check_settings_t *settings = &run->settings;
    int others = run->world.ranks - 1, taken = 0;
    run->checked = settings->pairs > 0 && settings->pairs < others ? (int)settings->pairs : others;
    if (settings->sample > 0)
        run->checked = (int)ceil(settings->sample * others);
    run->checked_rank = world_room(&run->world, run->checked, sizeof(run->checked_rank[0]), "");
    if (settings->seed < 0)
        settings->seed = (int64_t)time(NULL);
    MPI_Bcast(&settings->seed, 1, MPI_INT64_T, 0, run->world.comm);
    uint64_t state = (uint64_t)settings->seed;
    for (int i = 0; i < others; i++) {
        if (random_next(&state) % (uint64_t)(others - i) < (uint64_t)(run->checked - taken)) {
            run->checked_rank[taken++] = 1 + i;
            run->is_checked |= run->world.rank == 1 + i;
        }
    }
}

/* ---- One communicator */

static int64_t max_of_ranks(const check_run_t *run, int64_t value)
{
    int64_t max = value;
    world_require(&run->world, MPI_Reduce(&value, &max, 1, MPI_INT64_T, MPI_MAX, 0, run->world.comm), "MPI_Reduce");
    return max;
}

/* A statistic of the library that is a whole number; 0 if there is none. */
static int64_t whole_statistic(const world_t *clock_world, const char *key)
{
    char text[MPI_MAX_INFO_VAL + 1];
    return world_statistic(clock_world, key, text, sizeof(text)) ? strtoll(text, NULL, 10) : 0;
}

/* Returns when, by this rank's clock. */
static int64_t synchronize(const check_run_t *run, const world_t *clock_world, trial_t *trial)
{
    MPI_Barrier(run->world.comm);
    int64_t begin_ns = system_time_ns();
    world_require(clock_world, MPIX_Clock_sync(clock_world->comm), "MPIX_Clock_sync");
    int64_t end_ns = system_time_ns();
    trial->call_ns = max_of_ranks(run, end_ns - begin_ns);
    trial->sync_ns = max_of_ranks(run, whole_statistic(clock_world, "mpix_harmonize_sync_duration_ns"));
    return end_ns;
}

/* Calls MPIX_Harmonize until a time by rank 0's clock. */
static void keep_until(const check_run_t *run, const world_t *clock_world, int64_t end_ns)
{
    for (;;) {
        int64_t left_ns = end_ns - system_time_ns();
        int valid;
        world_require(&run->world, MPI_Bcast(&left_ns, 1, MPI_INT64_T, 0, run->world.comm), "MPI_Bcast");
        if (left_ns <= 0)
            return;
        system_sleep_ns((int64_t)fmin((double)left_ns, run->settings.keep_ms * 1e6));
        world_require(clock_world, MPIX_Harmonize(clock_world->comm, &valid), "MPIX_Harmonize");
    }
}

/* Leaves the checks on rank 0; NULL on others. */
static void check_all(const check_run_t *run, const world_t *clock_world, int64_t begin_ns, check_t *checks)
{
    const clock_meter_t meter = {clock_world, run->world.comm, run->has_truth ? &run->shared : NULL,
                                 run->settings.exchanges};
    if (run->is_checked)
        clock_error_answer(&meter);
    for (int i = 0; i < run->checked && checks != NULL; i++) {
        checks[i].age_s = (double)(system_time_ns() - begin_ns) * 1e-9;
        clock_error_ask(&meter, run->checked_rank[i], &checks[i].error);
    }
}

void check_run_trial(check_run_t *run, int label, int repeat)
{
    trial_t *trial = check_trial_of(run, label, repeat);
    world_t clock_world;
    world_require(&run->world, open_clock(run, run->label[label], &clock_world), "MPIX_Harmonize_set_info");
    int64_t begin_ns = synchronize(run, &clock_world, trial);
    for (int age = 0; age < run->ages; age++) {
        double age_s = run->settings.ages_s.values[age];
        int64_t target_ns = begin_ns + (int64_t)(age_s * 1e9);
        world_progress(&run->world, "%.40s: run %d of %lld, until %g s", run->label[label], repeat + 1,
                       (long long)run->settings.repeats, age_s);
        if (run->settings.keep_ms > 0)
            keep_until(run, &clock_world, target_ns);
        else
            system_sleep_ns(target_ns - system_time_ns());
        check_all(run, &clock_world, begin_ns, run->world.rank == 0 ? check_checks_of(run, label, repeat, age) : NULL);
        trial->syncs[age] = whole_statistic(&clock_world, "mpix_harmonize_syncs");
        world_progress(&run->world, "%s", "");
        if (run->world.rank == 0)
            check_print_age(run, label, repeat, age);
    }
    MPI_Comm_free(&clock_world.comm);
}
