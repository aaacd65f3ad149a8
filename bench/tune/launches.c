/* SPDX-License-Identifier: BSD-3-Clause */
/* launches.c - start programs by the launcher that the user named. */
#define _GNU_SOURCE /* asprintf */
#include "bench/campaign/launch.h"
#include "bench/tune/tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A word with the number in the place of {ranks}. The caller frees it. */
static char *fill_in(const char *word, int64_t ranks)
{
    static const char place[] = "{ranks}";
    const char *at = strstr(word, place);
    char *text = NULL;
    if (!at)
        return strdup(word);
    if (asprintf(&text, "%.*s%lld%s", (int)(at - word), word, (long long)ranks, at + sizeof place - 1) < 0)
        return NULL;
    return text;
}

json_t *tune_command(const tune_t *tune, int64_t ranks)
{
    json_t *command = json_array();
    for (int i = 0; i < tune->launcher_words; i++) {
        char *word = fill_in(tune->launcher[i], ranks);
        json_array_append_new(command, json_string(word ? word : ""));
        free(word);
    }
    return command;
}

void tune_sibling(const tune_t *tune, const char *name, char path[TUNE_PATH_BYTES])
{
    const char *base = strrchr(tune->program, '/') + 1, *own = strstr(base, tune_name);
    if (own)
        snprintf(path, TUNE_PATH_BYTES, "%.*s%s%s", (int)(own - tune->program), tune->program, name,
                 own + strlen(tune_name));
    else
        snprintf(path, TUNE_PATH_BYTES, "%.*s%s", (int)(base - tune->program), tune->program, name);
}

static char *read_all(const char *path)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = fopen(path, "r");
    if (!file || getdelim(&text, &bytes, '\0', file) < 0) {
        free(text);
        text = strdup("");
    }
    if (file)
        fclose(file);
    return text;
}

/* Why a probe did not end by itself. The caller frees it. */
static char *explain(const launch_t *launch, const char *command, double timeout_s)
{
    char *text = NULL;
    if ((launch->end == LAUNCH_TIMED_OUT
             ? asprintf(&text, "it took longer than %g s", timeout_s)
             : asprintf(&text, "cannot run \"%s\": %s", command, strerror(launch->number))) < 0)
        return NULL;
    return text;
}

probe_end_t tune_probe(const tune_t *tune, int64_t ranks, const char *file, const char *const *words, double timeout_s)
{
    char output[TUNE_PATH_BYTES], error[TUNE_PATH_BYTES];
    json_t *command = tune_command(tune, ranks), *environment = json_object();
    tune_path(tune, output, "probe.out");
    tune_path(tune, error, "probe.err");
    json_array_append_new(command, json_string(tune->program));
    json_array_append_new(command, json_string("probe"));
    for (int i = 0; words[i]; i++)
        json_array_append_new(command, json_string(words[i]));
    if (file)
        tune_set_environment(tune, environment, file);
    json_t *variant = json_pack("{s:o, s:o}", "command", command, "environment", environment);
    launch_t launch = launch_run(variant, output, error, timeout_s);
    json_decref(variant);
    probe_end_t end = {.is_good = launch.end == LAUNCH_EXITED && launch.number == 0,
                       .has_ended = launch.end == LAUNCH_EXITED || launch.end == LAUNCH_KILLED,
                       .took_s = (double)launch.duration_ns / 1e9,
                       .output = read_all(output),
                       .error = read_all(error)};
    if (!end.has_ended && end.error && end.error[0] == '\0') {
        free(end.error);
        end.error = explain(&launch, tune->launcher[0], timeout_s);
    }
    unlink(output);
    unlink(error);
    return end;
}

void probe_end_free(probe_end_t *end)
{
    free(end->output);
    free(end->error);
}
