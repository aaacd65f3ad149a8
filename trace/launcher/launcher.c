/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher.c - mpix_preload and mpix_trace: run an MPI program as it is, with harmonized barriers and the global clock,
 * or with its calls recorded; or both, one after the other on the command line.
 *
 * It runs in each process of a job. It checks what can be checked before the program starts, says by the environment
 * what is wanted, and becomes the program. It needs no MPI library.
 */
#define _GNU_SOURCE
#include "common/cli/options.h"
#include "trace/shared/choices.h"
#include "trace/shared/descriptors.h"
#include "trace/launcher/program.h"
#include "trace/launcher/refusal.h"
#include "trace/launcher/watcher.h"
#include "pure/launcher.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- The options */

enum { HARMONIZES, RECORDS, TOOLS };
static const char *const tool_names[TOOLS + 1] = {"mpix_preload", "mpix_trace"};

typedef struct {
    int64_t replaced, barriers_of, quiet, buffer_bytes, limit_bytes, frames, is_python;
    double from_s, to_s;
    const char *report, *folder, *only, *ranks, *clocks;
} launch_settings_t;

enum { REPLACE_BARRIER = 1, REPLACE_WTIME = 2, OF_ALL = 1 };
static const char *const replaced_names[] = {"barrier", "wtime", NULL};
static const char *const which_names[] = {"world", "all", NULL};
static const double max_s = 999999999;
static const double min_buffer = 262144, max_buffer = 274877906944, max_limit = 1125899906842624;

#define PLACE(field) offsetof(launch_settings_t, field)
static const option_spec_t preload_options[] = {
    {0, "replace", "LIST", OPTION_CHOICES, PLACE(replaced), .names = NAMES(replaced_names),
     .default_text = "barrier,wtime", .doc = "what is replaced: MPI_Barrier, MPI_Wtime, or both"},
    {0, "barriers-of", "WHICH", OPTION_CHOICE, PLACE(barriers_of), .names = NAMES(which_names), .default_text = "world",
     .doc = "the communicators whose barriers are replaced",
     .more = "`world` is MPI_COMM_WORLD, and each communicator of the same processes. With `all`, barriers of any "
             "other communicator are replaced too, after its first 100; a process does this for at most 64 "
             "communicators."},
    {0, "report", "FILE", OPTION_TEXT, PLACE(report), .default_doc = "standard error",
     .doc = "append the report, which rank 0 writes, to FILE",
     .more = "If a script runs several MPI programs, their reports follow each other. "
             "On standard error, no report is written if the program has closed it or opened another file there."},
    {0, "quiet", NULL, OPTION_SWITCH, PLACE(quiet), .doc = "write no report"},
};
static const option_spec_t trace_options[] = {
    {'o', "output", "DIR", OPTION_TEXT, PLACE(folder),
     .doc = "the folder of the trace; it is created if necessary, and must not contain a trace",
     .more = "If nothing is recorded and the folder is empty, it is removed at the end. If hosts have folders of "
             "their own there, a line at the end says so: to be read, the files have to be in one folder."},
    {0, "buffer", "SIZE", OPTION_BYTES, PLACE(buffer_bytes), .min = min_buffer, .max = max_buffer,
     .default_text = "64M", .doc = "memory for events in each process, in bytes"},
    {0, "only", "LIST", OPTION_TEXT, PLACE(only),
     .doc = "the functions to record: names with or without MPI_, or patterns such as I*, separated by commas, in "
            "upper or lower case",
     .more = "A name or pattern that matches no function is refused. "
             "MPI_Wtime and MPI_Wtick are recorded only if they are named here."},
    {0, "only-ranks", "LIST", OPTION_TEXT, PLACE(ranks),
     .doc = "the ranks whose calls are recorded, such as 0,4-7; default: all",
     .more = "The others take part in synchronizations, and their files have no events. A message or a collective call "
             "in which one of these takes part has no other end in the trace, so waits for it are not attributed."},
    {0, "clocks", "FILE", OPTION_TEXT, PLACE(clocks),
     .doc = "write what the clocks of all hosts were on the clock of the trace into FILE",
     .more = "Rank 0 writes it in MPI_Finalize, as MPIX_Clock_write does; a file that is there is replaced. "
             "mpix_clock_convert brings timestamps of other programs onto the clock of the trace by it."},
    {0, "frames", "N", OPTION_INTEGER, PLACE(frames), .min = 1, .max = CHOICES_FRAMES, .default_text = "4",
     .doc = "how many frames of the stack tell calls apart",
     .more = "A function that only calls MPI for others has many callers: its calls are from different places, as far "
             "as these frames reach."},
    {0, "python", NULL, OPTION_SWITCH, PLACE(is_python), .doc = "tell calls of mpi4py apart by the lines of the script",
     .more = "Each call takes about a microsecond more. Python loads a file by PYTHONPATH for this, unless it ignores "
             "its environment."},
    {0, "limit", "SIZE", OPTION_BYTES, PLACE(limit_bytes), .min = min_buffer, .max = max_limit,
     .doc = "stop recording when the trace, of all ranks together, has so many bytes",
     .more = "A process stops at its part of this, which is the same for all that are recorded and at least 64K, and a "
             "line at the end says when the first one has. mpix_trace_report leaves out what is later."},
    {0, "quiet", NULL, OPTION_SWITCH, PLACE(quiet),
     .doc = "do not say at the end how much was recorded, and where it is",
     .more = "What could not be recorded is said even so."},
    {0, "from-s", "S", OPTION_DECIMAL, PLACE(from_s), .max = max_s,
     .doc = "record calls from this global time on, which begins in MPI_Init",
     .more = "It begins with the first synchronization of the clocks. Each process decides by itself, so a message "
             "or collective call may be recorded on one side only. Those that are not recorded count, so others are "
             "matched with their own other ends."},
    {0, "to-s", "S", OPTION_DECIMAL, PLACE(to_s), .max = max_s, .doc = "record calls until this time",
     .more = "It is after that of --from-s."},
};

static const char notes[] =
    "Start all processes of a job with it. mpix_preload [OPTION]... mpix_trace -o DIR [OPTION]... does both.\n\n"
    "Exit status: that of the program, 2 if it cannot be started or an option is wrong.\n";

#define TOOL(its_name, its_purpose, its_options, its_usage)                                           \
    {                                                                                                 \
        .name = its_name, .purpose = its_purpose, .options = its_options,                             \
        .option_count = sizeof its_options / sizeof *its_options, .notes = notes, .usage = its_usage, \
        .operand = &options_command                                                                   \
    }
static const program_spec_t tools[TOOLS] = {
    TOOL("mpix_preload",
         "Runs an unmodified MPI program. Its MPI_Barrier becomes MPIX_Harmonize, its MPI_Wtime the global clock, and\n"
         "MPI_WTIME_IS_GLOBAL true. At MPI_Finalize rank 0 writes a short report.",
         preload_options, "mpiexec -n RANKS mpix_preload [OPTION]... PROGRAM [ARGUMENT]..."),
    TOOL("mpix_trace",
         "Records the MPI calls of an unmodified program in DIR, a file for each process. Clocks are synchronized in\n"
         "MPI_Init, in MPI_Finalize, and in between in collective calls of all processes.",
         trace_options, "mpiexec -n RANKS mpix_trace -o DIR [OPTION]... PROGRAM [ARGUMENT]..."),
};

/* ---- Messages */

static const char *speaker;

/* One line for all processes: what the first one says. If it has nothing to refuse, others say why they do. */
__attribute__((format(printf, 1, 2), noreturn)) static void refuse(const char *format, ...)
{
    char text[2 * PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    mh_refusal_let_first_speak();
    dprintf(STDERR_FILENO, "%s: %s\n", speaker, text);
    mh_refusal_end_job(STATUS_BAD_OPTION);
}

/* What a function says about options, of any process but the first one only if the first one has nothing to refuse. */
static bool says_no(bool (*function)(void *), void *argument)
{
    const bool is_first = mh_launcher_is_first();
    const int errors = is_first ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (!is_first)
        dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    bool is_refused = function(argument);
    fflush(stderr);
    if (errors < 0)
        return is_refused;
    dup2(errors, STDERR_FILENO);
    if (!is_refused)
        return false;
    mh_refusal_let_first_speak();
    return function(argument);
}

/* ---- What options name */

/* With a name that is relative to this folder: the program may go elsewhere. */
static void make_absolute(const char *option, const char *path, char absolute[CHOICES_TEXT])
{
    char here[PATH_MAX] = "";
    const bool is_relative = path[0] != '/';
    if (is_relative && !getcwd(here, sizeof here))
        refuse("option %s: the working folder has no name: %s", option, strerror(errno));
    if (snprintf(absolute, CHOICES_TEXT, "%s%s%s", here, is_relative ? "/" : "", path) >= CHOICES_TEXT - 96)
        refuse("option %s: the name is too long", option);
}

/* The first process writes the file, so its host has to have the folder. */
static void choose_file(const char *option, const char *given, char path[CHOICES_TEXT])
{
    char parent[CHOICES_TEXT];
    struct stat status;
    make_absolute(option, given, path);
    strcpy(parent, path);
    if (!mh_launcher_is_first())
        return;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        refuse("option %s: %s is a directory, give the name of a file", option, path);
    if (access(access(path, F_OK) == 0 ? path : dirname(parent), W_OK) != 0)
        refuse("option %s: %s cannot be written", option, path);
}

static bool make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool is_there = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!is_there)
            return false;
    }
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

/* Files are made when all processes of the job have come through here. */
static void check_folder(void)
{
    const char *path = mh_choices.folder;
    const struct dirent *file;
    const bool is_made = make_folders(mh_choices.folder);
    DIR *files = is_made ? opendir(path) : NULL;
    if (!files && !(is_made && errno == EACCES)) /* a file in it can be made though none can be seen */
        refuse("option -o: the folder %s cannot be made: %s", path, strerror(errno));
    if (access(path, W_OK | X_OK) != 0)
        refuse("option -o: the folder %s cannot be written", path);
    while (files && (file = readdir(files)))
        if (strncmp(file->d_name, "rank-", strlen("rank-")) == 0)
            refuse("option -o: there is a trace in %s already; name another folder, or remove it", path);
    if (files)
        closedir(files);
}

static void choose_preload(const launch_settings_t *settings)
{
    mh_choices.harmonizes = 1;
    mh_choices.barrier = (settings->replaced & REPLACE_BARRIER) != 0;
    mh_choices.wtime = (settings->replaced & REPLACE_WTIME) != 0;
    mh_choices.all = settings->barriers_of == OF_ALL;
    mh_choices.quiet = settings->quiet;
    if (settings->report)
        choose_file("--report", settings->report, mh_choices.report);
}

static int64_t ns_of(double seconds, int64_t absent)
{
    return seconds == ABSENT ? absent : (int64_t)llround(seconds * 1e9);
}

static bool takes_lines; /* of scripts in Python */

static void choose_trace(const launch_settings_t *settings)
{
    mh_choices.records = 1;
    mh_choices.quiet_trace = settings->quiet;
    mh_choices.buffer_bytes = settings->buffer_bytes;
    mh_choices.frames = settings->frames;
    takes_lines = settings->is_python;
    if (settings->limit_bytes != ABSENT)
        mh_choices.limit_bytes = settings->limit_bytes;
    mh_choices.from_ns = ns_of(settings->from_s, INT64_MIN);
    mh_choices.to_ns = ns_of(settings->to_s, INT64_MAX);
    if (mh_choices.from_ns >= mh_choices.to_ns)
        refuse("option --to-s: \"%g\" is not allowed, give more than --from-s, which is %g", settings->to_s,
               settings->from_s);
    if (!settings->folder)
        refuse("give a folder for the trace: -o DIR (see --help)");
    make_absolute("-o", settings->folder, mh_choices.folder);
    if (settings->clocks)
        choose_file("--clocks", settings->clocks, mh_choices.clocks);
    if (settings->ranks) {
        int largest;
        mh_is_listed(settings->ranks, 0, &largest);
        if (largest < 0 || snprintf(mh_choices.ranks, sizeof mh_choices.ranks, "%s", settings->ranks) >= CHOICES_TEXT)
            refuse("option --only-ranks: \"%s\" is not allowed, give ranks and ranges of these, such as 0,4-7",
                   settings->ranks);
    }
    if (!settings->only)
        return;
    if (settings->only[strspn(settings->only, ",")] == '\0' ||
        snprintf(mh_choices.only, sizeof mh_choices.only, "%s", settings->only) >= CHOICES_TEXT)
        refuse("option --only: give names of functions, such as MPI_Send,MPI_Recv");
}

/* Which of the tools a file is, of a name that may have a suffix; or TOOLS. */
static int find_tool(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (int tool = 0; tool < TOOLS; tool++) {
        const char *place = strstr(name, tool_names[tool]);
        /* configure can put something before and after the names of programs; strchr finds the end, too. */
        if (place && (place == name || place[-1] == '-') && strchr(".-", place[strlen(tool_names[tool])]))
            return tool;
    }
    return TOOLS;
}

/* A link to the launcher may have any name. */
static int find_own_tool(const char *path)
{
    char self[PATH_MAX] = "";
    int tool = find_tool(path);
    if (tool == TOOLS && readlink("/proc/self/exe", self, sizeof self - 1) > 0)
        tool = find_tool(self);
    speaker = tool_names[HARMONIZES];
    if (tool == TOOLS)
        refuse("started as %s; allowed: a name with mpix_preload or mpix_trace in it", path);
    return tool;
}

typedef struct {
    int tool, argc;
    char **argv;
    launch_settings_t settings;
    options_outcome_t outcome;
} command_line;

static bool has_wrong_option(void *its)
{
    command_line *line = its;
    line->outcome = options_parse(&tools[line->tool], line->argc, line->argv, &line->settings);
    return line->outcome == OPTIONS_BAD;
}

static void choose_patience(void)
{
    enum { USUAL_S = 300 };
    const char *value = getenv("MPIX_MEET_S");
    char *end = NULL;
    errno = 0;
    mh_choices.meet_s = value && *value ? strtol(value, &end, 10) : USUAL_S;
    if (errno != 0 || (end && *end) || mh_choices.meet_s < 1 || mh_choices.meet_s > (int64_t)max_s)
        refuse("MPIX_MEET_S: \"%s\" is not allowed, give seconds from 1 to %.0f", value, max_s);
}

/* Returns the program and its arguments. */
static char **read_command_line(int argc, char **argv)
{
    for (int tool = find_own_tool(argv[0]); tool < TOOLS; tool = find_tool(argv[0])) {
        command_line line = {.tool = tool, .argc = argc, .argv = argv};
        speaker = tool_names[tool];
        if (tool == HARMONIZES ? mh_choices.harmonizes : mh_choices.records)
            refuse("%s is named twice", speaker);
        if (says_no(has_wrong_option, &line))
            mh_refusal_end_job(STATUS_BAD_OPTION);
        if (line.outcome == OPTIONS_ANSWERED && (fflush(stdout) != 0 || ferror(stdout)))
            refuse("cannot write to standard output");
        if (line.outcome == OPTIONS_ANSWERED)
            exit(STATUS_GOOD);
        argc -= optind;
        argv += optind;
        if (argc == 0)
            refuse("give the program to run (see --help)");
        tool == HARMONIZES ? choose_preload(&line.settings) : choose_trace(&line.settings);
    }
    return argv;
}

/* ---- The front and the back: in a build tree, or where they are installed */

static char folder[PATH_MAX], front[2 * PATH_MAX], python_folder[2 * PATH_MAX];

/* The front says if the back is missing, when it is known whether all processes have it. */
static bool has_flavor(const char *flavor)
{
    if (!flavor)
        return false;
    snprintf(front, sizeof front, "%s/" INTERPOSE_FRONT_FILE, folder, flavor);
    snprintf(python_folder, sizeof python_folder, "%s/python-%s", folder, flavor);
    const int length = snprintf(mh_choices.back, CHOICES_TEXT, "%s/" INTERPOSE_BACK_FILE, folder, flavor);
    return length < CHOICES_TEXT && access(front, R_OK) == 0;
}

/* Open MPI's processes get their rank by PMIx alone, those of MPICH by PMI. */
static const char *flavor_of_launcher(void)
{
    const bool is_pmix_only = getenv("PMIX_RANK") && !getenv("PMI_RANK");
    return getenv("OMPI_COMM_WORLD_RANK") || is_pmix_only ? "openmpi" : "mpich";
}

/* By the libraries of the program; else by its launcher, if that tells; else the first that is here. */
static bool choose_flavor(const char *of_program)
{
    if (of_program)
        return has_flavor(of_program);
    return has_flavor(flavor_of_launcher()) || has_flavor("mpich") || has_flavor("openmpi") || has_flavor("abi");
}

static bool find_flavor(const char *of_program)
{
    char self[PATH_MAX] = "", paths[3][2 * PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *here = length > 0 ? dirname(self) : ".";
    const size_t common = strlen(EXEC_PREFIX);
    const char *below = strncmp(PKGLIBDIR, EXEC_PREFIX, common) == 0 ? &PKGLIBDIR[common] : "";
    snprintf(paths[0], sizeof paths[0], "%s/.libs", here);
    snprintf(paths[1], sizeof paths[1], "%s/..%s", here, below);
    snprintf(paths[2], sizeof paths[2], "%s", PKGLIBDIR);
    for (int i = 0; i < 3; i++)
        if (realpath(paths[i], folder) && choose_flavor(of_program))
            return true;
    return false;
}

/* front is empty if there are parts, but for other MPI libraries than the program's. */
static void find_parts(const char *flavor)
{
    const bool is_found = find_flavor(flavor);
    if (!is_found && !find_flavor(NULL))
        refuse("there is no libmpix_interpose-mpich.so, -openmpi.so or -abi.so in %s: install libmpix_harmonize again",
               PKGLIBDIR);
    if (!is_found)
        front[0] = '\0';
    if (strpbrk(front, " :")) /* where LD_PRELOAD is cut */
        refuse("cannot be loaded from %s: install libmpix_harmonize in a folder without blanks and colons", folder);
}

static bool has_setting(void)
{
    for (char **entry = environ; *entry; entry++)
        if (strncmp(*entry, "MPIX_HARMONIZE_", strlen("MPIX_HARMONIZE_")) == 0)
            return true;
    return false;
}

static bool is_refused_by_library(void *its)
{
    interpose_check *check = (interpose_check *)its;
    return !check(speaker, mh_choices.only);
}

/* The library says whether it takes the settings, and whether a list names functions of MPI. In a process of its own,
 * because the back loads the MPI library. */
static void ask_library(void)
{
    int status = 0;
    if (!has_setting() && !mh_choices.only[0])
        return;
    pid_t child = fork();
    if (child == 0) {
        void *handle = dlopen(mh_choices.back, RTLD_LAZY | RTLD_LOCAL);
        void *check = handle ? dlsym(handle, INTERPOSE_CHECK_NAME) : NULL;
        _exit(check && says_no(is_refused_by_library, check) ? STATUS_BAD_OPTION : STATUS_GOOD);
    }
    if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
        WEXITSTATUS(status) == STATUS_BAD_OPTION)
        mh_refusal_end_job(STATUS_BAD_OPTION);
}

/* ---- The program */

/* In a variable with paths, which has others perhaps. */
static void put_first(const char *variable, const char *path)
{
    const char *others = getenv(variable);
    char *value;
    if (asprintf(&value, "%s%s%s", path, others && *others ? ":" : "", others ? others : "") < 0)
        refuse("no memory");
    setenv(variable, value, 1);
    free(value);
}

/* Python runs the file in this folder when it starts. */
static void load_into_python(void)
{
    if (access(python_folder, R_OK | X_OK) != 0)
        refuse("there is no folder %s: install libmpix_harmonize again", python_folder);
    put_first("PYTHONPATH", python_folder);
}

/* Returns whether something is loaded into it. */
static bool load_into(const char *name, const program_found *program)
{
    const char *others = getenv("LD_PRELOAD");
    if (program->kind == PROGRAM_STATIC) {
        mh_choices_warn("%s is linked statically, so nothing can be loaded into it (link it dynamically)", name);
        return false;
    }
    if (program->kind == PROGRAM_SET_ID) {
        mh_choices_warn("%s is a set-user-id or set-group-id program, into which nothing can be loaded", name);
        return false;
    }
    /* Processes on other hosts may have it, and would wait for this one. */
    if (!front[0])
        refuse("there is no " INTERPOSE_FRONT_FILE " for the MPI library of %s: "
               "install libmpix_harmonize built for this MPI library on all hosts",
               program->flavor, name);
    if (!others || !strstr(others, front))
        put_first("LD_PRELOAD", front);
    return true;
}

int main(int argc, char **argv)
{
    program_found program;
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ); /* so that processes do not write into each other's lines */
    mh_standard_error = mh_file_of(STDERR_FILENO);
    argv = read_command_line(argc, argv);
    choose_patience();
    if (!mh_program_find(argv[0], &program)) {
        if (program.path[0])
            refuse("%s cannot be executed: check that it is a program, and its permissions", argv[0]);
        refuse("there is no program %s: check its name, and PATH", argv[0]);
    }
    mh_program_judge(&program);
    find_parts(program.flavor);
    ask_library();
    if (load_into(argv[0], &program)) {
        if (mh_choices.records)
            check_folder();
        if (takes_lines)
            load_into_python();
        mh_watcher_start();
        if (!mh_choices_export())
            refuse("no memory");
    }
    execvp(argv[0], argv);
    const int reason = errno;
    mh_send_to_socket(mh_choices.watcher);
    refuse("%s cannot be executed: %s", argv[0], strerror(reason));
}
