/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_operations - carries out every operation of the suite in many ways, and compares what its validation says with
 * what it must say: nothing is wrong, or as many elements as were made wrong here.
 *
 * check_operations [faults | threads]
 *
 * faults    elements are made wrong
 * threads   operations with threads alone, as these need another beginning of MPI; with faults and without
 *
 * Prints a line for each thing that is not as it must be, and one that counts checks. Exit status 0, or 1 after such
 * a line, or 77 if the MPI library has no threads.
 */
#include "bench/suite/operation_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A ring need not exceed the true cache to be one. */
enum { CACHE_BYTES = 1 << 16 };

static world_t world = {.program = "check_operations"};
static long checks, known_faults, complaints;
static char path[64]; /* of files that are made and deleted */

/* ---- Faults */

/* A wrapped operation calls the true one, and then makes elements of the result wrong. */
static const operation_t *true_operation;
static work_t *faulty_work; /* NULL: no faults */
static int64_t faults_made;

/* The last of some elements, and if there are more the first. */
static void spoil(char *at, int64_t elements)
{
    if (elements > 0) {
        at[(elements - 1) * faulty_work->plan.element->bytes] ^= 4;
        faults_made++;
    }
    if (elements > 1) {
        at[0] ^= 1;
        faults_made++;
    }
}

/* What is data of a message. */
static void spoil_message(char *at)
{
    const work_plan_t *plan = &faulty_work->plan;
    number_pair_t block;
    int64_t number = 0;
    if (!faulty_work->has_layout) {
        spoil(at, faulty_work->elements);
        return;
    }
    while (layout_block(plan->layout, plan->blocks, faulty_work->elements, &number, &block))
        spoil(at + (int64_t)block.first * plan->element->bytes, block.second);
}

static void make_faults(void)
{
    int blocks;

    faults_made = 0;
    if (!faulty_work)
        return;
    char *at = work_result(faulty_work, &blocks);
    if (faulty_work->plan.operation->shape->writes)
        at = faulty_work->send_memory;
    for (int i = 0; i < blocks; i++) {
        origin_t origin = work_origin(faulty_work, i);
        if (origin.last >= origin.first)
            spoil_message(at + i * faulty_work->size_bytes);
    }
}

static int call_and_spoil(const work_t *work, MPI_Request *request)
{
    bool writes = work->plan.operation->shape->writes;

    /* What comes to the file is read again after the call. */
    if (writes)
        make_faults();
    int code = true_operation->call(work, request);
    /* A target has its result only when the origin is done. */
    if (code == MPI_SUCCESS)
        code = work_settle(work);
    if (!operation_has_halves(work->plan.operation) && !writes)
        make_faults();
    return code;
}

/* In place of MPI's, as non-blocking forms have their result only after it. */
int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    int code = PMPI_Wait(request, status);

    if (faulty_work && operation_has_halves(faulty_work->plan.operation))
        make_faults();
    return code;
}

/* Likewise what takes the place of a wait. */
int MPI_File_read_ordered_end(MPI_File file, void *memory, MPI_Status *status)
{
    int code = PMPI_File_read_ordered_end(file, memory, status);

    make_faults();
    return code;
}

/* ---- What is tried */

static void describe(const work_plan_t *plan, int64_t elements, int64_t call, char *text, size_t text_bytes)
{
    snprintf(text, text_bytes, "%s %s %s root %d%s %s %s %s, %lld elements, call %lld", plan->operation->name,
             plan->element->name, plan->reduction->name, plan->root, plan->in_place ? " in place" : "",
             cache_modes[plan->cache], window_kinds[plan->window], synchronizations[plan->synchronization],
             (long long)elements, (long long)call);
}

static void complain(const work_plan_t *plan, int64_t elements, int64_t call, const char *what)
{
    char text[200];

    describe(plan, elements, call, text, sizeof text);
    printf("rank %d of %d: %s: %s\n", world.rank, world.ranks, text, what);
    complaints++;
}

/*
 * Faults of MPI libraries, which validation shows and nothing here works around.
 *
 * MPICH before 4.3: a persistent allgather, gather or scatter copies a part of the data when it is made instead of when
 * it starts; among three ranks its second start may fail.
 */
static bool delivers_old_data(const operation_t *operation)
{
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40300000
    static const char *const names[] = {"allgather_persistent", "gather_persistent", "scatter_persistent"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(operation->name, names[i]) == 0)
            return true;
    }
#endif
    (void)operation;
    return false;
}

/*
 * The same: a reduction in place of more than 2 KB ends with a segmentation fault where the root is not rank 0.
 *
 * Open MPI 4.1: so does MPI_Compare_and_swap of 8 bytes in memory of MPI_Win_allocate.
 */
static bool crashes(const work_plan_t *plan, int64_t elements)
{
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40300000
    return strcmp(plan->operation->name, "reduce") == 0 && plan->in_place && plan->root != 0 && elements > 256;
#elif defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
    (void)elements;
    return plan->operation->shape->compares && plan->window == WINDOW_ALLOCATE && plan->element->bytes == 8;
#else
    (void)plan;
    (void)elements;
    return false;
#endif
}

static void check_call(work_t *work, const work_plan_t *plan, int64_t elements, int64_t call)
{
    char what[80];
    int64_t wrong = 0;
    int code = work_check(work, call, &wrong);

    checks++;
    if (code != MPI_SUCCESS)
        complain(plan, elements, call, "the call failed");
    if (wrong != faults_made && delivers_old_data(plan->operation)) {
        known_faults++;
    } else if (wrong != faults_made) {
        snprintf(what, sizeof what, "%lld elements are wrong instead of %lld", (long long)wrong,
                 (long long)faults_made);
        complain(plan, elements, call, what);
    }
}

/* The same without validation, which must leave the operation able to go on. */
static void just_call(work_t *work, const work_plan_t *plan, int64_t elements, int64_t call)
{
    int code;

    work_prepare(work, call);
    if (!operation_has_halves(plan->operation)) {
        code = work_call(work);
    } else {
        code = work_start(work);
        if (code == MPI_SUCCESS)
            code = work_test(work);
        if (code == MPI_SUCCESS)
            code = work_finish(work);
    }
    if (code == MPI_SUCCESS)
        code = work_leave(work);
    if (code != MPI_SUCCESS)
        complain(plan, elements, call, "start, test and finish failed");
}

enum { MANY_ELEMENTS = 5000, CALLS = 3, SKIPPED = 77 };

/* As messages between more ranks or threads than cores are slow, these do less. */
static bool is_crowded(const operation_t *operation)
{
    return world.ranks > 2 || operation->shape->has_threads;
}

static void check_size(work_t *work, const work_plan_t *plan, int64_t elements, bool with_faults)
{
    work_set_size(work, elements * plan->element->bytes);
    if (world.ranks <= 2)
        just_call(work, plan, elements, 0);
    for (int64_t call = 1; call <= (is_crowded(plan->operation) ? 1 : CALLS); call++) {
        faulty_work = with_faults ? work : NULL;
        check_call(work, plan, elements, call);
        faulty_work = NULL;
        faults_made = 0;
    }
}

static void check_plan(work_plan_t *plan, bool with_faults)
{
    const int64_t sizes[] = {7, MANY_ELEMENTS, 1, 0};
    const operation_t *operation = plan->operation;
    operation_t faulty = *operation;
    int size_count = !operation_has_size(operation) ? 1 : is_crowded(operation) ? 2 : 4;

    faulty.call = call_and_spoil;
    true_operation = operation;
    plan->max_bytes = (int64_t)MANY_ELEMENTS * plan->element->bytes;
    plan->cache_bytes = CACHE_BYTES;
    if (with_faults)
        plan->operation = &faulty;
    char *memory = arena_allocate(work_bytes(plan));
    if (!memory)
        world_abort(&world, "out of memory");
    work_t *work = work_open(plan, memory);
    for (int i = 0; i < size_count; i++) {
        if (!crashes(plan, sizes[i]))
            check_size(work, plan, sizes[i], with_faults);
    }
    work_close(work);
    free(memory);
    plan->operation = operation;
}

/* Each synchronization. Windows and buffers that rotate differ from operation to operation. */
static void check_one_sided(const work_plan_t *usual, bool with_faults)
{
    work_plan_t plan = *usual;
    int first = usual->operation->shape->directions == 2 ? SYNCHRONIZED_BY_PSCW : 0;
    int number = operation_find(usual->operation->name);
    for (int i = first; synchronizations[i]; i++, number++) {
        if (usual->operation->shape->reaches_all && !synchronization_is_of_all((synchronization_t)i))
            continue;
        plan.synchronization = (synchronization_t)i;
        plan.window = (window_kind_t)(number % (WINDOW_DYNAMIC + 1));
        plan.cache = number % 2 == 0 ? CACHE_WARM : CACHE_ROTATE;
        check_plan(&plan, with_faults);
    }
    plan.element = element_named(usual->operation->shape->compares ? "mpi_long" : "mpi_double");
    check_plan(&plan, with_faults);
}

/* Of more than two ranks, accesses to all: each synchronization, as the accesses of several meet in one memory. */
static void check_all_targets(const work_plan_t *usual, bool with_faults)
{
    work_plan_t plan = *usual;
    for (int i = 0; synchronizations[i]; i++) {
        plan.synchronization = (synchronization_t)i;
        plan.window = (window_kind_t)(i % (WINDOW_DYNAMIC + 1));
        if (synchronization_is_of_all(plan.synchronization))
            check_plan(&plan, with_faults);
    }
}

/* An edge from rank 0 to the last one, which is rank 0 if it is alone, and no other. */
static const neighborhood_t sparse = {.kind = NEIGHBORHOOD_GRAPH};
static number_pair_t sparse_edge;
static const pair_list_t graph = {.count = 1, .pairs = &sparse_edge};

/* Of seven elements, each has three. */
static const layout_t vector = {.kind = LAYOUT_VECTOR, .stride = 2, .block = 1};
static const layout_t indexed = {.kind = LAYOUT_INDEXED};
static number_pair_t block_pairs[] = {{1, 1}, {3, 2}, {6, 3}, {4000, 1000}};
static const pair_list_t some_blocks = {.count = 4, .pairs = block_pairs};

/* Each of these differs from the usual in one respect, or few. */
static void check_operation(const operation_t *operation, bool with_faults)
{
    bool allows_in_place = operation_allows_in_place(operation);
    bool is_persistent = operation_keeps_buffers(operation);
    const work_plan_t usual = {.span = &world,
                               .operation = operation,
                               .comm = MPI_COMM_WORLD,
                               .element = element_named("mpi_int"),
                               .reduction = reduction_named("sum"),
                               .path = path,
                               .root = world.ranks - 1};
    work_plan_t plan = usual;

    if (operation->form == FORM_ONE_SIDED && world.ranks <= 2) {
        check_one_sided(&usual, with_faults);
        return;
    }
    if (operation->shape->reaches_all) {
        check_all_targets(&usual, with_faults);
        return;
    }
    if (operation->form == FORM_ONE_SIDED)
        plan.synchronization = SYNCHRONIZED_BY_FENCE;
    if (world.ranks > 2) {
        plan.in_place = allows_in_place && operation->form == FORM_NONBLOCKING;
        check_plan(&plan, with_faults);
        return;
    }
    check_plan(&plan, with_faults);
    if (allows_in_place) {
        plan.in_place = true;
        check_plan(&plan, with_faults);
    }
    if (!with_faults && strcmp(operation->name, "reduce_scatter") == 0) {
        plan.uneven_seed = 1;
        check_plan(&plan, with_faults);
    }
    if (operation->shape->has_root) {
        plan.root = ROOT_ROTATES;
        check_plan(&plan, with_faults);
        plan.in_place = false;
        check_plan(&plan, with_faults);
    }
    if (operation_allows_layout(operation)) {
        plan.layout = &vector;
        check_plan(&plan, with_faults);
        plan.layout = &indexed;
        plan.blocks = &some_blocks;
        check_plan(&plan, with_faults);
    }
    plan = usual;
    if (operation->shape->has_neighbors && !operation_hangs_at_sinks(operation)) {
        plan.neighborhood = &sparse;
        plan.graph = &graph;
        check_plan(&plan, with_faults);
        plan = usual;
    }
    if (operation->shape->has_threads) {
        plan.senders = 3;
        check_plan(&plan, with_faults);
    }
    plan.cache = is_persistent ? CACHE_COLD : CACHE_ROTATE;
    plan.element = element_named("mpi_double");
    check_plan(&plan, with_faults);
}

static void check_datatypes(bool with_faults)
{
    work_plan_t plan = {.span = &world,
                        .operation = operation_at(operation_find("alltoall")),
                        .comm = MPI_COMM_WORLD,
                        .reduction = reductions};

    for (plan.element = datatypes; plan.element->name; plan.element++)
        check_plan(&plan, with_faults);
    plan.operation = operation_at(operation_find("allreduce"));
    for (; plan.reduction->name; plan.reduction++)
        for (plan.element = datatypes; plan.element->name; plan.element++)
            if (reduction_allows(plan.reduction, plan.element))
                check_plan(&plan, with_faults);
}

/* ---- Refusals */

static void expect_too_large(const char *operation, int64_t max_bytes, bool is_too_large)
{
    const work_plan_t plan = {.comm = MPI_COMM_WORLD,
                              .operation = operation_at(operation_find(operation)),
                              .element = element_named("mpi_int"),
                              .reduction = reductions,
                              .max_bytes = max_bytes};
    checks++;
    if ((work_bytes(&plan) < 0) != is_too_large)
        complain(&plan, max_bytes / 4, 0, is_too_large ? "is not refused" : "is refused");
}

/* Empty messages have addresses, too. */
static void expect_room(cache_mode_t cache)
{
    const work_plan_t plan = {.comm = MPI_COMM_WORLD,
                              .operation = operation_at(operation_find("bcast")),
                              .element = datatypes,
                              .reduction = reductions,
                              .cache = cache,
                              .cache_bytes = CACHE_BYTES};
    arena_t arena = arena_open(NULL, cache, 1, 0, CACHE_BYTES);
    checks++;
    if (work_bytes(&plan) < arena.bytes + arena.eviction_bytes)
        complain(&plan, 0, 0, "has too little memory");
}

/* Of rank 0 of grids, whatever the ranks here. */
static void expect_neighbors(const neighborhood_t *neighborhood, int ranks, int count, const int *list)
{
    neighbors_t neighbors = neighbors_find(neighborhood, NULL, 0, ranks);
    bool is_right = neighbors.sources == count && neighbors.destinations == count;
    checks++;
    for (int i = 0; is_right && i < count; i++)
        is_right = neighbors.source[i] == list[i] && neighbors.destination[i] == list[i];
    if (!is_right) {
        complaints++;
        printf("rank 0 of %d has other neighbors in %s\n", ranks, neighborhood->text);
    }
    neighbors_free(&neighbors);
}

static void check_grids(void)
{
    neighborhood_t square = {.dimensions = 2, .radius = 1, .text = "cart:2:1"}, cross = square, cube = square;
    cross.has_faces = cube.has_faces = true;
    cube.dimensions = 3;
    strcpy(cross.text, "faces:2");
    strcpy(cube.text, "faces:3");
    expect_neighbors(&square, 4, 3, (const int[]){3, 2, 1});
    expect_neighbors(&cross, 4, 2, (const int[]){2, 1});
    expect_neighbors(&cross, 12, 4, (const int[]){9, 2, 1, 3}); /* four by three */
    expect_neighbors(&cube, 8, 3, (const int[]){4, 2, 1});
}

static void check_refusals(void)
{
    expect_room(CACHE_WARM);
    expect_room(CACHE_ROTATE);
    expect_room(CACHE_COLD);
    expect_too_large("bcast", 4, false);
    expect_too_large("bcast", INT64_MAX - 3, true);
    expect_too_large("bcast", INT64_C(1) << 45, true);
    expect_too_large("alltoallw", INT64_C(1) << 30, world.ranks > 2); /* the last displacement is 2 GiB at 3 ranks */
}

/* ---- */

static bool runs(const operation_t *operation, bool with_faults)
{
    return operation->shape->min_ranks <= world.ranks &&
           !((with_faults || world.ranks > 2) && delivers_old_data(operation));
}

static void check_all(bool with_faults)
{
    for (int i = 0; operation_at(i); i++)
        if (!operation_at(i)->shape->has_threads && runs(operation_at(i), with_faults))
            check_operation(operation_at(i), with_faults);
    if (world.ranks <= 2)
        check_datatypes(with_faults);
    if (!with_faults) {
        check_refusals();
        check_grids();
    }
}

static void check_threads(void)
{
    for (int i = 0; operation_at(i); i++)
        if (operation_at(i)->shape->has_threads) {
            check_operation(operation_at(i), false);
            check_operation(operation_at(i), true);
        }
}

int main(int argc, char **argv)
{
    bool with_faults = argc > 1 && strcmp(argv[1], "faults") == 0, with_threads = argc > 1 && !with_faults;
    long all[3];

    if (with_threads)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &world.thread_level);
    else
        MPI_Init(&argc, &argv);
    world.comm = MPI_COMM_WORLD;
    MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world.ranks);
    sparse_edge.second = world.ranks - 1;
    snprintf(path, sizeof path, "/tmp/check_operations.%d", (int)getpid());
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (with_threads && (operation_absence("latency_mt") || world.thread_level != MPI_THREAD_MULTIPLE)) {
        MPI_Finalize();
        return SKIPPED;
    }
    if (with_threads)
        check_threads();
    else
        check_all(with_faults);
    all[0] = checks;
    all[1] = complaints;
    all[2] = known_faults;
    MPI_Allreduce(MPI_IN_PLACE, all, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (world.rank == 0 && all[2] > 0)
        printf("%ld of these found known faults of this MPI library\n", all[2]);
    if (world.rank == 0)
        printf("%ld checks, %ld complaints\n", all[0], all[1]);
    MPI_Finalize();
    return all[1] == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
