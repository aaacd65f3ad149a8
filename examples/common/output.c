/* SPDX-License-Identifier: BSD-3-Clause */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

const char *output_format_name(int index)
{
    static const char *const names[] = {[FORMAT_TABLE] = "table", [FORMAT_CSV] = "csv", [FORMAT_JSON] = "json"};
    return index >= 0 && index < (int)(sizeof(names) / sizeof(names[0])) ? names[index] : NULL;
}

/* open gives the lowest number that is free, so what is opened here takes the place of what is closed. */
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
    if (locale != (locale_t)0)
        uselocale(locale); /* of this thread, so setlocale in a library changes nothing */
}

/* Some file systems find errors when a file is closed, and then a copy of its descriptor does, too. */
static bool close_copy(FILE *file)
{
    int copy = dup(fileno(file));
    return copy >= 0 && close(copy) == 0;
}

bool output_finish(FILE *file, const char *path, const char *program)
{
    bool is_standard = file == stdout;
    bool good = ferror(file) == 0;
    errno = 0;
    good = fflush(file) == 0 && good;
    good = (is_standard ? close_copy(file) : fclose(file) == 0) && good;
    if (!good)
        fprintf(stderr, "%s: cannot write %s%s%s\n", program, is_standard ? "the results to standard output" : path,
                errno != 0 ? ": " : "", errno != 0 ? strerror(errno) : "");
    return good;
}

int output_create(const world_t *world, const char *option, const char *path, FILE **file)
{
    bool good = true;
    if (world->rank == 0 && path != NULL)
        good = (*file = fopen(path, "w")) != NULL;
    if (world_all(world, good))
        return STATUS_GOOD;
    return world_refuse(world, "option %s: \"%.200s\" is not allowed, give a file that can be written (see --help)",
                        option, path != NULL ? path : "");
}

int output_open(output_t *output, const world_t *world)
{
    output->file = stdout;
    return output_create(world, "--output", output->path, &output->file);
}

int output_close(output_t *output, const world_t *world)
{
    FILE *file = output->file;
    output->file = NULL;
    return file == NULL || file == stdout || output_finish(file, output->path, world->program) ? STATUS_GOOD
                                                                                               : STATUS_FAILED;
}

int results_open(results_t *results, const world_t *world)
{
    int status = plot_open(&results->plot, world, results->plot_path);
    if (status == STATUS_GOOD)
        status = output_open(&results->output, world);
    return status == STATUS_GOOD ? output_create(world, "--raw", results->raw.path, &results->raw.file) : status;
}

int results_close(results_t *results, const world_t *world, int status)
{
    plot_close(&results->plot);
    if (output_close(&results->output, world) != STATUS_GOOD)
        status = STATUS_FAILED;
    return output_close(&results->raw, world) == STATUS_GOOD ? status : STATUS_FAILED;
}

void text_append(char *text, size_t text_bytes, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, text_bytes - used, format, arguments);
    va_end(arguments);
}
