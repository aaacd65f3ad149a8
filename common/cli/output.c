/* SPDX-License-Identifier: BSD-3-Clause */
/* output.c - open and close files. */
#include "common/cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* open returns the lowest free number, so the opened file takes the place of the closed one. */
static void occupy_closed_streams(void)
{
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++) {
        bool is_closed = fcntl(descriptor, F_GETFD) == -1 && errno == EBADF;
        int taken = is_closed ? open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR) : descriptor;

        if (taken != descriptor)
            return;
    }
}

void output_begin(void)
{
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    occupy_closed_streams();
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ); /* so that processes do not write into each other's lines */
    if (locale != (locale_t)0)
        uselocale(locale); /* of this thread, so setlocale in a library changes nothing */
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool stat_folder(const char *path, struct stat *found)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s.", (int)(last_name(path) - path), path);
    return stat(folder, found) == 0;
}

/* A file that is not there yet is known by its folder and its name. A device takes what several write. */
static bool is_same_file(const char *path, const char *other_path)
{
    struct stat own, other;
    if (!path || !other_path)
        return false;
    if (stat(path, &own) != 0 || stat(other_path, &other) != 0)
        return strcmp(last_name(path), last_name(other_path)) == 0 && stat_folder(path, &own) &&
               stat_folder(other_path, &other) && own.st_dev == other.st_dev && own.st_ino == other.st_ino;
    return own.st_dev == other.st_dev && own.st_ino == other.st_ino && !S_ISCHR(own.st_mode);
}

/* Says so, with errno. Is false. */
static bool refuse_unwritable(const char *path, const char *kind, const char *option, const char *program)
{
    options_refuse(program, "option %s: \"%.200s\" is not allowed, give a %s that can be written: %s", option, path,
                   kind, strerror(errno));
    return false;
}

/* What opening the file would do, without emptying it. errno: why not. */
static bool can_be_written(const char *path)
{
    char folder[PATH_MAX];
    struct stat status;
    if (stat(path, &status) == 0) {
        errno = EISDIR;
        return !S_ISDIR(status.st_mode) && access(path, W_OK) == 0;
    }
    if (errno != ENOENT)
        return false;
    snprintf(folder, sizeof folder, "%.*s.", (int)(last_name(path) - path), path);
    return access(folder, W_OK | X_OK) == 0;
}

bool outputs_check(const output_option_t *options, int count, const char *program)
{
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < i; j++) {
            if (!is_same_file(options[i].path, options[j].path))
                continue;
            options_refuse(program, "option %s: \"%.200s\" is not allowed, give another file than to %s",
                           options[i].name, options[i].path, options[j].name);
            return false;
        }
        if (options[i].path && !can_be_written(options[i].path))
            return refuse_unwritable(options[i].path, "file", options[i].name, program);
    }
    return true;
}

bool output_folder(const char *path, const char *option, const char *program)
{
    char inside[PATH_MAX];
    snprintf(inside, sizeof inside, "%s/.", path);
    return ((mkdir(path, 0777) == 0 || errno == EEXIST) && access(inside, W_OK | X_OK) == 0) ||
           refuse_unwritable(path, "folder", option, program);
}

FILE *output_create(const char *path, const char *option, const char *program)
{
    FILE *file = path ? fopen(path, "w") : stdout;
    if (!file)
        refuse_unwritable(path, "file", option, program);
    return file;
}

/* Some file systems find errors when a file is closed, and then a copy of its descriptor does, too. */
static bool close_copy(FILE *file)
{
    int copy = dup(fileno(file));
    return copy >= 0 && close(copy) == 0;
}

/* Of the last failure: a stream only remembers that there was one. */
static int failure_number;

bool output_flush(FILE *file)
{
    if (fflush(file) != 0)
        failure_number = errno;
    return ferror(file) == 0;
}

bool output_finish(FILE *file, const char *path, const char *program)
{
    bool is_standard = file == stdout;
    bool good = output_flush(file);
    errno = good ? 0 : failure_number;
    good = (is_standard ? close_copy(file) : fclose(file) == 0) && good;
    if (!good)
        fprintf(stderr, "%s: cannot write %s: %s\n", program, is_standard ? "the results to standard output" : path,
                errno != 0 ? strerror(errno) : "an earlier write failed");
    return good;
}

int output_answer(options_outcome_t outcome, const char *program)
{
    if (outcome == OPTIONS_BAD)
        return STATUS_BAD_OPTION;
    return output_finish(stdout, NULL, program) ? STATUS_GOOD : STATUS_FAILED;
}

int output_columns(FILE *file, int usual)
{
    struct winsize size;
    return ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}
