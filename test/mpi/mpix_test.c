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

/* Starts MPI. Returns whether the sub-test can run. */
static bool start_for(int needs)
{
    int wanted = needs & MULTIPLE ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    bool has_level = start_mpi(wanted) >= wanted, has_ranks = ranks > 1 || !(needs & SEVERAL);
    bool has_injection = can_inject() || !(needs & INJECTION);
    if (!has_level)
        test_skip("this MPI library does not provide MPI_THREAD_MULTIPLE");
    if (!has_ranks)
        test_skip("it takes two processes or more");
    if (!has_injection)
        test_skip("the library is linked into the program, so that its calls are not known");
    return has_level && has_ranks && has_injection;
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
    if (test->needs & ITSELF || start_for(test->needs))
        test->run();
    return conclude();
}
