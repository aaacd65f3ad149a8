/* SPDX-License-Identifier: BSD-3-Clause */
/* files.c - tuning files, and what is beside them. */
#include "bench/tune/tune.h"

#include <unistd.h>

/* A tuning file has another one beside it, PATH.nodes, where ranks are on several nodes. */
static void list_paths(const char *path, char paths[2][TUNE_PATH_BYTES])
{
    snprintf(paths[0], TUNE_PATH_BYTES, "%.*s", TUNE_PATH_BYTES - 8, path);
    snprintf(paths[1], TUNE_PATH_BYTES, "%.*s.nodes", TUNE_PATH_BYTES - 8, path);
}

bool tune_write(const tune_t *tune, const range_t *ranges, int count, const char *path, char complaint[COMPLAINT_BYTES])
{
    char paths[2][TUNE_PATH_BYTES];
    list_paths(path, paths);
    for (int i = 0; i < (tune_has_nodes(tune) ? 2 : 1); i++) {
        FILE *file = fopen(paths[i], "w");
        bool has_place = file && tune->library->write(tune, ranges, count, i == 1, file);
        bool good = file && !ferror(file);
        if (!file || fclose(file) != 0 || !good)
            return complain(complaint, "cannot write %.400s", paths[i]);
        if (!has_place)
            unlink(paths[i]);
        if (!has_place && i == 0)
            return complain(complaint, "the tuning files of this %s have no place for %s", tune->library->name,
                            tune->operation->name);
    }
    return true;
}

void tune_set_environment(const tune_t *tune, json_t *environment, const char *file)
{
    char paths[2][TUNE_PATH_BYTES];
    list_paths(file, paths);
    for (int i = 0; i < 2 && (i == 0 || access(paths[i], F_OK) == 0); i++)
        for (const variable_t *one = tune->library->variables[i]; one < tune->library->variables[i] + MAX_VARIABLES;
             one++)
            if (one->name)
                json_object_set_new(environment, one->name, json_string(one->value ? one->value : paths[i]));
}

void tune_remove(const char *file)
{
    char paths[2][TUNE_PATH_BYTES];
    list_paths(file, paths);
    unlink(paths[0]);
    unlink(paths[1]);
}
