/* SPDX-License-Identifier: BSD-3-Clause */
/* probe_check.c - random calls of an operation, compared with what the standard demands. */
#include "common/random.h"
#include "tune/operation.h"
#include "tune/probe.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks are short, as most algorithms differ where counts are small, and at times longer than a page. */
enum { MAX_COUNT = 20000, MAX_BYTES = 8 };

typedef enum element { ELEMENT_CHAR, ELEMENT_INT, ELEMENT_WIDE, ELEMENT_DOUBLE, ELEMENTS } element_t;

/* The last does not commute: the composition of x -> a x + b, with a and b in the halves of a number. */
typedef enum combination { BY_SUM, BY_MAX, BY_OWN_SUM, BY_COMPOSITION, COMBINATIONS } combination_t;

typedef struct check {
    operation_kind_t kind;
    int rank, ranks;
    bool allows_in_place;
    element_t element;
    combination_t combination;
    MPI_Op own[2]; /* of the program */
    uint64_t number;
    probe_call_t call;
    int *counts;
    char *send, *receive, *expected;
} check_t;

static int random_below(uint64_t *state, int limit)
{
    return (int)(random_next(state) % (uint64_t)limit);
}

/* ---- Elements */

static size_t bytes_of(element_t element)
{
    static const size_t bytes[] = {1, sizeof(int32_t), sizeof(uint64_t), sizeof(double)};
    return bytes[element];
}

static MPI_Datatype type_of(element_t element)
{
    const MPI_Datatype types[] = {MPI_CHAR, MPI_INT32_T, MPI_UINT64_T, MPI_DOUBLE};
    return types[element];
}

static uint64_t compose(uint64_t outer, uint64_t inner)
{
    uint32_t a = (uint32_t)(outer >> 32), b = (uint32_t)outer, c = (uint32_t)(inner >> 32), d = (uint32_t)inner;
    return (uint64_t)(a * c) << 32 | (uint32_t)(a * d + b);
}

/* cppcheck-suppress constParameter ; MPI says what it takes */
static void own_sum(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((uint64_t *)inout)[i] += ((uint64_t *)in)[i];
}

/* cppcheck-suppress constParameter */
static void own_composition(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((uint64_t *)inout)[i] = compose(((uint64_t *)in)[i], ((uint64_t *)inout)[i]);
}

/* What a rank gives to a block, as a number that each element holds exactly, or for numbers of the whole width. */
static uint64_t given(const check_t *check, int rank, int block, int index)
{
    uint64_t state = check->number * 1000003 + (uint64_t)rank * 8191 + (uint64_t)block * 131 + (uint64_t)index;
    return random_next(&state);
}

static void put(element_t element, char *at, uint64_t value)
{
    const int32_t narrow = (int32_t)(value % 1000);
    const double real = (double)(value % 1000);
    if (element == ELEMENT_CHAR)
        *at = (char)value;
    else if (element == ELEMENT_INT)
        memcpy(at, &narrow, sizeof narrow);
    else if (element == ELEMENT_WIDE)
        memcpy(at, &value, sizeof value);
    else
        memcpy(at, &real, sizeof real);
}

static void fill(const check_t *check, char *at, int rank, int block, int count)
{
    for (int i = 0; i < count; i++)
        put(check->element, at + (size_t)i * bytes_of(check->element), given(check, rank, block, i));
}

/* The element that a reduction over all ranks gives. Those of some bits are small, so that their sums are exact. */
static uint64_t reduced(const check_t *check, int block, int index)
{
    bool is_wide = check->element == ELEMENT_WIDE;
    uint64_t result = 0;
    for (int rank = 0; rank < check->ranks; rank++) {
        uint64_t value = given(check, rank, block, index);
        value = is_wide ? value : value % 1000;
        if (rank == 0)
            result = value;
        else if (check->combination == BY_MAX)
            result = value > result ? value : result;
        else
            result = check->combination == BY_COMPOSITION ? compose(result, value) : result + value;
    }
    return result;
}

static void put_reduced(const check_t *check, char *at, uint64_t value)
{
    const int32_t narrow = (int32_t)value;
    const double real = (double)value;
    if (check->element == ELEMENT_INT)
        memcpy(at, &narrow, sizeof narrow);
    else if (check->element == ELEMENT_WIDE)
        memcpy(at, &value, sizeof value);
    else
        memcpy(at, &real, sizeof real);
}

/* ---- One call */

static int count_of(const check_t *check, int block)
{
    return check->kind == OPERATION_REDUCE_SCATTER ? check->counts[block] : check->call.count;
}

static char *place_of(const check_t *check, char *buffer, int block)
{
    size_t before = 0;
    for (int i = 0; i < block; i++)
        before += (size_t)count_of(check, i);
    return buffer + before * bytes_of(check->element);
}

/* Whether this rank's input has a block for each rank, and whether its output has. */
static bool gives_blocks(const check_t *check)
{
    return check->kind == OPERATION_ALLTOALL || check->kind == OPERATION_REDUCE_SCATTER ||
           (check->kind == OPERATION_SCATTER && check->rank == check->call.root);
}

static bool takes_blocks(const check_t *check)
{
    return check->kind == OPERATION_ALLTOALL || check->kind == OPERATION_ALLGATHER ||
           (check->kind == OPERATION_GATHER && check->rank == check->call.root);
}

static bool takes(const check_t *check)
{
    bool to_root = check->kind == OPERATION_GATHER || check->kind == OPERATION_REDUCE;
    return !to_root || check->rank == check->call.root;
}

/* The input is in the place that the call reads: with MPI_IN_PLACE that is in the output. */
static void prepare(check_t *check)
{
    bool in_place = check->call.is_in_place && takes(check) && check->kind != OPERATION_SCATTER;
    char *at = in_place || check->kind == OPERATION_BCAST ? check->receive : check->send;
    bool owns_block = in_place && (check->kind == OPERATION_ALLGATHER || check->kind == OPERATION_GATHER);
    if (check->kind == OPERATION_BCAST && check->rank != check->call.root)
        return;
    if (owns_block)
        at = place_of(check, at, check->rank);
    for (int block = 0; block < (gives_blocks(check) ? check->ranks : 1); block++)
        fill(check, place_of(check, at, block), check->rank, block, count_of(check, block));
}

static void expect_block(const check_t *check, int block)
{
    bool is_reduction = operations[check->kind].is_reduction, is_own = check->kind == OPERATION_REDUCE_SCATTER;
    int count = count_of(check, is_own ? check->rank : block);
    char *at = takes_blocks(check) ? place_of(check, check->expected, block) : check->expected;
    for (int i = 0; is_reduction && i < count; i++)
        put_reduced(check, at + (size_t)i * bytes_of(check->element), reduced(check, is_own ? check->rank : 0, i));
    if (is_reduction)
        return;
    bool from_root = check->kind == OPERATION_BCAST || check->kind == OPERATION_SCATTER;
    bool is_for_me = check->kind == OPERATION_SCATTER || check->kind == OPERATION_ALLTOALL;
    fill(check, at, from_root ? check->call.root : block, is_for_me ? check->rank : 0, count);
}

static bool is_right(const check_t *check)
{
    int blocks = takes_blocks(check) ? check->ranks : 1;
    bool keeps_own = check->call.is_in_place && check->kind == OPERATION_SCATTER && check->rank == check->call.root;
    if (!takes(check) || keeps_own)
        return true;
    for (int block = 0; block < blocks; block++)
        expect_block(check, block);
    int count = count_of(check, check->kind == OPERATION_REDUCE_SCATTER ? check->rank : 0);
    return memcmp(check->receive, check->expected, (size_t)blocks * (size_t)count * bytes_of(check->element)) == 0;
}

/* Half of all counts are at most those of ranks, the others up to the most. The same on all ranks. */
static int draw_count(uint64_t *state, int ranks)
{
    if (random_below(state, 2) == 0)
        return random_below(state, ranks + 2);
    return random_below(state, 1 + random_below(state, MAX_COUNT));
}

static void draw(check_t *check, uint64_t *state)
{
    bool is_reduction = operations[check->kind].is_reduction;
    const MPI_Op ops[] = {MPI_SUM, MPI_MAX, check->own[0], check->own[1]};
    check->number = random_next(state);
    check->combination = (combination_t)random_below(state, COMBINATIONS);
    check->element = (element_t)random_below(state, ELEMENTS);
    if (is_reduction && check->element == ELEMENT_CHAR)
        check->element = ELEMENT_INT;
    /* MPICH 4.0.2 takes numbers without a sign for signed ones in MPI_MAX. */
    if (check->element == ELEMENT_WIDE && check->combination == BY_MAX)
        check->element = ELEMENT_INT;
    if (is_reduction && check->combination >= BY_OWN_SUM)
        check->element = ELEMENT_WIDE;
    check->call = (probe_call_t){.kind = check->kind,
                                 .type = type_of(check->element),
                                 .op = ops[check->combination],
                                 .counts = check->counts,
                                 .count = draw_count(state, check->ranks),
                                 .root = random_below(state, check->ranks),
                                 .is_in_place = check->allows_in_place && random_below(state, 3) == 0};
    for (int i = 0; i < check->ranks; i++)
        check->counts[i] = random_below(state, check->call.count + 1);
}

/* ---- All calls */

static bool allocate(check_t *check)
{
    size_t bytes = (size_t)(MAX_COUNT + check->ranks + 2) * MAX_BYTES * (size_t)check->ranks;
    check->counts = calloc((size_t)check->ranks, sizeof *check->counts);
    check->send = malloc(bytes);
    check->receive = malloc(bytes);
    check->expected = malloc(bytes);
    return check->counts && check->send && check->receive && check->expected;
}

static void run(check_t *check, uint64_t state, int calls, int wrong[2])
{
    for (int i = 0; i < calls; i++) {
        draw(check, &state);
        prepare(check);
        int bad = operation_call(&check->call, check->send, check->receive) != MPI_SUCCESS || !is_right(check);
        bool commutes = !operations[check->kind].is_reduction || check->combination != BY_COMPOSITION;
        wrong[commutes ? 0 : 1] += bad;
    }
}

/* The sums go by messages between two, as collective operations are what is checked. */
static void collect(const check_t *check, int wrong[2])
{
    int other[2];
    for (int i = 1; i < check->ranks && check->rank == 0; i++) {
        MPI_Recv(other, 2, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        wrong[0] += other[0];
        wrong[1] += other[1];
    }
    if (check->rank != 0)
        MPI_Send(wrong, 2, MPI_INT, 0, 0, MPI_COMM_WORLD);
}

int probe_check(int kind, unsigned long long seed, int calls, bool in_place)
{
    check_t check = {.kind = (operation_kind_t)kind, .allows_in_place = in_place && kind != OPERATION_BCAST};
    int wrong[2] = {0};
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &check.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check.ranks);
    MPI_Op_create(own_sum, 1, &check.own[0]);
    MPI_Op_create(own_composition, 0, &check.own[1]);
    if (!allocate(&check))
        MPI_Abort(MPI_COMM_WORLD, 1);
    run(&check, seed, calls, wrong);
    collect(&check, wrong);
    if (check.rank == 0)
        printf("{\"calls\": %d, \"wrong\": %d, \"wrong_if_not_commutative\": %d}\n", calls, wrong[0], wrong[1]);
    MPI_Op_free(&check.own[0]);
    MPI_Op_free(&check.own[1]);
    free(check.counts);
    free(check.send);
    free(check.receive);
    free(check.expected);
    MPI_Finalize();
    return wrong[0] + wrong[1] == 0 ? 0 : 1;
}
