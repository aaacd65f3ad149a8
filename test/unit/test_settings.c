/* SPDX-License-Identifier: BSD-3-Clause */
/* test_settings.c - settings from the environment: what is heard, refused and ignored, with which message. */
#include "base/error.h"
#include "settings.h"
#include "support.h"

#include <ctype.h>

extern char **environ;

#define PREFIX "MPIX_HARMONIZE_"

static void expect_printable(const char *text, const char *message)
{
    for (const char *c = message; *c; c++)
        EXPECT(isprint((unsigned char)*c), "'%s': the message is no printable line: '%s'", text, message);
}

/* ---- The environment */

/* Checks run in one process where they do not fork. */
static void forget_environment(void)
{
    for (char **entry = environ; entry && *entry;) {
        char name[256];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*entry, "="), *entry);
        if (strncmp(name, PREFIX, sizeof PREFIX - 1) == 0 && strlen(name) < sizeof name - 1) {
            unsetenv(name);
            entry = environ;
        } else
            entry++;
    }
}

typedef struct variable {
    const char *name, *value;
} variable;

static int read_environment(const variable *variables, int count, mh_settings *settings, mh_error *error)
{
    memset(error, 0, sizeof *error);
    forget_environment();
    for (int i = 0; i < count && variables[i].name; i++)
        setenv(variables[i].name, variables[i].value, 1);
    int code = mh_settings_from_environment(settings, error);
    forget_environment();
    return code;
}

static void expect_defaults_except(const mh_settings *settings, int place)
{
    for (int i = 0; i < MH_SET_COUNT; i++)
        EXPECT(i == place || strcmp(settings->values[i].text, mh_settings_table[i].default_text) == 0,
               "%s is '%s' instead of its default", mh_setting_names[i], settings->values[i].text);
}

#define LONG_NAME                                                                                                  \
    PREFIX "A_NAME_SO_LONG_THAT_IT_DOES_NOT_FIT_INTO_A_MESSAGE_OF_ONE_LINE_AND_WHICH_NOBODY_WOULD_EVER_GIVE_TO_"   \
           "A_SETTING_BUT_SOMEBODY_WILL_EXPORT_IT_ALL_THE_SAME_BY_A_MISTAKE_OF_THE_CLIPBOARD_OR_BY_A_SCRIPT_THAT_" \
           "PUTS_TOGETHER_THE_NAMES_OF_VARIABLES_FROM_WHOLE_PATHS_AS_MODULES_DO"

static const struct {
    variable variable;
    int setting;
    const char *text;
} heard[] = {
    {{PREFIX "CLOCK", "monotonic"}, MH_SET_CLOCK, "monotonic"},
    {{PREFIX "SYNC", "none"}, MH_SET_SYNC, "none"},
    {{PREFIX "RESYNC_INTERVAL_NS", " 20000000 "}, MH_SET_RESYNC_INTERVAL_NS, "20000000"},
    {{PREFIX "BARRIER", "collective"}, MH_SET_BARRIER, "collective"},
    {{PREFIX "TOLERANCE_NS", "AUTO"}, MH_SET_TOLERANCE_NS, "auto"},
    {{PREFIX "SLACK_MIN_NS", "123"}, MH_SET_SLACK_MIN_NS, "123"},
    {{PREFIX "SLACK_MAX_NS", "1234567"}, MH_SET_SLACK_MAX_NS, "1234567"},
    {{PREFIX "tolerance_ns", "5"}, MH_SET_TOLERANCE_NS, "5"},
    /* Not of this library. */
    {{PREFIX "FOO", "1"}, -1, NULL},
    {{PREFIX "FOO", ""}, -1, NULL},
    {{PREFIX "TOLERANCE", "1"}, -1, NULL},
    {{PREFIX "TOLERANCE_NSS", "1"}, -1, NULL},
    {{PREFIX "TOLERANCE_NS ", "1"}, -1, NULL},
    {{PREFIX "ROOT", "/opt/mpix"}, -1, NULL},
    {{PREFIX "CALLS", "1"}, -1, NULL},
    {{PREFIX, "1"}, -1, NULL},
    {{LONG_NAME, "1"}, -1, NULL},
    {{"MPIX_HARMONIZER", "x"}, -1, NULL},
    {{"MPIX_HARMONIZE", "x"}, -1, NULL},
    {{"XMPIX_HARMONIZE_CLOCK", "x"}, -1, NULL},
};

LOOP_TEST(environment_is_heard, COUNT_OF(heard))
{
    mh_settings settings;
    mh_error error;
    int code = read_environment(&heard[_i].variable, 1, &settings, &error);
    EXPECT(code == MPI_SUCCESS && error.code == MPI_SUCCESS, "%s is refused: %s", heard[_i].variable.name,
           error.message);
    expect_defaults_except(&settings, heard[_i].setting);
    if (heard[_i].setting >= 0)
        ck_assert_str_eq(settings.values[heard[_i].setting].text, heard[_i].text);
}

#define MAX_VARIABLES 2
static const struct {
    const char *name;
    variable variables[MAX_VARIABLES];
    const char *shown[4]; /* in the message; none: they are accepted */
} together[] = {
    {"bad clock", {{PREFIX "CLOCK", "sundial"}}, {PREFIX "CLOCK", "'sundial'", "monotonic_raw", "wtime"}},
    {"bad label", {{PREFIX "SYNC", "ntp/100"}}, {PREFIX "SYNC", "'ntp/100'", "hca3o", "meanrtt"}},
    {"bad long label",
     {{PREFIX "SYNC", "hca3/100/skampi/10+hca3/100/skampi/10+ntp"}},
     {PREFIX "SYNC", "'hca3/100", "hca3o", "meanrtt"}},
    {"bad interval",
     {{PREFIX "RESYNC_INTERVAL_NS", "-5"}},
     {PREFIX "RESYNC_INTERVAL_NS", "'-5'", "from 1000000 to 86400000000000", "nanoseconds"}},
    {"empty", {{PREFIX "TOLERANCE_NS", ""}}, {PREFIX "TOLERANCE_NS", "''", "auto", "from 1 to 1000000000"}},
    {"blank", {{PREFIX "TOLERANCE_NS", "  "}}, {PREFIX "TOLERANCE_NS", "'  '", "auto", "from 1 to 1000000000"}},
    {"least above most",
     {{PREFIX "SLACK_MIN_NS", "2000"}, {PREFIX "SLACK_MAX_NS", "1999"}},
     {PREFIX "SLACK_MIN_NS", "'2000'", "slack_max_ns", "1999"}},
    {"least above the default most",
     {{PREFIX "SLACK_MIN_NS", "100000001"}},
     {PREFIX "SLACK_MIN_NS", "'100000001'", "slack_max_ns", "100000000"}},
    {"named as it was written",
     {{PREFIX "Slack_Min_ns", "100000001"}},
     {PREFIX "Slack_Min_ns", "'100000001'", "slack_max_ns", "100000000"}},
    {"two spellings",
     {{PREFIX "TOLERANCE_NS", "5"}, {PREFIX "tolerance_ns", "6"}},
     {PREFIX "TOLERANCE_NS", PREFIX "tolerance_ns", "'5'", "'6'"}},
    {"one good, one bad",
     {{PREFIX "CLOCK", "monotonic"}, {PREFIX "TOLERANCE_NS", "x"}},
     {PREFIX "TOLERANCE_NS", "'x'"}},
    {"one bad, one good",
     {{PREFIX "TOLERANCE_NS", "x"}, {PREFIX "CLOCK", "monotonic"}},
     {PREFIX "TOLERANCE_NS", "'x'"}},
    {"two spellings of one value", {{PREFIX "TOLERANCE_NS", "5"}, {PREFIX "tolerance_ns", " 5"}}, {NULL}},
    {"nothing", {{NULL, NULL}}, {NULL}},
    {"least is most", {{PREFIX "SLACK_MIN_NS", "2000"}, {PREFIX "SLACK_MAX_NS", "2000"}}, {NULL}},
    {"automatic least, small most", {{PREFIX "SLACK_MIN_NS", "auto"}, {PREFIX "SLACK_MAX_NS", "1000"}}, {NULL}},
    {"great ones", {{PREFIX "SLACK_MIN_NS", "10000000000"}, {PREFIX "SLACK_MAX_NS", "10000000000"}}, {NULL}},
};

LOOP_TEST(environment_is_accepted_or_refused_with_a_reason, COUNT_OF(together))
{
    mh_settings settings;
    mh_error error;
    memset(&settings, 0x5a, sizeof settings);
    int code = read_environment(together[_i].variables, MAX_VARIABLES, &settings, &error);
    EXPECT(code == (together[_i].shown[0] ? MPI_ERR_ARG : MPI_SUCCESS), "%s: code %d, %s", together[_i].name, code,
           error.message);
    ck_assert_int_eq(error.code, code);
    if (code != MPI_SUCCESS)
        expect_defaults_except(&settings, -1);
    for (int i = 0; i < COUNT_OF(together[_i].shown) && together[_i].shown[i]; i++)
        EXPECT(strstr(error.message, together[_i].shown[i]), "%s: the message '%s' does not show '%s'",
               together[_i].name, error.message, together[_i].shown[i]);
    expect_printable(together[_i].name, error.message);
}

/* ---- What is ignored */

static const struct {
    const char *name;
    variable variables[MAX_VARIABLES];
    const char *listed;
} ignored[] = {
    {"nothing", {{NULL, NULL}}, ""},
    {"settings only", {{PREFIX "SYNC", "none"}, {PREFIX "tolerance_NS", "x"}}, ""},
    {"those of modules", {{PREFIX "ROOT", "/opt/mpix"}, {PREFIX "DIR", ""}}, ""},
    {"one", {{PREFIX "ROOTS", "/opt/mpix"}}, PREFIX "ROOTS"},
    {"two", {{PREFIX "root", "/opt/mpix"}, {PREFIX "DIRS", ""}}, PREFIX "root, " PREFIX "DIRS"},
    {"a setting and another", {{PREFIX "SYNC", "none"}, {PREFIX "SYNCH", "none"}}, PREFIX "SYNCH"},
    {"the bare prefix", {{PREFIX, "1"}}, PREFIX},
    {"a name of two lines", {{PREFIX "A\nB", "1"}}, PREFIX "A B"},
    {"other names", {{"MPIX_HARMONIZE", "1"}, {"MPIX_HARMONIZER", "1"}}, ""},
};

static void list_ignored(const variable *variables, char *text, size_t size)
{
    forget_environment();
    for (int i = 0; i < MAX_VARIABLES && variables[i].name; i++)
        setenv(variables[i].name, variables[i].value, 1);
    mh_settings_ignored_environment(text, size);
    forget_environment();
}

LOOP_TEST(ignored_names_are_listed, COUNT_OF(ignored))
{
    char text[MH_ERROR_MESSAGE_SIZE];
    list_ignored(ignored[_i].variables, text, sizeof text);
    ck_assert_str_eq(text, ignored[_i].listed);
}

static const struct {
    const char *entry, *line;
} misspelled[] = {
    {PREFIX "TOLERNACE_NS=1000", "unknown variable " PREFIX "TOLERNACE_NS; did you mean " PREFIX "TOLERANCE_NS?"},
    {PREFIX "slack_max", "unknown variable " PREFIX "slack_max; did you mean " PREFIX "SLACK_MAX_NS?"},
    {PREFIX "BARIER\n=tree", "unknown variable " PREFIX "BARIER ; did you mean " PREFIX "BARRIER?"},
    {PREFIX "YEILD", "unknown variable " PREFIX "YEILD; did you mean " PREFIX "YIELD?"},
    {PREFIX "SINC", "unknown variable " PREFIX "SINC; did you mean " PREFIX "SYNC?"},
    {PREFIX "FOO", "unknown variable " PREFIX "FOO"},
    {PREFIX "SLACK", "unknown variable " PREFIX "SLACK"},
    {PREFIX "ROOTS", "unknown variable " PREFIX "ROOTS"},
    {PREFIX, "unknown variable " PREFIX},
};

LOOP_TEST(misspelled_variable_is_told_what_it_is_close_to, COUNT_OF(misspelled))
{
    char line[160];
    EXPECT(mh_variable_is_unknown(misspelled[_i].entry), "%s is known", misspelled[_i].entry);
    mh_variable_describe(misspelled[_i].entry, line, sizeof line);
    ck_assert_str_eq(line, misspelled[_i].line);
}

TEST(list_that_does_not_fit_says_so)
{
    static const variable two[MAX_VARIABLES] = {{PREFIX "ROOTS", "1"}, {LONG_NAME, "1"}};
    for (size_t size = 4; size <= MH_ERROR_MESSAGE_SIZE; size++) {
        char text[MH_ERROR_MESSAGE_SIZE + 1];
        memset(text, 'x', sizeof text);
        list_ignored(two, text, size);
        size_t length = strnlen(text, sizeof text);
        EXPECT(length < size, "a list of %zu characters in %zu", length, size);
        EXPECT(length >= 3 && strcmp(text + length - 3, "...") == 0, "in %zu characters: '%s'", size, text);
        EXPECT(text[size] == 'x', "the list goes beyond its %zu characters", size);
    }
}
