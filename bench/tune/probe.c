/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe.c - list what the MPI library offers, and call operations, as mpix_bench calls them. No collective operation
 * but these is called: an algorithm that the environment forces may be wrong.
 */
#define _GNU_SOURCE /* dladdr */
#include "bench/tune/tune.h"

#include "bench/suite/algorithms.h"
#include "bench/suite/operation.h"
#include "pure/random.h"
#include "pure/launcher.h"

#include <dlfcn.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HOST_BYTES = 256 };

static world_t world = {.program = tune_name};

static void begin(void)
{
    MPI_Init(NULL, NULL);
    world.comm = MPI_COMM_WORLD;
    MPI_Comm_rank(world.comm, &world.rank);
    MPI_Comm_size(world.comm, &world.ranks);
}

/* ---- What the library offers */

static void add_algorithm(void *algorithms, const char *variable, int value, const char *name)
{
    json_t *items = json_object_get(algorithms, variable);
    if (!items) {
        json_object_set_new(algorithms, variable, json_array());
        items = json_object_get(algorithms, variable);
    }
    json_array_append_new(items, json_pack("{s:i, s:s}", "value", value, "name", name));
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

/* What keeps a rank from reading a file: an errno, or 0. */
typedef struct {
    char host[HOST_BYTES];
    int error;
} obstacle_t;

static obstacle_t look_for(const char *path)
{
    obstacle_t found = {.error = 0};
    FILE *file = fopen(path, "r");
    if (file)
        fclose(file);
    else
        found.error = errno;
    gethostname(found.host, sizeof found.host - 1);
    return found;
}

/* For rank 0, how many ranks cannot read it, and the first of these. By messages between two, as collect. */
static json_t *list_blind(const char *path)
{
    obstacle_t found = look_for(path), first = {.error = 0};
    int blind = 0, first_rank = 0;
    if (world.rank != 0)
        MPI_Send(&found, sizeof found, MPI_BYTE, 0, 0, world.comm);
    for (int i = 0; i < world.ranks && world.rank == 0; i++) {
        if (i > 0)
            MPI_Recv(&found, sizeof found, MPI_BYTE, i, 0, world.comm, MPI_STATUS_IGNORE);
        if (found.error != 0 && blind++ == 0)
            first = found, first_rank = i;
    }
    return json_pack("{s:i, s:i, s:s, s:s}", "count", blind, "first", first_rank, "host", first.host, "why",
                     strerror(first.error));
}

static void print(json_t *object)
{
    json_dumpf(object, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(object);
}

static int list(const char *path)
{
    static char library[MPI_MAX_LIBRARY_VERSION_STRING], chosen[HEAD_BYTES], message[MH_LAUNCHER_MESSAGE];
    int bytes, provided;
    begin();
    MPI_Get_library_version(library, &bytes);
    if (mh_launcher_leaves_alone(world.ranks, library, message)) {
        if (*message)
            print(json_pack("{s:s}", "alone", message));
        MPI_Finalize();
        return STATUS_GOOD;
    }
    json_t *algorithms = json_object(), *blind = list_blind(path);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided); /* MPICH 4.0 cannot begin again after the end */
    algorithms_list(chosen);
    algorithms_offered("coll_tuned_?*_algorithm", add_algorithm, algorithms);
    /* By collective operations, of which the environment may have chosen one that hangs. */
    int nodes = tune_is_chosen(chosen) ? 1 : count_nodes();
    json_t *all = json_pack("{s:s, s:s, s:i, s:i, s:s, s:o, s:o}", "library", library, "path", library_path(), "ranks",
                            world.ranks, "nodes", nodes, "chosen", chosen, "algorithms", algorithms, "blind", blind);
    if (world.rank == 0)
        print(all);
    else
        json_decref(all);
    MPI_T_finalize();
    MPI_Finalize();
    return STATUS_GOOD;
}

/* Open MPI tells on standard error which components it takes for a communicator. */
static int list_components(void)
{
    setenv("OMPI_MCA_coll_base_verbose", "10", 1);
    begin();
    MPI_Finalize();
    return STATUS_GOOD;
}

/* ---- One call */

const char probe_used[] = "the call returned";

/* Returns MPI's error. number: by which values differ */
static int make_call(const work_plan_t *plan, int64_t number, int64_t *wrong)
{
    char *memory = arena_allocate(work_bytes(plan));
    if (!memory)
        world_abort(&world, "out of memory");
    work_t *work = work_open(plan, memory);
    work_set_size(work, plan->max_bytes);
    int code = work_check(work, number, wrong);
    work_close(work);
    free(memory);
    return code;
}

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

static int use(const operation_t *operation, int64_t bytes)
{
    int64_t wrong;
    begin();
    const work_plan_t plan = {.span = &world,
                              .operation = operation,
                              .comm = world.comm,
                              .element = element_named(operation->shape->reduces ? "mpi_float" : "mpi_char"),
                              .reduction = reduction_named("sum"),
                              .max_bytes = bytes};
    int error = make_call(&plan, 0, &wrong);
    bool good = error == MPI_SUCCESS && wrong == 0;
    if (world.rank == 0 && good)
        puts(probe_used);
    MPI_Finalize();
    return good ? STATUS_GOOD : STATUS_FAILED;
}

/* ---- Random calls */

/* Blocks are short, as most algorithms differ where counts are small, and at times longer than a page. The first ones
 * are as long as those that are measured. */
enum { MAX_COUNT = 20000, LONG_CALLS = 3 };

/* Two of MPI, and two of this program, for numbers of 64 bits, of which the last does not commute. */
enum { SUM, MAX, OWN_SUM, OWN_COMPOSITION, REDUCTIONS };

/* cppcheck-suppress constParameter ; MPI says what it takes */
static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((long long *)inout)[i] += ((long long *)in)[i];
}

/* cppcheck-suppress constParameter */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((uint64_t *)inout)[i] = numbers_compose(((uint64_t *)in)[i], ((uint64_t *)inout)[i]);
}

static void open_reductions(reduction_t all[REDUCTIONS])
{
    all[SUM] = all[OWN_SUM] = *reduction_named("sum");
    all[MAX] = *reduction_named("max");
    all[OWN_COMPOSITION] =
        (reduction_t){.contributors = EVERYONE, .contribution = GIVES_ANY, .combination = BY_COMPOSITION};
    MPI_Op_create(add, 1, &all[OWN_SUM].op);
    MPI_Op_create(compose, 0, &all[OWN_COMPOSITION].op);
}

static void close_reductions(reduction_t all[REDUCTIONS])
{
    MPI_Op_free(&all[OWN_SUM].op);
    MPI_Op_free(&all[OWN_COMPOSITION].op);
}

static int random_below(uint64_t *state, int limit)
{
    return (int)(random_next(state) % (uint64_t)limit);
}

/* Half of all counts are at most those of ranks, the others up to the most. The same on all ranks. */
static int draw_count(uint64_t *state)
{
    if (random_below(state, 2) == 0)
        return random_below(state, world.ranks + 2);
    return random_below(state, 1 + random_below(state, MAX_COUNT));
}

static work_plan_t draw(const operation_t *operation, const reduction_t *all, bool in_place, uint64_t *state)
{
    static const char *const types[] = {"mpi_int", "mpi_long_long", "mpi_double", "mpi_char"}; /* one is not reduced */
    int reduction = random_below(state, REDUCTIONS), type = random_below(state, operation->shape->reduces ? 3 : 4);
    bool is_own = operation->shape->reduces && reduction >= OWN_SUM;
    work_plan_t plan = {
        .span = &world,
        .operation = operation,
        .comm = world.comm,
        .element = element_named(is_own ? "mpi_long_long" : types[type]),
        .reduction = &all[reduction],
        .root = random_below(state, world.ranks),
        .in_place = random_below(state, 3) == 0 && in_place && operation_allows_in_place(operation),
        .uneven_seed = strcmp(operation->name, "reduce_scatter") == 0 ? 1 + (int64_t)(random_next(state) >> 2) : 0};
    plan.max_bytes = (int64_t)draw_count(state) * plan.element->bytes;
    return plan;
}

/* The sums go by messages between two. */
static void collect(int wrong[2])
{
    int other[2];
    for (int i = 1; i < world.ranks && world.rank == 0; i++) {
        MPI_Recv(other, 2, MPI_INT, i, 0, world.comm, MPI_STATUS_IGNORE);
        wrong[0] += other[0];
        wrong[1] += other[1];
    }
    if (world.rank != 0)
        MPI_Send(wrong, 2, MPI_INT, 0, 0, world.comm);
}

static int check(const operation_t *operation, uint64_t state, int calls, int64_t bytes, bool in_place)
{
    reduction_t all[REDUCTIONS];
    int wrong[2] = {0};
    begin();
    open_reductions(all);
    for (int i = 0; i < calls; i++) {
        work_plan_t plan = draw(operation, all, in_place, &state);
        int64_t elements = 0;
        if (i < LONG_CALLS)
            plan.max_bytes = bytes / plan.element->bytes * plan.element->bytes;
        bool is_bad = make_call(&plan, (int64_t)(state >> 32), &elements) != MPI_SUCCESS || elements > 0;
        wrong[operation->shape->reduces && plan.reduction == &all[OWN_COMPOSITION]] += is_bad;
    }
    close_reductions(all);
    collect(wrong);
    if (world.rank == 0)
        printf("{\"calls\": %d, \"wrong\": %d, \"wrong_if_not_commutative\": %d}\n", calls, wrong[0], wrong[1]);
    MPI_Finalize();
    return wrong[0] + wrong[1] == 0 ? STATUS_GOOD : STATUS_FAILED;
}

int probe_main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[2], "list") == 0)
        return list(argv[3]);
    if (argc == 3 && strcmp(argv[2], "components") == 0)
        return list_components();
    const operation_t *operation = argc >= 5 ? operation_at(operation_find(argv[3])) : NULL;
    if (!operation)
        return STATUS_BAD_OPTION;
    if (strcmp(argv[2], "check") == 0 && argc == 8)
        return check(operation, strtoull(argv[4], NULL, 10), atoi(argv[5]), atoll(argv[6]),
                     strcmp(argv[7], "in-place") == 0);
    if (strcmp(argv[2], "use") != 0)
        return STATUS_BAD_OPTION;
    if (argc == 6)
        watch_bindings(argv, argv[5]);
    return use(operation, atoll(argv[4]));
}
