/* SPDX-License-Identifier: BSD-3-Clause */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

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
