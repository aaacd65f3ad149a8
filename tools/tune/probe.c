/* SPDX-License-Identifier: BSD-3-Clause */
/* probe.c - list what the MPI library offers, and make one call. */
#define _GNU_SOURCE /* dladdr */
#include "tune/probe.h"

#include "bench/algorithms.h"
#include "common/options.h"
#include "tune/operation.h"

#include <dlfcn.h>
#include <fnmatch.h>
#include <jansson.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 512, HOST_BYTES = 256 };

/* ---- What the library offers */

/* The names of an enumeration's values, in order; NULL of none. */
static json_t *list_items(MPI_T_enum enumeration)
{
    char text[TEXT_BYTES];
    int count = 0, bytes = sizeof text, value;
    if (enumeration == MPI_T_ENUM_NULL || MPI_T_enum_get_info(enumeration, &count, text, &bytes) != MPI_SUCCESS)
        return NULL;
    json_t *items = json_array();
    for (int i = 0; i < count; i++) {
        bytes = sizeof text;
        if (MPI_T_enum_get_item(enumeration, i, &value, text, &bytes) == MPI_SUCCESS)
            json_array_append_new(items, json_pack("{s:i, s:s}", "value", value, "name", text));
    }
    return items;
}

/* Variables of Open MPI: which algorithms there are. */
static json_t *list_algorithms(void)
{
    json_t *algorithms = json_object();
    int count = 0;
    MPI_T_cvar_get_num(&count);
    for (int index = 0; index < count; index++) {
        char name[TEXT_BYTES] = "";
        int bytes = sizeof name, verbosity, bind, scope;
        MPI_Datatype type;
        MPI_T_enum enumeration = MPI_T_ENUM_NULL;
        if (MPI_T_cvar_get_info(index, name, &bytes, &verbosity, &type, &enumeration, NULL, NULL, &bind, &scope) !=
            MPI_SUCCESS)
            continue;
        json_t *items = fnmatch("coll_tuned_?*_algorithm", name, 0) == 0 ? list_items(enumeration) : NULL;
        if (items)
            json_object_set_new(algorithms, name, items);
    }
    return algorithms;
}

/* The file of the MPI library. */
static const char *library_path(void)
{
    Dl_info found;
    const void *symbol = dlsym(RTLD_DEFAULT, "MPI_Init");
    return symbol && dladdr(symbol, &found) != 0 ? found.dli_fname : "";
}

/* How many ranks are the first of their node. */
static int count_nodes(void)
{
    MPI_Comm node;
    int rank, is_first, nodes = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_free(&node);
    is_first = rank == 0;
    MPI_Allreduce(&is_first, &nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return nodes;
}

static int list(void)
{
    static char library[MPI_MAX_LIBRARY_VERSION_STRING], chosen[HEAD_BYTES];
    int ranks, rank, bytes, provided;
    MPI_Init(NULL, NULL);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    algorithms_list(chosen);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_library_version(library, &bytes);
    json_t *all = json_pack("{s:s, s:s, s:i, s:i, s:s, s:o}", "library", library, "path", library_path(), "ranks",
                            ranks, "nodes", count_nodes(), "chosen", chosen, "algorithms", list_algorithms());
    if (rank == 0 && all) {
        json_dumpf(all, stdout, JSON_COMPACT);
        putchar('\n');
    }
    json_decref(all);
    MPI_T_finalize();
    MPI_Finalize();
    return STATUS_GOOD;
}

/* ---- One call */

const char probe_used[] = "the call returned";

/*
 * The loader looks at its variables before the program begins, so the program begins anew. It adds the process's id to
 * the path, which processes of two hosts may share.
 */
static void watch_bindings(char **argv, const char *prefix)
{
    char host[HOST_BYTES] = "", path[PATH_MAX];
    if (getenv("LD_DEBUG"))
        return;
    gethostname(host, sizeof host - 1);
    snprintf(path, sizeof path, "%.2000s.%s", prefix, host);
    setenv("LD_DEBUG", "bindings", 1);
    setenv("LD_DEBUG_OUTPUT", path, 1);
    unsetenv("LD_BIND_NOW");
    execv("/proc/self/exe", argv);
}

static int use(operation_kind_t kind, int64_t bytes)
{
    int ranks, rank, *counts, error = MPI_ERR_OTHER;
    bool is_reduction = operations[kind].is_reduction;
    MPI_Init(NULL, NULL);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    probe_call_t call = {.kind = kind, .type = is_reduction ? MPI_FLOAT : MPI_CHAR, .op = MPI_SUM};
    call.count = (int)(bytes / (int64_t)(is_reduction ? sizeof(float) : 1));
    void *send = calloc((size_t)bytes + 1, (size_t)ranks), *receive = calloc((size_t)bytes + 1, (size_t)ranks);
    call.counts = counts = calloc((size_t)ranks, sizeof *counts);
    for (int i = 0; counts && i < ranks; i++)
        counts[i] = call.count;
    if (send && receive && counts)
        error = operation_call(&call, send, receive);
    free(send);
    free(receive);
    free(counts);
    if (rank == 0 && error == MPI_SUCCESS)
        puts(probe_used);
    MPI_Finalize();
    return error == MPI_SUCCESS ? STATUS_GOOD : STATUS_FAILED;
}

int probe_main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[2], "list") == 0)
        return list();
    int kind = argc >= 5 ? names_find(NAMES(operations), argv[3]) : -1;
    if (kind < 0)
        return STATUS_BAD_OPTION;
    if (strcmp(argv[2], "check") == 0 && argc == 7)
        return probe_check(kind, strtoull(argv[4], NULL, 10), atoi(argv[5]), strcmp(argv[6], "in-place") == 0);
    if (strcmp(argv[2], "use") != 0)
        return STATUS_BAD_OPTION;
    if (argc == 6)
        watch_bindings(argv, argv[5]);
    return use((operation_kind_t)kind, atoll(argv[4]));
}
