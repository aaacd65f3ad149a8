/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithms.c - read the variables of MPI_T and the environment. */
#define _GNU_SOURCE /* getline, strsep */
#include "bench/suite/algorithms.h"

#include "common/cli/text.h"

#include <fnmatch.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_BYTES = HEAD_BYTES, NAME_BYTES = 256 };

#ifdef MPI_T_ENUM_NULL

/*
 * Control variables that have a part in the choice, and how the value reads that chooses nothing; without one, whatever
 * is set counts. The first match counts.
 */
static const struct {
    const char *pattern;
    const char *usual[2];
} choices[] = {
    {"MPIR_CVAR_?*_ALGORITHM", {"", "auto"}},
    {"MPIR_CVAR_?*_COMPOSITION", {"", "0"}},
    {"MPIR_CVAR_?*SELECTION_TUNING_JSON_FILE", {"", ""}},
    {"MPIR_CVAR_?*SELECTION_JSON_FILE", {"", ""}},
    {"MPIR_CVAR_DEVICE_COLLECTIVES", {"", "percoll"}},
    {"MPIR_CVAR_?*_DEVICE_COLLECTIVE", {"", ""}},
    {"MPIR_CVAR_?*_SHORT_MSG_SIZE", {"", ""}},
    {"MPIR_CVAR_?*_MEDIUM_MSG_SIZE", {"", ""}},
    {"MPIR_CVAR_?*_LONG_MSG_SIZE", {"", ""}},
    {"MPIR_CVAR_MAX_SMP_?*_MSG_SIZE", {"", ""}},
    {"MPIR_CVAR_?*_MIN_PROCS", {"", ""}},
    {"MPIR_CVAR_?*_KVAL", {"", ""}},
    {"MPIR_CVAR_?*_TREE_TYPE", {"", ""}},
    {"MPIR_CVAR_?*ENABLE_HCOLL", {"", ""}},
    {"coll", {"", ""}},
    {"coll_tuned_use_dynamic_rules", {"0", "false"}},
    {"coll_tuned_dynamic_rules_filename", {"", ""}},
    {"coll_tuned_?*_algorithm", {"0", "ignore"}},
    {"coll_tuned_?*_algorithm_segmentsize", {"0", "0"}},
    {"coll_libnbc_?*_algorithm", {"0", "ignore"}},
    {"coll_han_use_dynamic_file_rules", {"0", "false"}},
    {"coll_han_dynamic_rules_filename", {"", ""}},
    {"coll_?*", {NULL, NULL}},
};

/* What only tells more. */
static const char *const silent[] = {"coll_?*_verbose", "coll_?*_dump_dynamic_rules", "coll_?*_max_dynamic_errors"};

enum { CHOICES = sizeof choices / sizeof choices[0], SILENT = sizeof silent / sizeof silent[0] };

static int find_choice(const char *name)
{
    int choice = 0;
    for (int i = 0; i < SILENT; i++)
        if (fnmatch(silent[i], name, 0) == 0)
            return CHOICES;
    while (choice < CHOICES && fnmatch(choices[choice].pattern, name, 0) != 0)
        choice++;
    return choice;
}

/* ---- Variables of MPI_T */

typedef struct {
    int index;
    char name[NAME_BYTES];
    MPI_Datatype datatype;
    MPI_T_enum enumeration;
} variable_t;

/* Returns false if the index is out of use, or the variable belongs to an object. */
static bool find_variable(int index, variable_t *variable)
{
    int bytes = sizeof variable->name, verbosity, bind = -1, scope;
    *variable = (variable_t){.index = index, .enumeration = MPI_T_ENUM_NULL};
    return MPI_T_cvar_get_info(index, variable->name, &bytes, &verbosity, &variable->datatype, &variable->enumeration,
                               NULL, NULL, &bind, &scope) == MPI_SUCCESS &&
           bind == MPI_T_BIND_NO_OBJECT;
}

/* Reads one of the values that a variable may have, and its name. Returns false if it has no such. */
static bool read_item(MPI_T_enum enumeration, int item, int *value, char name[VALUE_BYTES])
{
    int bytes = VALUE_BYTES;
    return enumeration != MPI_T_ENUM_NULL && MPI_T_enum_get_item(enumeration, item, value, name, &bytes) == MPI_SUCCESS;
}

/* Writes the name of a value. Returns whether the enumeration, if there is one, has it. */
static bool name_value(MPI_T_enum enumeration, int value, char text[VALUE_BYTES])
{
    for (int item = 0, other; read_item(enumeration, item, &other, text); item++)
        if (other == value)
            return true;
    return false;
}

/* Writes a value of one of the types that such variables have. */
static bool write_value(const void *value, MPI_Datatype datatype, MPI_T_enum enumeration, char text[VALUE_BYTES])
{
    if (datatype == MPI_CHAR)
        snprintf(text, VALUE_BYTES, "%s", (const char *)value);
    else if (datatype == MPI_INT && !name_value(enumeration, *(const int *)value, text))
        snprintf(text, VALUE_BYTES, "%d", *(const int *)value);
    else if (datatype == MPI_UNSIGNED)
        snprintf(text, VALUE_BYTES, "%u", *(const unsigned *)value);
    else if (datatype == MPI_UNSIGNED_LONG)
        snprintf(text, VALUE_BYTES, "%lu", *(const unsigned long *)value);
    else if (datatype == MPI_C_BOOL)
        snprintf(text, VALUE_BYTES, "%s", *(const unsigned char *)value != 0 ? "true" : "false");
    else
        return datatype == MPI_INT;
    return true;
}

/* Reads a variable as text. Returns false if that cannot be. */
static bool read_variable(const variable_t *variable, char text[VALUE_BYTES])
{
    MPI_T_cvar_handle handle;
    int count = 0;
    if (MPI_T_cvar_handle_alloc(variable->index, NULL, &handle, &count) != MPI_SUCCESS)
        return false;
    /* Eight bytes an element suffice for all types; one more element ends a text. */
    void *value = calloc((size_t)(count > 0 ? count : 0) + 1, 8);
    bool good = value && count >= 1 && MPI_T_cvar_read(handle, value) == MPI_SUCCESS &&
                write_value(value, variable->datatype, variable->enumeration, text);
    free(value);
    MPI_T_cvar_handle_free(&handle);
    return good;
}

/* ---- What somebody set */

/*
 * MPICH's variables are numbers without names, and which number stands for the usual choice differs between versions;
 * texts read as before anybody set them. What chose is in the environment, by one of these beginnings. Returns NULL if
 * it is not a variable of MPICH.
 */
static const char *chosen_by_environment(const char *name)
{
    static const char *const beginnings[] = {"MPIR_CVAR_", "MPIR_PARAM_", "MPICH_"};
    size_t length = strlen(beginnings[0]);
    if (strncmp(name, beginnings[0], length) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        char variable[2 * NAME_BYTES];
        snprintf(variable, sizeof variable, "%s%s", beginnings[i], name + length);
        const char *value = getenv(variable);
        if (value)
            return value;
    }
    return "";
}

/* Whether a line has a variable: NAME = VALUE, or, in the files of the launcher's option --tune, -mca NAME VALUE. */
static bool is_setting(const char *line, const char *name)
{
    static const char option[] = "-mca ";
    size_t length = strlen(name);
    const char *word = line + strspn(line, " \t");
    if (strncmp(word, name, length) == 0 && word[length + strspn(word + length, " \t")] == '=')
        return true;
    while ((word = strstr(word, option))) {
        word += strlen(option);
        word += strspn(word, " \t");
        if (strncmp(word, name, length) == 0 && strchr(" \t", word[length]))
            return true;
    }
    return false;
}

static bool is_set_in(const char *path, const char *name)
{
    char *line = NULL;
    size_t bytes = 0;
    bool is_set = false;
    FILE *file = fopen(path, "r");
    while (file && !is_set && getline(&line, &bytes, file) >= 0)
        is_set = is_setting(line, name);
    free(line);
    if (file)
        fclose(file);
    return is_set;
}

/* Whether one of the files that Open MPI read has a variable. */
static bool is_set_in_files(const char *name)
{
    static const char *const lists[] = {"mca_base_param_files", "mca_base_override_param_file",
                                        "mca_base_envar_file_prefix"};
    bool is_set = false;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        char text[VALUE_BYTES], *rest = text;
        variable_t list;
        int index;
        if (MPI_T_cvar_get_index(lists[i], &index) != MPI_SUCCESS || !find_variable(index, &list) ||
            !read_variable(&list, text))
            continue;
        for (const char *path; (path = strsep(&rest, ",:"));)
            is_set = is_set || is_set_in(path, name);
    }
    return is_set;
}

static const char *set_in_environment(const char *name)
{
    char variable[2 * NAME_BYTES];
    snprintf(variable, sizeof variable, "OMPI_MCA_%s", name);
    return getenv(variable);
}

/* ---- The list */

static bool is_unusual(const variable_t *variable, int choice, const char *value)
{
    const char *const *usual = choices[choice].usual;
    if (!usual[0])
        return set_in_environment(variable->name) || is_set_in_files(variable->name);
    return strcmp(value, usual[0]) != 0 && strcmp(value, usual[1]) != 0;
}

/* Appends NAME=VALUE if a variable chooses an algorithm. */
static void append_choice(char *list, int index)
{
    char text[VALUE_BYTES] = "";
    variable_t variable;
    int choice = find_variable(index, &variable) ? find_choice(variable.name) : CHOICES;
    if (choice == CHOICES)
        return;
    const char *value = chosen_by_environment(variable.name);
    if (!value)
        value = read_variable(&variable, text) ? text : set_in_environment(variable.name);
    if (value && is_unusual(&variable, choice, value))
        text_append(list, VALUE_BYTES, "%s%s=%s", list[0] != '\0' ? " " : "", variable.name, value);
}

void algorithms_list(char list[VALUE_BYTES])
{
    int provided, count = 0;
    list[0] = '\0';
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS)
        return;
    MPI_T_cvar_get_num(&count);
    for (int index = 0; index < count; index++)
        append_choice(list, index);
    if (count > 0 && list[0] == '\0')
        strcpy(list, "default");
    MPI_T_finalize();
}

void algorithms_offered(const char *pattern, algorithms_take_t *take, void *context)
{
    char name[VALUE_BYTES];
    int provided, count = 0, value;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS)
        return;
    MPI_T_cvar_get_num(&count);
    for (int index = 0; index < count; index++) {
        variable_t variable;
        if (!find_variable(index, &variable) || fnmatch(pattern, variable.name, 0) != 0)
            continue;
        for (int item = 0; read_item(variable.enumeration, item, &value, name); item++)
            take(context, variable.name, value, name);
    }
    MPI_T_finalize();
}

#else

void algorithms_list(char list[VALUE_BYTES])
{
    list[0] = '\0';
}

void algorithms_offered(const char *pattern, algorithms_take_t *take, void *context)
{
    (void)pattern, (void)take, (void)context;
}

#endif
