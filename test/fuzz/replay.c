/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay.c - runs a fuzz target once with each file that is named on the command line, without a fuzzer, and then with
 * mutations of these. LibFuzzer brings its own main function.
 *
 * Environment:
 *   FUZZ_MUTATIONS  how many mutations (default 0)
 *   FUZZ_KEPT       the file that has the last mutation, so that it is there after a crash
 *   MH_SEED         of the mutations
 */
#include "fuzz.h"
#include "pure/random.h"

#include <stdbool.h>
#include <string.h>

#ifndef WITH_LIBFUZZER

enum { MAX_BYTES = 1 << 16, MAX_CHANGES = 6, MAX_PIECE = 200 };

typedef struct input {
    uint8_t bytes[MAX_BYTES];
    size_t size;
} input;

static bool read_input(const char *path, input *to)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return false;
    }
    to->size = fread(to->bytes, 1, sizeof to->bytes, file);
    fclose(file);
    return true;
}

static void replay(const input *from)
{
    /* Sanitizers find a reading past the end only where the input has its own room. */
    uint8_t *data = malloc(from->size ? from->size : 1);
    FUZZ_REQUIRE(data);
    memcpy(data, from->bytes, from->size);
    LLVMFuzzerTestOneInput(data, from->size);
    free(data);
}

/* ---- Mutations */

static size_t below(uint64_t *state, size_t count)
{
    return count > 0 ? (size_t)(random_next(state) % count) : 0;
}

/* Puts bytes in the place of others, as far as there is room. */
static void splice(input *of, size_t at, size_t removed, const void *bytes, size_t added)
{
    if (of->size - removed + added > MAX_BYTES)
        return;
    memmove(of->bytes + at + added, of->bytes + at + removed, of->size - at - removed);
    memcpy(of->bytes + at, bytes, added);
    of->size += added - removed;
}

static void change_bit(input *of, uint64_t *state)
{
    if (of->size > 0)
        of->bytes[below(state, of->size)] ^= (uint8_t)(1 << below(state, 8));
}

/* What texts and numbers are made of, and what ends them. */
static void change_byte(input *of, uint64_t *state)
{
    static const char bytes[] = "{}[]\",:\\-+.0189aeux \t\r\n\f\177";
    if (of->size > 0)
        of->bytes[below(state, of->size)] = (uint8_t)bytes[below(state, sizeof bytes)];
}

static void change_number(input *of, uint64_t *state)
{
    static const char *const numbers[] = {"0",  "-0",    "1", "-1", "-2", "4611686018427387903", "9223372036854775807",
                                          "-9", "1e300", "",  "2",  "9",  "2305843009213693951", "-2305843009213693951",
                                          "1.", "00",    "3", "4",  "7",  "576460752303423486",  "1000000000"};
    size_t at = below(state, of->size), end;
    while (at < of->size && (of->bytes[at] < '0' || of->bytes[at] > '9'))
        at++;
    for (end = at; end < of->size && of->bytes[end] >= '0' && of->bytes[end] <= '9';)
        end++;
    const char *number = numbers[below(state, sizeof numbers / sizeof numbers[0])];
    splice(of, at, end - at, number, strlen(number));
}

static void take_away(input *of, uint64_t *state)
{
    const size_t at = below(state, of->size), rest = of->size - at;
    splice(of, at, below(state, (rest < MAX_PIECE ? rest : MAX_PIECE) + 1), "", 0);
}

static void cut(input *of, uint64_t *state)
{
    of->size = below(state, of->size + 1);
}

/* A piece of any input, of whole lines as often as not. */
static void copy_piece(input *to, const input *from, uint64_t *state)
{
    uint8_t piece[MAX_PIECE];
    size_t begin = below(state, from->size), at = below(state, to->size + 1);
    const bool takes_lines = below(state, 2) == 0;
    while (takes_lines && begin > 0 && from->bytes[begin - 1] != '\n')
        begin--;
    while (takes_lines && at > 0 && to->bytes[at - 1] != '\n')
        at--;
    const size_t rest = from->size - begin;
    size_t length = below(state, (rest < MAX_PIECE ? rest : MAX_PIECE) + 1);
    const uint8_t *end = takes_lines && rest > 0 ? memchr(from->bytes + begin, '\n', rest) : NULL;
    if (end && end - (from->bytes + begin) < MAX_PIECE)
        length = (size_t)(end - (from->bytes + begin)) + 1;
    memcpy(piece, from->bytes + begin, length);
    splice(to, at, 0, piece, length);
}

static void mutate(input *of, const input *inputs, size_t count, uint64_t *state)
{
    for (size_t changes = 1 + below(state, MAX_CHANGES); changes > 0; changes--)
        switch (below(state, 7)) {
        case 0:
            change_bit(of, state);
            break;
        case 1:
            change_byte(of, state);
            break;
        case 2:
            take_away(of, state);
            break;
        case 3:
            if (below(state, 4) == 0)
                cut(of, state);
            break;
        case 4:
            copy_piece(of, &inputs[below(state, count)], state);
            break;
        default:
            change_number(of, state);
        }
}

static void keep(const input *of, const char *path)
{
    FILE *file = path ? fopen(path, "wb") : NULL;
    if (!file)
        return;
    fwrite(of->bytes, 1, of->size, file);
    fclose(file);
}

/* Each one depends on the seed and its number alone. */
static void replay_mutations(const input *inputs, size_t count, uint64_t mutations)
{
    static input mutated;
    const char *seed = getenv("MH_SEED"), *kept = getenv("FUZZ_KEPT");
    for (uint64_t i = 0; i < mutations; i++) {
        uint64_t mixed = (seed ? strtoull(seed, NULL, 0) : 20230911) + i, state = random_next(&mixed);
        mutated = inputs[below(&state, count)];
        mutate(&mutated, inputs, count, &state);
        keep(&mutated, kept);
        replay(&mutated);
    }
    if (kept)
        remove(kept);
}

int main(int argc, char **argv)
{
    const char *mutations = getenv("FUZZ_MUTATIONS");
    input *inputs = calloc((size_t)argc, sizeof *inputs);
    size_t count = 0;
    FUZZ_REQUIRE(inputs);
    for (int i = 1; i < argc; i++)
        count += read_input(argv[i], &inputs[count]);
    for (size_t i = 0; i < count; i++)
        replay(&inputs[i]);
    if (count > 0)
        replay_mutations(inputs, count, mutations ? strtoull(mutations, NULL, 10) : 0);
    free(inputs);
    return count == 0 || count < (size_t)argc - 1;
}
#endif
