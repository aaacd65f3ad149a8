/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite/elements.h"

#include "common/random.h"

#include <complex.h>
#include <stddef.h>

/* ---- Datatypes */

typedef struct int_pair {
    int value;
    int location;
} int_pair_t;

typedef struct float_pair {
    float value;
    int location;
} float_pair_t;

#define SCALAR(name, type)                                     \
    static void put_##name(void *at, number_t number)          \
    {                                                          \
        *(type *)at = (type)number.first;                      \
    }                                                          \
    static bool equals_##name(const void *at, number_t number) \
    {                                                          \
        return *(const type *)at == (type)number.first;        \
    }

#define COMPLEX(name, type)                                                     \
    static void put_##name(void *at, number_t number)                           \
    {                                                                           \
        ((type *)at)[0] = (type)number.first;                                   \
        ((type *)at)[1] = (type)number.second;                                  \
    }                                                                           \
    static bool equals_##name(const void *at, number_t number)                  \
    {                                                                           \
        const type *part = at;                                                  \
        return part[0] == (type)number.first && part[1] == (type)number.second; \
    }

#define PAIR(name, type)                                                                                     \
    static void put_##name(void *at, number_t number)                                                        \
    {                                                                                                        \
        type *pair = at;                                                                                     \
        pair->value = (__typeof__(pair->value))number.first;                                                 \
        pair->location = (int)number.second;                                                                 \
    }                                                                                                        \
    static bool equals_##name(const void *at, number_t number)                                               \
    {                                                                                                        \
        const type *pair = at;                                                                               \
        return pair->value == (__typeof__(pair->value))number.first && pair->location == (int)number.second; \
    }

/* As a wrong result may be any pattern of bits, a bool is read as a byte. */
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
COMPLEX(float_complex, float)
COMPLEX(double_complex, double)
PAIR(2int, int_pair_t)
PAIR(float_int, float_pair_t)

#define MOST(bits) ((INT64_C(1) << (bits)) - 1)
#define LONG_MOST MOST(8 * sizeof(long) - 2)
#define ELEMENT(label, functions, class, type, bits)                                \
    {                                                                               \
        label, class, sizeof(type), MOST(bits), put_##functions, equals_##functions \
    }

/* The bits are one less than the type's where that is an integer, and those of the fraction where it is floating. */
static const element_t elements[] = {
    ELEMENT("char", char, ELEMENT_TEXT, char, 7),
    ELEMENT("byte", char, ELEMENT_BYTE, unsigned char, 7),
    ELEMENT("signed_char", signed_char, ELEMENT_INTEGER, signed char, 7),
    ELEMENT("unsigned_char", char, ELEMENT_INTEGER, unsigned char, 7),
    ELEMENT("short", short, ELEMENT_INTEGER, short, 15),
    ELEMENT("unsigned_short", unsigned_short, ELEMENT_INTEGER, unsigned short, 15),
    ELEMENT("int", int, ELEMENT_INTEGER, int, 31),
    ELEMENT("unsigned", unsigned, ELEMENT_INTEGER, unsigned, 31),
    ELEMENT("long", long, ELEMENT_INTEGER, long, 8 * sizeof(long) - 2),
    ELEMENT("unsigned_long", unsigned_long, ELEMENT_INTEGER, unsigned long, 8 * sizeof(long) - 2),
    ELEMENT("long_long", long_long, ELEMENT_INTEGER, long long, 62),
    ELEMENT("float", float, ELEMENT_FLOATING, float, 23),
    ELEMENT("double", double, ELEMENT_FLOATING, double, 52),
    ELEMENT("long_double", long_double, ELEMENT_FLOATING, long double, 52),
    ELEMENT("bool", char, ELEMENT_LOGICAL, _Bool, 1),
    ELEMENT("float_complex", float_complex, ELEMENT_COMPLEX, float complex, 23),
    ELEMENT("double_complex", double_complex, ELEMENT_COMPLEX, double complex, 52),
    ELEMENT("2int", 2int, ELEMENT_PAIR, int_pair_t, 31),
    ELEMENT("float_int", float_int, ELEMENT_PAIR, float_pair_t, 23),
};

enum { ELEMENTS = sizeof(elements) / sizeof(elements[0]) };

const element_t *element_at(int index)
{
    return index >= 0 && index < ELEMENTS ? &elements[index] : NULL;
}

/* ---- Reductions */

/*
 * That no sum overflows however many ranks there are, at most so many of them contribute to an element anything but the
 * neutral number. Which ones differs from element to element.
 */
enum { EVERYONE = 0 };

typedef struct reduction {
    const char *name;
    unsigned classes; /* bit i: defined on class i */
    int contributors; /* or EVERYONE */
    number_t (*neutral)(const element_t *element);
    number_t (*contribute)(const element_t *element, uint64_t random, int rank);
    number_t (*combine)(number_t a, number_t b);
} reduction_t;

static number_t plain(int64_t first)
{
    return (number_t){first, 0};
}

static number_t neutral_0(const element_t *element)
{
    (void)element;
    return plain(0);
}

static number_t neutral_1(const element_t *element)
{
    (void)element;
    return plain(1);
}

static number_t neutral_all_bits(const element_t *element)
{
    return plain(element->most);
}

enum { SUM_CONTRIBUTORS = 16, PRODUCT_CONTRIBUTORS = 6, LOGICAL_CONTRIBUTORS = 2 };

/* Not 0, or a rank's contribution might be missing unnoticed. */
static number_t contribute_sum(const element_t *element, uint64_t random, int rank)
{
    uint64_t limit = (uint64_t)element->most / SUM_CONTRIBUTORS;
    (void)rank;
    return (number_t){1 + (int64_t)(random % limit),
                      element->class == ELEMENT_COMPLEX ? (int64_t)((random >> 32) % limit) : 0};
}

/* 1 or 2; of complex numbers 1, i, 1 + i, 2. */
static number_t contribute_factor(const element_t *element, uint64_t random, int rank)
{
    (void)rank;
    if (element->class != ELEMENT_COMPLEX)
        return plain(1 + (int64_t)(random & 1));
    return (random & 3) == 0 ? plain(2) : (number_t){(int64_t)(random & 1), (int64_t)(random >> 1 & 1)};
}

static number_t contribute_any(const element_t *element, uint64_t random, int rank)
{
    (void)rank;
    return plain((int64_t)(random & (uint64_t)element->most));
}

static number_t contribute_truth(const element_t *element, uint64_t random, int rank)
{
    (void)element;
    (void)rank;
    return plain((int64_t)(random & 1));
}

/* From so few values that often several ranks have the extreme one, of which the lowest counts. */
static number_t contribute_place(const element_t *element, uint64_t random, int rank)
{
    (void)element;
    return (number_t){(int64_t)(random & 7), rank};
}

static number_t combine_sum(number_t a, number_t b)
{
    return (number_t){a.first + b.first, a.second + b.second};
}

static number_t combine_product(number_t a, number_t b)
{
    return (number_t){a.first * b.first - a.second * b.second, a.first * b.second + a.second * b.first};
}

static number_t combine_max(number_t a, number_t b)
{
    return b.first > a.first ? b : a;
}

static number_t combine_min(number_t a, number_t b)
{
    return b.first < a.first ? b : a;
}

static number_t combine_and(number_t a, number_t b)
{
    return plain(a.first & b.first);
}

static number_t combine_or(number_t a, number_t b)
{
    return plain(a.first | b.first);
}

static number_t combine_xor(number_t a, number_t b)
{
    return plain(a.first ^ b.first);
}

#define ON(class) (1u << ELEMENT_##class)
#define ARITHMETIC (ON(INTEGER) | ON(FLOATING) | ON(COMPLEX))
#define ORDERED (ON(INTEGER) | ON(FLOATING))
#define TRUTH (ON(INTEGER) | ON(LOGICAL))
#define BITS (ON(INTEGER) | ON(BYTE))

static const reduction_t reductions[] = {
    {"sum", ARITHMETIC, SUM_CONTRIBUTORS, neutral_0, contribute_sum, combine_sum},
    {"prod", ARITHMETIC, PRODUCT_CONTRIBUTORS, neutral_1, contribute_factor, combine_product},
    {"max", ORDERED, EVERYONE, neutral_0, contribute_any, combine_max},
    {"min", ORDERED, EVERYONE, neutral_0, contribute_any, combine_min},
    {"land", TRUTH, LOGICAL_CONTRIBUTORS, neutral_1, contribute_truth, combine_and},
    {"lor", TRUTH, LOGICAL_CONTRIBUTORS, neutral_0, contribute_truth, combine_or},
    {"lxor", TRUTH, EVERYONE, neutral_0, contribute_truth, combine_xor},
    {"band", BITS, LOGICAL_CONTRIBUTORS, neutral_all_bits, contribute_any, combine_and},
    {"bor", BITS, LOGICAL_CONTRIBUTORS, neutral_0, contribute_any, combine_or},
    {"bxor", BITS, EVERYONE, neutral_0, contribute_any, combine_xor},
    {"maxloc", ON(PAIR), EVERYONE, neutral_0, contribute_place, combine_max},
    {"minloc", ON(PAIR), EVERYONE, neutral_0, contribute_place, combine_min},
};

enum { REDUCTIONS = sizeof(reductions) / sizeof(reductions[0]) };

const reduction_t *element_reduction_at(int index)
{
    return index >= 0 && index < REDUCTIONS ? &reductions[index] : NULL;
}

const char *element_reduction_name(const reduction_t *reduction)
{
    return reduction->name;
}

bool element_reduction_allows(const reduction_t *reduction, const element_t *element)
{
    return (reduction->classes >> element->class & 1) != 0;
}

/* ---- Values */

/* What a seed begins with looks random, too. */
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
    if (reduction != NULL)
        return contributes(values, rank, index) ? reduction->contribute(element, random, rank)
                                                : reduction->neutral(element);
    return (number_t){(int64_t)(random & (uint64_t)element->most),
                      element->class == ELEMENT_COMPLEX || element->class == ELEMENT_PAIR
                          ? (int64_t)(mix(random) & (uint64_t)element->most)
                          : 0};
}

void values_fill(const values_t *values, int rank, int place, void *block, int64_t count)
{
    char *at = block;
    for (int64_t i = 0; i < count; i++, at += values->element->bytes)
        values->element->put(at, values_of(values, rank, place, i));
}

static number_t expected(const values_t *values, const origin_t *origin, int64_t index)
{
    number_t result = values_of(values, origin->first, origin->place, index);
    for (int rank = origin->first + 1; rank <= origin->last; rank++)
        result = values->reduction->combine(result, values_of(values, rank, origin->place, index));
    return result;
}

int64_t values_wrong(const values_t *values, const origin_t *origin, const void *block, int64_t count)
{
    const char *at = block;
    int64_t wrong = 0;
    if (origin->last < origin->first)
        return 0;
    for (int64_t i = 0; i < count; i++, at += values->element->bytes)
        wrong += !values->element->equals(at, expected(values, origin, i));
    return wrong;
}
