/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_test.c - the MPI tests, as one program: mpix_test SUBTEST, or mpix_test --list.
 *
 * Exit status: 0 passed, or skipped with a line "skip: REASON"; 1 failed.
 */
#include "mpix_test.h"

#include <stdio.h>
#include <string.h>

static sub_test *first_test, **last_link = &first_test;

void sub_test_register(sub_test *test)
{
    *last_link = test;
    last_link = &test->next;
}

static int list(void)
{
    for (const sub_test *test = first_test; test; test = test->next)
        printf("%-22s %s\n", test->name, test->doc);
    return 0;
}

static const sub_test *find(const char *name)
{
    const sub_test *test = first_test;
    while (test && strcmp(name, test->name) != 0)
        test = test->next;
    return test;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return list();
    const sub_test *test = argc == 2 ? find(argv[1]) : NULL;
    if (!test) {
        fprintf(stderr, "usage: mpix_test SUBTEST, one of those that mpix_test --list shows\n");
        return 1;
    }
    if (test->start != ITSELF)
        start_mpi(test->start == MULTIPLE ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    test->run();
    return conclude();
}
