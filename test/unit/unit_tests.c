/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unit_tests.c - runs the unit tests.
 *
 * Usage: unit_tests [NAME...]
 *
 * NAME is test_model or model for the suite of test_model.c; without names, all suites run. --list prints their names.
 * Each test runs in a process of its own unless CK_FORK=no. With CK_TAP_LOG_FILE_NAME=- the results are in TAP. With
 * MPIX_TEST_BRIEF=yes, all suites are left out, as none depends on the MPI library.
 */
#include "support.h"

static unit_part *first_part, **last_link = &first_part;

/* Of a path .../test_NAME.c, or of what the user calls it. */
static void get_name(const char *text, char name[UNIT_NAME_SIZE])
{
    static const char prefix[] = "test_";
    const char *slash = strrchr(text, '/'), *file = slash ? slash + 1 : text;
    file += strncmp(file, prefix, sizeof prefix - 1) == 0 ? sizeof prefix - 1 : 0;
    snprintf(name, UNIT_NAME_SIZE, "%.*s", (int)strcspn(file, "."), file);
}

void unit_part_register(unit_part *part, const char *path)
{
    get_name(path, part->suite);
    *last_link = part;
    last_link = &part->next;
}

static TCase *add_suite(SRunner *runner, const char *name)
{
    enum { TIMEOUT_S = 120 }; /* for tests that hang, under valgrind too */
    Suite *suite = suite_create(name);
    TCase *tests = tcase_create(name);
    tcase_set_timeout(tests, rounds_factor() > 1 ? rounds_of(TIMEOUT_S) : TIMEOUT_S);
    suite_add_tcase(suite, tests);
    srunner_add_suite(runner, suite);
    return tests;
}

/* Add the suite of a name, or all (NULL), to the runner; without one, print their names. Returns how many there are. */
static int take_suites(SRunner *runner, const char *name)
{
    int suites = 0;
    TCase *tests = NULL;
    for (const unit_part *part = first_part, *before = NULL; part; before = part, part = part->next) {
        bool is_first = !before || strcmp(part->suite, before->suite) != 0;
        if (name && strcmp(part->suite, name) != 0)
            continue;
        suites += is_first;
        if (!runner && is_first)
            printf("test_%s\n", part->suite);
        if (runner && is_first)
            tests = add_suite(runner, part->suite);
        if (runner)
            part->add(tests);
    }
    return suites;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return take_suites(NULL, NULL) > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    const char *brief = getenv("MPIX_TEST_BRIEF");
    if (argc == 1 && brief && strcmp(brief, "yes") == 0)
        return puts("1..0 # SKIP MPIX_TEST_BRIEF=yes") < 0;
    SRunner *runner = srunner_create(NULL);
    for (int i = 1; i < argc; i++) {
        char name[UNIT_NAME_SIZE];
        get_name(argv[i], name);
        if (take_suites(runner, name) == 0) {
            fprintf(stderr, "unit_tests: there is no suite %s; --list names all\n", argv[i]);
            return EXIT_FAILURE;
        }
    }
    if (argc == 1)
        take_suites(runner, NULL);
    printf("# MH_SEED=%" PRIu64 ", MH_ROUNDS=%g\n", base_seed(), rounds_factor());
    fflush(stdout);
    srunner_run_all(runner, getenv("CK_TAP_LOG_FILE_NAME") ? CK_SILENT : CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
