/* SPDX-License-Identifier: BSD-3-Clause */
/* elements.c - the tables of datatypes and reductions; fill messages and check results. */
#include "bench/suite/elements.h"

#include "common/cli/options.h"
#include "pure/random.h"

#include <stddef.h>

/* ---- Datatypes */

#define SCALAR(name, type)                                    \
    static void put_##name(void *at, int64_t number)          \
    {                                                         \
        *(type *)at = (type)number;                           \
    }                                                         \
    static bool equals_##name(const void *at, int64_t number) \
    {                                                         \
        return *(const type *)at == (type)number;             \
    }                                                         \
    static const scalar_t scalar_##name = {sizeof(type), put_##name, equals_##name};

/* A bool is read as a byte, because a wrong result may be any pattern of bits. */
SCALAR(char, unsigned char)
SCALAR(signed_char, signed char)
SCALAR(short, short)
SCALAR(unsigned_short, unsigned short)
SCALAR(int, int)
SCALAR(unsigned, unsigned)
SCALAR(long, long)
SCALAR(unsigned_long, unsigned long)
SCALAR(long_long, long long)
SCALAR(float, float)
SCALAR(double, double)
SCALAR(long_double, long double)

#define MAX(bits) ((INT64_C(1) << (bits)) - 1)
#define LONG_BITS (8 * sizeof(long) - 2)
#define ELEMENT(name, MPI_type, scalar, class, type, bits)                                \
    {                                                                                     \
#name, MPI_type, ELEMENT_##class, sizeof(type), MAX(bits), &scalar_##scalar, NULL \
    }
#define TWO(name, MPI_type, one, other, class, bits)                                                             \
    {                                                                                                            \
#name, MPI_type, ELEMENT_##class, sizeof(one) + sizeof(other), MAX(bits), &scalar_##one, &scalar_##other \
    }

/* The bits are one less than the type's if that is an integer, and those of the fraction if it is floating. */
const element_t datatypes[] = {
    ELEMENT(mpi_char, MPI_CHAR, char, TEXT, char, 7),
    ELEMENT(mpi_byte, MPI_BYTE, char, BYTE, unsigned char, 7),
    ELEMENT(mpi_signed_char, MPI_SIGNED_CHAR, signed_char, INTEGER, signed char, 7),
    ELEMENT(mpi_unsigned_char, MPI_UNSIGNED_CHAR, char, INTEGER, unsigned char, 7),
    ELEMENT(mpi_short, MPI_SHORT, short, INTEGER, short, 15),
    ELEMENT(mpi_unsigned_short, MPI_UNSIGNED_SHORT, unsigned_short, INTEGER, unsigned short, 15),
    ELEMENT(mpi_int, MPI_INT, int, INTEGER, int, 31),
    ELEMENT(mpi_unsigned, MPI_UNSIGNED, unsigned, INTEGER, unsigned, 31),
    ELEMENT(mpi_long, MPI_LONG, long, INTEGER, long, LONG_BITS),
    ELEMENT(mpi_unsigned_long, MPI_UNSIGNED_LONG, unsigned_long, INTEGER, unsigned long, LONG_BITS),
    ELEMENT(mpi_long_long, MPI_LONG_LONG, long_long, INTEGER, long long, 62),
    ELEMENT(mpi_float, MPI_FLOAT, float, FLOATING, float, 23),
    ELEMENT(mpi_double, MPI_DOUBLE, double, FLOATING, double, 52),
    ELEMENT(mpi_long_double, MPI_LONG_DOUBLE, long_double, FLOATING, long double, 52),
    ELEMENT(mpi_c_bool, MPI_C_BOOL, char, LOGICAL, _Bool, 1),
    TWO(mpi_c_float_complex, MPI_C_FLOAT_COMPLEX, float, float, COMPLEX, 23),
    TWO(mpi_c_double_complex, MPI_C_DOUBLE_COMPLEX, double, double, COMPLEX, 52),
    TWO(mpi_2int, MPI_2INT, int, int, PAIR, 31),
    TWO(mpi_float_int, MPI_FLOAT_INT, float, int, PAIR, 23),
    {0},
};

/* ---- Reductions */

/*
 * That no sum overflows however many ranks there are, at most so many of them contribute to an element anything but the
 * neutral number. Which ones differs from element to element.
 */
enum { SUM_CONTRIBUTORS = 16, PRODUCT_CONTRIBUTORS = 6, LOGICAL_CONTRIBUTORS = 2 };
enum { ALL_BITS = -1 };

#define ON(class) (1u << ELEMENT_##class)
#define ARITHMETIC (ON(INTEGER) | ON(FLOATING) | ON(COMPLEX))
#define ORDERED (ON(INTEGER) | ON(FLOATING))
#define TRUTH (ON(INTEGER) | ON(LOGICAL))
#define BITS (ON(INTEGER) | ON(BYTE))

const reduction_t reductions[] = {
    {"sum", MPI_SUM, ARITHMETIC, SUM_CONTRIBUTORS, 0, GIVES_TERM, BY_SUM},
    {"prod", MPI_PROD, ARITHMETIC, PRODUCT_CONTRIBUTORS, 1, GIVES_FACTOR, BY_PRODUCT},
    {"max", MPI_MAX, ORDERED, EVERYONE, 0, GIVES_ANY, BY_MAX},
    {"min", MPI_MIN, ORDERED, EVERYONE, 0, GIVES_ANY, BY_MIN},
    {"land", MPI_LAND, TRUTH, LOGICAL_CONTRIBUTORS, 1, GIVES_TRUTH, BY_AND},
    {"lor", MPI_LOR, TRUTH, LOGICAL_CONTRIBUTORS, 0, GIVES_TRUTH, BY_OR},
    {"lxor", MPI_LXOR, TRUTH, EVERYONE, 0, GIVES_TRUTH, BY_XOR},
    {"band", MPI_BAND, BITS, LOGICAL_CONTRIBUTORS, ALL_BITS, GIVES_ANY, BY_AND},
    {"bor", MPI_BOR, BITS, LOGICAL_CONTRIBUTORS, 0, GIVES_ANY, BY_OR},
    {"bxor", MPI_BXOR, BITS, EVERYONE, 0, GIVES_ANY, BY_XOR},
    {"maxloc", MPI_MAXLOC, ON(PAIR), EVERYONE, 0, GIVES_PLACE, BY_MAX},
    {"minloc", MPI_MINLOC, ON(PAIR), EVERYONE, 0, GIVES_PLACE, BY_MIN},
    {0},
};

const element_t *element_named(const char *name)
{
    return &datatypes[names_find(NAMES(datatypes), name)];
}

const reduction_t *reduction_named(const char *name)
{
    return &reductions[names_find(NAMES(reductions), name)];
}

bool reduction_allows(const reduction_t *reduction, const element_t *element)
{
    return (reduction->classes >> element->class & 1) != 0;
}

static number_t contribute(const reduction_t *reduction, const element_t *element, uint64_t random, int rank)
{
    bool is_complex = element->class == ELEMENT_COMPLEX;
    uint64_t limit = (uint64_t)element->max / SUM_CONTRIBUTORS;
    switch (reduction->contribution) {
    case GIVES_TERM: /* not 0, or a rank's contribution might be missing unnoticed */
        return (number_t){1 + (int64_t)(random % limit), is_complex ? (int64_t)((random >> 32) % limit) : 0};
    case GIVES_FACTOR: /* 1 or 2; of complex numbers 1, i, 1 + i, 2 */
        if (!is_complex)
            return (number_t){1 + (int64_t)(random & 1), 0};
        return (random & 3) == 0 ? (number_t){2, 0} : (number_t){(int64_t)(random & 1), (int64_t)(random >> 1 & 1)};
    case GIVES_ANY:
        return (number_t){(int64_t)(random & (uint64_t)element->max), 0};
    case GIVES_TRUTH:
        return (number_t){(int64_t)(random & 1), 0};
    case GIVES_PLACE: /* from so few values that often several ranks have the extreme one, of which the lowest counts */
        return (number_t){(int64_t)(random & 7), rank};
    }
    return (number_t){0, 0};
}

uint64_t numbers_compose(uint64_t outer, uint64_t inner)
{
    uint32_t a = (uint32_t)(outer >> 32), b = (uint32_t)outer, c = (uint32_t)(inner >> 32), d = (uint32_t)inner;
    return (uint64_t)(a * c) << 32 | (uint32_t)(a * d + b);
}

static number_t combine(combination_t combination, number_t a, number_t b)
{
    switch (combination) {
    case BY_SUM:
        return (number_t){a.first + b.first, a.second + b.second};
    case BY_PRODUCT:
        return (number_t){a.first * b.first - a.second * b.second, a.first * b.second + a.second * b.first};
    case BY_MAX:
        return b.first > a.first ? b : a;
    case BY_MIN:
        return b.first < a.first ? b : a;
    case BY_AND:
        return (number_t){a.first & b.first, 0};
    case BY_OR:
        return (number_t){a.first | b.first, 0};
    case BY_XOR:
        return (number_t){a.first ^ b.first, 0};
    case BY_COMPOSITION:
        return (number_t){(int64_t)numbers_compose((uint64_t)a.first, (uint64_t)b.first), 0};
    }
    return a;
}

/* ---- Values */

/* The first numbers of a seed look random too. */
static uint64_t mix(uint64_t bits)
{
    return random_next(&bits);
}

static bool contributes(const values_t *values, int rank, int64_t index)
{
    int contributors = values->reduction->contributors;
    if (contributors == EVERYONE || values->ranks <= contributors)
        return true;
    int stride = (values->ranks + contributors - 1) / contributors;
    return (rank + index + values->call) % stride == 0;
}

number_t values_of(const values_t *values, int rank, int place, int64_t index)
{
    const element_t *element = values->element;
    const reduction_t *reduction = values->reduction;
    uint64_t random = mix(mix((uint64_t)values->call << 32 ^ (uint64_t)rank) ^ (uint64_t)place << 40 ^ (uint64_t)index);
    if (reduction && contributes(values, rank, index))
        return contribute(reduction, element, random, rank);
    if (reduction)
        return (number_t){reduction->neutral == ALL_BITS ? element->max : reduction->neutral, 0};
    return (number_t){(int64_t)(random & (uint64_t)element->max),
                      element->second ? (int64_t)(mix(random) & (uint64_t)element->max) : 0};
}

void values_fill(const values_t *values, int rank, int place, void *block, int64_t count)
{
    const element_t *element = values->element;
    char *at = block;
    for (int64_t i = 0; i < count; i++, at += element->bytes) {
        number_t number = values_of(values, rank, place, i);
        element->first->put(at, number.first);
        if (element->second)
            element->second->put(at + element->first->bytes, number.second);
    }
}

static number_t expected(const values_t *values, const origin_t *origin, int64_t index)
{
    number_t result = values_of(values, origin->first, origin->place, index);
    int step = origin->step > 0 ? origin->step : 1;
    for (int rank = origin->first + step; rank <= origin->last; rank += step)
        result = combine(values->reduction->combination, result, values_of(values, rank, origin->place, index));
    return result;
}

int64_t values_wrong(const values_t *values, const origin_t *origin, const void *block, int64_t count)
{
    const element_t *element = values->element;
    const char *at = block;
    int64_t wrong = 0;
    if (origin->last < origin->first)
        return 0;
    for (int64_t i = 0; i < count; i++, at += element->bytes) {
        number_t number = expected(values, origin, origin->index + i);
        wrong += !element->first->equals(at, number.first) ||
                 (element->second && !element->second->equals(at + element->first->bytes, number.second));
    }
    return wrong;
}
