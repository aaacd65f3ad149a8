/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unit_tests.c - runs the unit tests.
 *
 * Usage: unit_tests [NAME...]
 *
 * NAME is test_model or model for the suite of test_model.c; without names, all suites run. --list prints their names.
 * Each test runs in a process of its own unless CK_FORK=no. With CK_TAP_LOG_FILE_NAME=- the results are in TAP.
 */
#include "support.h"

static unit_suite *first_suite, **last_link = &first_suite;

void unit_suite_register(unit_suite *suite)
{
    *last_link = suite;
    last_link = &suite->next;
}

static Suite *make_suite(const unit_suite *one)
{
    enum { TIMEOUT_S = 120 }; /* for tests that hang, under valgrind too */
    Suite *suite = suite_create(one->name);
    TCase *tests = tcase_create(one->name);
    tcase_set_timeout(tests, rounds_factor() > 1 ? rounds_of(TIMEOUT_S) : TIMEOUT_S);
    one->add(tests);
    suite_add_tcase(suite, tests);
    return suite;
}

static bool is_named(const unit_suite *suite, const char *name)
{
    static const char prefix[] = "test_";
    bool has_prefix = strncmp(name, prefix, sizeof prefix - 1) == 0;
    return strcmp(has_prefix ? name + sizeof prefix - 1 : name, suite->name) == 0;
}

static const unit_suite *find_suite(const char *name)
{
    const unit_suite *suite = first_suite;
    while (suite && !is_named(suite, name))
        suite = suite->next;
    return suite;
}

static int list_suites(void)
{
    for (const unit_suite *suite = first_suite; suite; suite = suite->next)
        printf("test_%s\n", suite->name);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    SRunner *runner = srunner_create(NULL);
    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return list_suites();
    for (int i = 1; i < argc; i++) {
        const unit_suite *suite = find_suite(argv[i]);
        if (!suite) {
            fprintf(stderr, "unit_tests: there is no suite %s; --list names all\n", argv[i]);
            return EXIT_FAILURE;
        }
        srunner_add_suite(runner, make_suite(suite));
    }
    for (const unit_suite *suite = first_suite; suite && argc == 1; suite = suite->next)
        srunner_add_suite(runner, make_suite(suite));
    printf("# MH_SEED=%" PRIu64 ", MH_ROUNDS=%g\n", base_seed(), rounds_factor());
    fflush(stdout);
    srunner_run_all(runner, getenv("CK_TAP_LOG_FILE_NAME") ? CK_SILENT : CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
