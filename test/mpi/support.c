/* SPDX-License-Identifier: BSD-3-Clause */
/* support.c - start MPI, check results on all processes, and set and read the library's keys. */
#define _GNU_SOURCE
#include "mpix_test.h"

#include "pure/random.h"
#include "pure/setting_names.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int my_rank = 0, ranks = 1;

/* ---- Outcome */

static int failures;

int start_mpi(int thread_level)
{
    int provided;
    MPI_Init_thread(NULL, NULL, thread_level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    return provided;
}

int conclude(void)
{
    int initialized, finalized, anywhere = failures;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (initialized && !finalized) {
        MPI_Allreduce(&failures, &anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        MPI_Finalize();
    }
    fflush(stdout);
    return anywhere > 0;
}

/* One write, so that lines of several processes do not mix. */
static void say(const char *text)
{
    fputs(text, stdout);
    fflush(stdout);
}

void test_fail(const char *file, int line, const char *format, ...)
{
    enum { SHOWN = 5 }; /* the first say it all */
    char failure[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure, sizeof failure, format, arguments);
    va_end(arguments);
    if (__atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED) < SHOWN)
        say(text_of("rank %d of %d: %s:%d: %s\n", my_rank, ranks, file, line, failure));
}

void test_skip(const char *format, ...)
{
    char reason[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    if (my_rank == 0)
        say(text_of("skip: %s\n", reason));
}

void check_class(const char *file, int line, int code, int expected_class, const char *what)
{
    int class = code, length;
    char text[MPI_MAX_ERROR_STRING] = "", expected[MPI_MAX_ERROR_STRING] = "";
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    if (class == expected_class)
        return;
    MPI_Error_string(code, text, &length);
    MPI_Error_string(expected_class, expected, &length);
    test_fail(file, line, "%s: class %d (%.200s), expected class %d (%.80s)", what, class, text, expected_class,
              expected);
}

void spoil_flag(int *flag)
{
    if (flag)
        *flag = -1;
}

int check_flag(const char *file, int line, int code, const int *flag, const char *function)
{
    if (flag && *flag != 0 && !(*flag == 1 && code == MPI_SUCCESS))
        test_fail(file, line, "%s returns %d and leaves the flag %d", function, code, *flag);
    return code;
}

void set_handler(MPI_Comm comm, MPI_Comm_errhandler_function *handler)
{
    MPI_Errhandler made;
    MPI_Comm_create_errhandler(handler, &made);
    MPI_Comm_set_errhandler(comm, made);
    MPI_Errhandler_free(&made);
}

int errors_raised;

void count_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    errors_raised++;
}

/* ---- Texts */

enum { TEXTS = 16 };

/* Values are read more often than other texts are made. */
typedef struct texts {
    unsigned count;
    char texts[TEXTS][TEXT_SIZE];
} texts;

static texts of_tests, of_values;

static char *new_text(texts *texts)
{
    return texts->texts[texts->count++ % TEXTS];
}

const char *text_of(const char *format, ...)
{
    char *text = new_text(&of_tests);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, TEXT_SIZE, format, arguments);
    va_end(arguments);
    return text;
}

/* ---- Ranks and time */

int times(int relaxed, int few)
{
    return ranks > sysconf(_SC_NPROCESSORS_ONLN) ? few : relaxed;
}

bool in_quick_check(void)
{
    return getenv("MPIX_TEST_QUICK");
}

void nap_ms(int duration_ms)
{
    struct timespec left = {duration_ms / 1000, duration_ms % 1000 * 1000000L};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

uint32_t random_below(uint64_t *seed, uint32_t limit)
{
    return (uint32_t)(random_next(seed) % limit);
}

/* ---- Stops */

static void stop_parent_on_demand(int end, int after_ms, int for_ms)
{
    char go;
    pid_t parent = getppid();
    while (read(end, &go, 1) == 1) {
        stop done;
        nap_ms(after_ms);
        kill(parent, SIGSTOP);
        done.stopped_ns = true_ns();
        nap_ms(for_ms);
        done.continued_ns = true_ns();
        kill(parent, SIGCONT);
        if (write(end, &done, sizeof done) != (ssize_t)sizeof done)
            break;
    }
    _exit(0);
}

bool start_stopper(stopper *stopper, int after_ms, int for_ms)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || (stopper->pid = fork()) < 0)
        return false;
    if (stopper->pid == 0) {
        for (int fd = 0; fd < 1024; fd++)
            if (fd != ends[1])
                close(fd);
        stop_parent_on_demand(ends[1], after_ms, for_ms);
    }
    close(ends[1]);
    stopper->link = ends[0];
    return true;
}

void ask_for_stop(const stopper *stopper)
{
    CHECK(write(stopper->link, "", 1) == 1, "cannot reach the stopping process");
}

stop await_stop(const stopper *stopper)
{
    stop done = {0, 0};
    CHECK(read(stopper->link, &done, sizeof done) == (ssize_t)sizeof done, "the stopping process does not answer");
    return done;
}

void end_stopper(stopper *stopper)
{
    close(stopper->link);
    waitpid(stopper->pid, NULL, 0);
}

/* ---- Messages of the test */

void finish_yielding(MPI_Request *request)
{
    for (int done = 0;;) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        sched_yield();
    }
}

void meet(MPI_Comm comm)
{
    MPI_Request request;
    MPI_Ibarrier(comm, &request);
    finish_yielding(&request);
}

static int64_t reduce(MPI_Comm comm, int64_t mine, MPI_Op op)
{
    int64_t result;
    MPI_Request request;
    MPI_Iallreduce(&mine, &result, 1, MPI_INT64_T, op, comm, &request);
    finish_yielding(&request);
    return result;
}

int64_t max_over(MPI_Comm comm, int64_t mine)
{
    return reduce(comm, mine, MPI_MAX);
}

int64_t min_over(MPI_Comm comm, int64_t mine)
{
    return reduce(comm, mine, MPI_MIN);
}

/* ---- The library */

MPI_Comm duplicate(MPI_Comm comm)
{
    MPI_Comm copy;
    MPI_Comm_dup(comm, &copy);
    return copy;
}

MPI_Comm split(MPI_Comm comm, int color, int key)
{
    MPI_Comm part;
    MPI_Comm_split(comm, color, key, &part);
    return part;
}

static void set_words(MPI_Comm comm, const char *settings)
{
    char words[300], key[64];
    MPI_Info info;
    snprintf(words, sizeof words, "%s", settings);
    MPI_Info_create(&info);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        snprintf(key, sizeof key, PREFIX "%.*s", (int)(value - word), word);
        MPI_Info_set(info, key, value + 1);
    }
    CHECK_CLASS(MPIX_Harmonize_set_info(comm, info), MPI_SUCCESS, settings);
    MPI_Info_free(&info);
}

void set_settings(MPI_Comm comm, const char *format, ...)
{
    char settings[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(settings, sizeof settings, format, arguments);
    va_end(arguments);
    set_words(comm, settings);
}

MPI_Comm duplicate_with(const char *format, ...)
{
    char settings[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(settings, sizeof settings, format, arguments);
    va_end(arguments);
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    set_words(comm, settings);
    return comm;
}

int harmonize(MPI_Comm comm)
{
    int flag = 0;
    CHECK_OK(MPIX_Harmonize(comm, &flag));
    return flag;
}

int harmonize_delayed(MPI_Comm comm, int64_t delay_ns)
{
    int flag = 0;
    CHECK_OK(MPIX_Harmonize_delayed(comm, delay_ns, &flag));
    return flag;
}

int wait_until(MPI_Comm comm, int64_t instant_ns)
{
    int flag = 0;
    CHECK_OK(MPIX_Global_wait_until(comm, instant_ns, &flag));
    return flag;
}

int harmonize_times(MPI_Comm comm, int calls)
{
    int valid = 0;
    for (int i = 0; i < calls; i++)
        valid += harmonize(comm);
    return valid;
}

void check_fresh(void)
{
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    harmonize_times(comm, 3);
    MPI_Comm_free(&comm);
}

const char *info_text(MPI_Comm comm, const char *name)
{
    char key[64], *text = new_text(&of_values);
    int found;
    MPI_Info info;
    text[0] = '\0';
    int code = MPIX_Harmonize_get_info(comm, &info);
    CHECK_CLASS(code, MPI_SUCCESS, "MPIX_Harmonize_get_info");
    if (code != MPI_SUCCESS)
        return text;
    snprintf(key, sizeof key, PREFIX "%s", name);
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL < TEXT_SIZE ? MPI_MAX_INFO_VAL : TEXT_SIZE - 1, text, &found);
    MPI_Info_free(&info);
    return text;
}

bool info_shows(MPI_Comm comm, const char *name, const char *word)
{
    return strstr(info_text(comm, name), word);
}

int64_t info_number(MPI_Comm comm, const char *name)
{
    char *end;
    const char *text = info_text(comm, name);
    if (strcmp(text, "unknown") == 0)
        return INT64_MAX;
    int64_t number = strtoll(text, &end, 10);
    bool is_number = text[0] && !*end;
    CHECK(is_number, "get_info: %s is '%s', expected a number", name, text);
    return is_number ? number : INT64_MIN;
}

void check_text(const char *file, int line, MPI_Comm comm, const char *name, const char *expected, const char *what)
{
    const char *text = info_text(comm, name);
    if (strcmp(text, expected) != 0)
        test_fail(file, line, "%s: %s is '%s', expected '%s'", what, name, text, expected);
}

void check_number(const char *file, int line, MPI_Comm comm, const char *name, int64_t expected)
{
    int64_t number = info_number(comm, name);
    if (number != expected)
        test_fail(file, line, "%s is %" PRId64 ", expected %" PRId64, name, number, expected);
}

int set_keys(MPI_Comm comm, const char *first, const char *first_value, const char *second, const char *second_value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    if (first)
        MPI_Info_set(info, first, first_value);
    if (second)
        MPI_Info_set(info, second, second_value);
    int code = MPIX_Harmonize_set_info(comm, info);
    MPI_Info_free(&info);
    return code;
}

int set_setting(MPI_Comm comm, const char *name, const char *value)
{
    char key[64];
    snprintf(key, sizeof key, PREFIX "%s", name);
    return set_keys(comm, key, value, NULL, NULL);
}

const char *const *choices_of(const char *setting)
{
    enum { MAX = 16 };
    static const char before[] = "one of ";
    static const char *choices[MAX + 1];
    static char text[TEXT_SIZE];
    int count = 0;
    MPI_Comm comm = duplicate(MPI_COMM_SELF);
    CHECK_CLASS(set_setting(comm, setting, "?"), MPI_ERR_INFO_VALUE, "a value that is no choice");
    snprintf(text, sizeof text, "%s", info_text(comm, "last_error"));
    MPI_Comm_free(&comm);
    char *list = strstr(text, before);
    for (char *choice = list ? strtok(list + strlen(before), ", ") : NULL; choice && count < MAX;
         choice = strtok(NULL, ", "))
        choices[count++] = choice;
    choices[count] = NULL;
    CHECK(count > 1, "%s has no choices: %s", setting, text);
    return choices;
}

void call_all(MPI_Comm comm, called calls[ALL_CALLS])
{
    int flag;
    double time;
    int64_t time_ns;
    MPI_Info info;
    const called made[ALL_CALLS] = {
        {"MPIX_Harmonize", MPIX_Harmonize(comm, &flag)},
        {"MPIX_Harmonize with a null flag", MPIX_Harmonize(comm, NULL)},
        {"MPIX_Harmonize_delayed", MPIX_Harmonize_delayed(comm, 0, &flag)},
        {"MPIX_Harmonize_instant", MPIX_Harmonize_instant(comm, &time_ns)},
        {"MPIX_Clock_sync", MPIX_Clock_sync(comm)},
        {"MPIX_Global_time", MPIX_Global_time(comm, &time)},
        {"MPIX_Global_time_interval", MPIX_Global_time_interval(comm, &time, &time)},
        {"MPIX_Global_time_ns", MPIX_Global_time_ns(comm, &time_ns, &time_ns)},
        {"MPIX_Global_wait_until", MPIX_Global_wait_until(comm, 0, &flag)},
        {"MPIX_Clock_pair", MPIX_Clock_pair(comm, CLOCK_MONOTONIC, &time_ns, &time_ns, &time_ns)},
        {"MPIX_Global_time_of", MPIX_Global_time_of(comm, CLOCK_MONOTONIC, 0, &time_ns, &time_ns)},
        {"MPIX_Clock_write", MPIX_Clock_write(comm, NULL)},
        {"MPIX_Harmonize_set_info", MPIX_Harmonize_set_info(comm, MPI_INFO_NULL)},
        {"MPIX_Harmonize_get_info", MPIX_Harmonize_get_info(comm, &info)},
        {"MPIX_Harmonize_get_info with a null pointer", MPIX_Harmonize_get_info(comm, NULL)},
    };
    memcpy(calls, made, sizeof made);
}

void check_all_refuse(MPI_Comm comm, int expected_class)
{
    called calls[ALL_CALLS];
    call_all(comm, calls);
    for (int i = 0; i < ALL_CALLS; i++)
        CHECK_CLASS(calls[i].code, expected_class, calls[i].function);
}

const char *all_settings(MPI_Comm comm)
{
    size_t used = 0;
    char *text = new_text(&of_tests);
    for (int i = 0; i < MH_SET_COUNT; i++) {
        const char *value = info_text(comm, mh_setting_names[i]);
        CHECK(value[0], "get_info has no key %s", mh_setting_names[i]);
        used += (size_t)snprintf(text + used, TEXT_SIZE - used, "%s=%.64s;", mh_setting_names[i], value);
    }
    return text;
}

void check_message(const char *file, int line, MPI_Comm comm, const char *const words[])
{
    char first[TEXT_SIZE] = "";
    const char *mine = info_text(comm, "last_error");
    MPI_Request request;
    for (int i = 0; words[i]; i++)
        if (!strcasestr(mine, words[i]))
            test_fail(file, line, "the message is '%s', expected it to name '%s'", mine, words[i]);
    snprintf(first, sizeof first, "%s", mine);
    MPI_Ibcast(first, TEXT_SIZE, MPI_CHAR, 0, comm, &request);
    finish_yielding(&request);
    if (strcmp(first, mine) != 0)
        test_fail(file, line, "the message is '%s', expected that of rank 0, '%s'", mine, first);
}

/* ---- The global clock against the truth */

typedef struct sample {
    int64_t at_ns;         /* true time */
    int64_t difference_ns; /* global - true */
    int64_t width_ns;      /* half the bracket of true readings */
    int64_t bound_ns;      /* as stated */
} sample;

/* The tightest of many brackets. */
static sample take_sample(MPI_Comm comm)
{
    enum { TRIES = 200 };
    sample best = {.width_ns = INT64_MAX};
    for (int i = 0; i < TRIES; i++) {
        int64_t time_ns = 0, bound_ns = 0;
        int64_t before_ns = true_ns();
        int code = MPIX_Global_time_ns(comm, &time_ns, &bound_ns);
        int64_t after_ns = true_ns(), width_ns = (after_ns - before_ns + 1) / 2;
        CHECK_CLASS(code, MPI_SUCCESS, "MPIX_Global_time_ns");
        if (width_ns < best.width_ns)
            best = (sample){before_ns + width_ns, time_ns - before_ns - width_ns, width_ns, bound_ns};
    }
    return best;
}

static void share(MPI_Comm comm, sample *reference)
{
    MPI_Request request;
    MPI_Ibcast(reference, sizeof *reference, MPI_BYTE, 0, comm, &request);
    finish_yielding(&request);
}

/*
 * Rank 0 is sampled before and after the others, so what it reads in between is known although its base clock may run
 * at another rate than the true one; the bend of that line over so short a time is far below the fraction allowed.
 */
void check_clock(MPI_Comm comm, const char *what)
{
    int rank;
    sample first = {0}, mine = {0}, last = {0};
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        first = take_sample(comm);
    meet(comm);
    mine = take_sample(comm);
    meet(comm);
    if (rank == 0)
        last = take_sample(comm);
    share(comm, &first);
    share(comm, &last);
    double part = (double)(mine.at_ns - first.at_ns) / (double)(last.at_ns - first.at_ns);
    double drifted_ns = (double)(last.difference_ns - first.difference_ns);
    int64_t reference_ns = first.difference_ns + (int64_t)(part * drifted_ns);
    double bend_ns = 0.01 * (drifted_ns < 0 ? -drifted_ns : drifted_ns);
    int64_t error_ns = mine.difference_ns - reference_ns;
    double allowed_ns = (double)mine.bound_ns + (double)(mine.width_ns + first.width_ns + last.width_ns) + bend_ns + 2;
    CHECK(mine.bound_ns >= 0, "%s: the bound is %" PRId64 " ns", what, mine.bound_ns);
    CHECK((double)llabs(error_ns) <= allowed_ns,
          "%s: global time is off by %" PRId64 " ns, expected at most %.0f ns (bound %" PRId64 ")", what, error_ns,
          allowed_ns, mine.bound_ns);
}

int64_t read_ns(MPI_Comm comm, int64_t *bound_ns)
{
    int64_t time_ns = INT64_MIN, its_bound_ns = 0;
    CHECK_OK(MPIX_Global_time_ns(comm, &time_ns, &its_bound_ns));
    if (bound_ns)
        *bound_ns = its_bound_ns;
    return time_ns;
}

void check_unknown_bound(MPI_Comm comm, const char *what)
{
    double earliest = 0, latest = 0;
    int64_t bound_ns;
    read_ns(comm, &bound_ns);
    CHECK_OK(MPIX_Global_time_interval(comm, &earliest, &latest));
    CHECK(bound_ns == INT64_MAX, "%s: the bound is %" PRId64 " ns, expected none", what, bound_ns);
    CHECK(earliest == -HUGE_VAL && latest == HUGE_VAL, "%s: the interval is from %g to %g, expected it to be infinite",
          what, earliest, latest);
}

/* On the host of this process. */
static int processes_of_host(void)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "", other[MPI_MAX_PROCESSOR_NAME];
    int length, found = 0;
    MPI_Get_processor_name(name, &length);
    for (int i = 0; i < ranks; i++) {
        memcpy(other, name, sizeof name);
        MPI_Bcast(other, sizeof other, MPI_CHAR, i, MPI_COMM_WORLD);
        found += strcmp(other, name) == 0;
    }
    return found;
}

static int processes_by_mpi(void)
{
    int size;
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &size);
    MPI_Comm_free(&node);
    return size;
}

bool mpi_shares_memory(void)
{
    return ranks == 1 || max_over(MPI_COMM_WORLD, processes_by_mpi()) > 1;
}

int processes_of_node(void)
{
    return mpi_shares_memory() ? processes_by_mpi() : processes_of_host();
}

/* ---- Belongings */

int64_t mapped_segments(void)
{
    char line[512];
    int64_t found = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    while (file && fgets(line, sizeof line, file))
        found += strstr(line, "/memfd:mpix_harmonize.") || strstr(line, "/dev/shm/mpix_harmonize.");
    if (file)
        fclose(file);
    return found;
}

void check_going_on(MPI_Comm comm, const char *what)
{
    int64_t first_true_ns = true_ns(), first_ns = read_ns(comm, NULL);
    nap_ms(20);
    int64_t passed_ns = read_ns(comm, NULL) - first_ns, true_passed_ns = true_ns() - first_true_ns;
    CHECK(passed_ns >= 19 * NS_PER_MS && passed_ns <= true_passed_ns + NS_PER_MS,
          "%s: %" PRId64 " ns of global time pass in %" PRId64 " ns", what, passed_ns, true_passed_ns);
}
