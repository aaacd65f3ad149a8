/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay.c - runs a fuzz target once with each file that is named on the command line, without a fuzzer. LibFuzzer
 * brings its own main function.
 */
#include "fuzz.h"

#ifndef WITH_LIBFUZZER

enum { MAX_BYTES = 1 << 16 };

static int replay(const char *path)
{
    static uint8_t buffer[MAX_BYTES];
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
    }
    size_t size = fread(buffer, 1, sizeof buffer, file);
    fclose(file);
    /* Sanitizers find a reading past the end only where the input has its own room. */
    uint8_t *data = malloc(size ? size : 1);
    FUZZ_REQUIRE(data);
    for (size_t i = 0; i < size; i++)
        data[i] = buffer[i];
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int failures = argc < 2;
    for (int i = 1; i < argc; i++)
        failures += replay(argv[i]);
    return failures != 0;
}
#endif
