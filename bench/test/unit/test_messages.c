/* SPDX-License-Identifier: BSD-3-Clause */
/* test_messages.c - what the suite's messages hold, and where they lie from call to call. */
#include "common/cli/options.h"
#include "bench/suite/arena.h"
#include "bench/suite/elements.h"
#include "unit/support.h"

enum { MANY_RANKS = 1000, ELEMENTS = 200 };

/* How often wrong elements are counted, which takes the values of all ranks each time. */
enum { COUNTED_EACH = 19 };

/* ---- Reductions of many ranks, in the type itself and in either order */

#define REDUCE(name, type, expression)                                                  \
    static void name(const values_t *values, bool backwards, void *block)               \
    {                                                                                   \
        type *result = block;                                                           \
        for (int i = 0; i < MANY_RANKS; i++) {                                          \
            type part[ELEMENTS];                                                        \
            values_fill(values, backwards ? MANY_RANKS - 1 - i : i, 3, part, ELEMENTS); \
            for (int j = 0; j < ELEMENTS; j++) {                                        \
                type a = result[j], b = part[j];                                        \
                result[j] = i == 0 ? b : (type)(expression);                            \
            }                                                                           \
        }                                                                               \
    }

REDUCE(sum_of_chars, signed char, a + b)
REDUCE(product_of_chars, signed char, a *b)
REDUCE(sum_of_floats, float, a + b)
REDUCE(product_of_floats, float, a *b)
REDUCE(max_of_floats, float, a > b ? a : b)
REDUCE(min_of_ints, int, a < b ? a : b)
REDUCE(sum_of_ints, int, a + b)
REDUCE(and_of_ints, int, a &&b)
REDUCE(xor_of_ints, int, !a != !b)
REDUCE(bits_or_of_shorts, unsigned short, a | b)
REDUCE(bits_and_of_bytes, unsigned char, a &b)

static const struct {
    const char *element;
    const char *reduction;
    void (*reduce)(const values_t *values, bool backwards, void *block);
} reduced[] = {
    {"mpi_signed_char", "sum", sum_of_chars}, {"mpi_signed_char", "prod", product_of_chars},
    {"mpi_float", "sum", sum_of_floats},      {"mpi_float", "prod", product_of_floats},
    {"mpi_float", "max", max_of_floats},      {"mpi_int", "min", min_of_ints},
    {"mpi_int", "sum", sum_of_ints},          {"mpi_int", "land", and_of_ints},
    {"mpi_int", "lxor", xor_of_ints},         {"mpi_unsigned_short", "bor", bits_or_of_shorts},
    {"mpi_byte", "band", bits_and_of_bytes},
};

LOOP_TEST(reductions_are_exact, COUNT_OF(reduced))
{
    const element_t *element = element_named(reduced[_i].element);
    const values_t values = {element, reduction_named(reduced[_i].reduction), MANY_RANKS, 5};
    const origin_t all = {0, MANY_RANKS - 1, 3, 1, 0};
    char *block = calloc(ELEMENTS, (size_t)element->bytes);

    ck_assert_ptr_nonnull(block);
    for (int backwards = 0; backwards < 2; backwards++) {
        reduced[_i].reduce(&values, backwards, block);
        ck_assert_msg(values_wrong(&values, &all, block, ELEMENTS) == 0, "%s of %s", reduced[_i].reduction,
                      reduced[_i].element);
    }
    for (int64_t i = 0; i < ELEMENTS; i++) {
        block[i * element->bytes] ^= 1;
        if (i % COUNTED_EACH == 0 || i == ELEMENTS - 1)
            ck_assert_int_eq(values_wrong(&values, &all, block, ELEMENTS), i + 1);
    }
    free(block);
}

/* Of any rank some elements of a sum tell, and of all of them a result lacks none unnoticed. */
TEST(each_rank_is_seen_in_sums)
{
    const values_t values = {element_named("mpi_signed_char"), reduction_named("sum"), MANY_RANKS, 7};

    for (int rank = 0; rank < MANY_RANKS; rank++) {
        int seen = 0;
        for (int64_t i = 0; i < ELEMENTS; i++)
            seen += values_of(&values, rank, 0, i).first != 0;
        ck_assert_int_gt(seen, 0);
    }
}

/* Those of a pair, which are not successive ranks. */
TEST(steps_pass_over_ranks)
{
    const values_t values = {element_named("mpi_int"), reduction_named("sum"), 6, 7};
    const origin_t pair = {1, 4, 0, 3, 0}, all = {1, 4, 0, 1, 0};
    int64_t first = values_of(&values, 1, 0, 0).first, second = values_of(&values, 4, 0, 0).first;
    int sum = (int)(first + second);
    ck_assert_int_eq(values_wrong(&values, &pair, &sum, 1), 0);
    ck_assert_int_eq(values_wrong(&values, &all, &sum, 1), 1);
}

/* Data of another rank, place, call or index are taken for the right ones by chance only. */
TEST(values_tell_where_they_come_from)
{
    const values_t values = {element_named("mpi_int"), NULL, 4, 7};
    const values_t next_call = {element_named("mpi_int"), NULL, 4, 8};
    int block[ELEMENTS + 1];
    const origin_t right = {1, 1, 2, 1, 0}, other_rank = {2, 2, 2, 1, 0}, other_place = {1, 1, 1, 1, 0},
                   none = {1, 0, 2, 1, 0};

    values_fill(&values, 1, 2, block, ELEMENTS + 1);
    ck_assert_int_eq(values_wrong(&values, &right, block, ELEMENTS), 0);
    ck_assert_int_eq(values_wrong(&values, &none, block, ELEMENTS), 0);
    ck_assert_int_ge(values_wrong(&values, &other_rank, block, ELEMENTS), ELEMENTS - 1);
    ck_assert_int_ge(values_wrong(&values, &other_place, block, ELEMENTS), ELEMENTS - 1);
    ck_assert_int_ge(values_wrong(&next_call, &right, block, ELEMENTS), ELEMENTS - 1);
    ck_assert_int_ge(values_wrong(&values, &right, block + 1, ELEMENTS), ELEMENTS - 1);
}

TEST(reductions_are_defined_as_in_mpi)
{
    ck_assert(reduction_allows(reduction_named("sum"), element_named("mpi_c_float_complex")));
    ck_assert(!reduction_allows(reduction_named("max"), element_named("mpi_c_float_complex")));
    ck_assert(!reduction_allows(reduction_named("sum"), element_named("mpi_char")));
    ck_assert(!reduction_allows(reduction_named("sum"), element_named("mpi_byte")));
    ck_assert(reduction_allows(reduction_named("bxor"), element_named("mpi_byte")));
    ck_assert(!reduction_allows(reduction_named("bxor"), element_named("mpi_double")));
    ck_assert(reduction_allows(reduction_named("land"), element_named("mpi_c_bool")));
    ck_assert(reduction_allows(reduction_named("maxloc"), element_named("mpi_2int")));
    ck_assert(!reduction_allows(reduction_named("maxloc"), element_named("mpi_int")));
}

/* ---- Arenas */

enum { CACHE_BYTES = 1 << 20 };

TEST(rings_exceed_the_cache)
{
    const int64_t sizes[] = {1, 8, 100, 5000, 3 << 20};

    for (int i = 0; i < 5; i++) {
        char *send, *receive, *first = NULL, *before = NULL;
        char *memory = arena_allocate(arena_needs(CACHE_ROTATE, 3 << 20, 3 << 20, CACHE_BYTES));
        arena_t arena = arena_open(memory, CACHE_ROTATE, 3 << 20, 3 << 20, CACHE_BYTES);
        int64_t slots = 0;

        ck_assert_ptr_nonnull(memory);
        arena_set_size(&arena, sizes[i], sizes[i]);
        do {
            arena_slot(&arena, slots++, &send, &receive);
            EXPECT(send != before && send >= arena.memory && receive - send >= sizes[i] &&
                       receive + sizes[i] <= arena.memory + arena.bytes,
                   "size %" PRId64 ": slot %" PRId64 " is that before, or leaves the arena", sizes[i], slots);
            memset(send, 1, (size_t)sizes[i]);
            memset(receive, 1, (size_t)sizes[i]);
            before = send;
            if (!first)
                first = send;
            arena_slot(&arena, slots, &send, &receive);
        } while (send != first);
        ck_assert_int_eq(slots, arena.slots);
        ck_assert_int_ge(slots * arena.slot_bytes, CACHE_BYTES);
        free(memory);
    }
}

TEST(other_arenas_stay)
{
    for (int kind = CACHE_WARM; kind <= CACHE_COLD; kind += CACHE_COLD) {
        char *send[2], *receive[2];
        int64_t bytes = arena_needs((cache_mode_t)kind, 100, 100, CACHE_BYTES);
        char *memory = arena_allocate(bytes);
        arena_t arena = arena_open(memory, (cache_mode_t)kind, 100, 100, CACHE_BYTES);

        ck_assert_ptr_nonnull(memory);
        ck_assert_int_eq(arena.bytes + arena.eviction_bytes, bytes);
        arena_slot(&arena, 0, &send[0], &receive[0]);
        arena_slot(&arena, 1, &send[1], &receive[1]);
        ck_assert_ptr_eq(send[0], send[1]);
        ck_assert_ptr_eq(receive[0], receive[1]);
        ck_assert((arena.eviction_bytes > CACHE_BYTES) == (kind == CACHE_COLD));
        free(memory);
    }
}

TEST(needs_are_told)
{
    ck_assert_int_eq(arena_needs(CACHE_WARM, 0, 0, CACHE_BYTES), 0);
    ck_assert_int_eq(arena_needs(CACHE_WARM, 1, 4096, CACHE_BYTES), 8192);
    ck_assert_int_gt(arena_needs(CACHE_COLD, 1, 1, CACHE_BYTES), CACHE_BYTES);
    ck_assert_int_gt(arena_needs(CACHE_ROTATE, 1, 1, CACHE_BYTES), CACHE_BYTES);
    ck_assert_int_eq(arena_needs(CACHE_ROTATE, 10 << 20, 10 << 20, CACHE_BYTES), 40 << 20);
    ck_assert_int_eq(arena_needs(CACHE_WARM, INT64_MAX, 1, CACHE_BYTES), -1);
    ck_assert_int_eq(arena_needs(CACHE_WARM, INT64_MAX / 2, INT64_MAX / 2, CACHE_BYTES), -1);
    ck_assert_int_eq(arena_needs(CACHE_ROTATE, INT64_MAX / 3, INT64_MAX / 3, CACHE_BYTES), -1);
    ck_assert_int_gt(arena_cache_bytes(), 0);
}
