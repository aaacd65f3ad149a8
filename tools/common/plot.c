/* SPDX-License-Identifier: BSD-3-Clause */
/* plot.c - write the rows of a chart to a file, and let gnuplot draw it. */
#include "plot.h"

#include "statistics.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * What charts are made of, see plot.h, after the style of mpix_figures, whose data is CSV. A chart in which a
 * logarithmic axis has no value would not be drawn at all.
 */
static const char common[] =
    "set datafile separator whitespace; unset datafile columnheaders; unset datafile missing\n"
    "eval key_below\n"
    "list = ''; stats $rows using (note(strcol(1))) nooutput; names = list\n"
    "of(i) = strcol(1) eq word(names, i) ? column(2) : NaN\n"
    "panels(x, y) = sprintf('eval page(%d, %d); set multiplot layout %d, %d title title', "
    "x * y == 1 ? 1000 : x * 760, x * y == 1 ? 620 : y * 480, y, x)\n"
    "logarithmic(axis, i) = sprintf(\"stats $rows using (column(%d) > 0 ? 1 : NaN) nooutput; "
    "if (exists('STATS_records')) { set logscale %s } else { set %srange [0:1] }\", i, axis, axis)\n"
    "named_curves(others, style) = \"set datafile missing NaN; eval logarithmic('x', 2); eval panels(1, 1); plot \" "
    ". others . \"for [i = 1:words(names)] $rows using (of(i)):3 \" . style . "
    "\" lw 2 lc rgb color(i) title word(names, i)\"\n";

/* ---- Gnuplot */

static bool can_draw(const char *terminal)
{
    char command[120];
    snprintf(command, sizeof command,
             "exec gnuplot -d -e 'if (GPVAL_VERSION < 5.4) { exit status 1 }; set terminal %s' >/dev/null 2>&1",
             terminal);
    return system(command) == 0;
}

static int copy(FILE *from, FILE *to)
{
    char data[65536];
    for (size_t bytes; (bytes = fread(data, 1, sizeof data, from)) > 0;)
        if (fwrite(data, 1, bytes, to) != bytes)
            return errno;
    return fflush(to) == 0 ? 0 : errno;
}

/*
 * Runs a script without the user's own settings. Returns 0, ECHILD if gnuplot failed or drew nothing, or the error.
 *
 * Gnuplot reads the script, with the data in it, from a temporary file by its descriptor. The picture comes from its
 * standard output: no shell and no gnuplot string ever sees a file name. This program copies it, as gnuplot does not
 * notice if a picture cannot be written. Warnings of gnuplot about ranges of one value are of no use.
 */
static int run_script(FILE *script, FILE *picture)
{
    char command[80];
    if (ferror(script) || fflush(script) != 0 || fseek(script, 0, SEEK_SET) != 0)
        return errno != 0 ? errno : EIO;
    snprintf(command, sizeof command, "exec gnuplot -d /dev/fd/%d 2>/dev/null", fileno(script));
    FILE *output = popen(command, "r");
    if (!output)
        return errno;
    int error = copy(output, picture);
    int status = pclose(output); /* so gnuplot ends if its output can no longer be used */
    return error != 0 ? error : status != 0 || ftell(picture) == 0 ? ECHILD : 0;
}

/* ---- The file */

/* A file without a picture is worse than none. */
static void remove_empty(const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0)
        unlink(path);
}

/* Where a picture is written: beside the file that it then replaces; directly, if the path is not a file but a device.
 * */
static void find_part(const char *path, char part[PATH_MAX])
{
    struct stat status;
    bool is_other = lstat(path, &status) == 0 && !S_ISREG(status.st_mode);
    snprintf(part, PATH_MAX, "%s%s", path, is_other ? "" : ".part");
}

/* A named pipe is not opened before there is a picture, as closing it would be the end for its reader. */
static bool can_be_written(const char *path)
{
    struct stat status;
    char part[PATH_MAX];
    if (stat(path, &status) == 0 && (S_ISFIFO(status.st_mode) || access(path, W_OK) != 0))
        return access(path, W_OK) == 0;
    find_part(path, part);
    FILE *file = fopen(part, "a");
    if (!file)
        return false;
    fclose(file);
    remove_empty(part);
    return true;
}

/* Puts the picture into the user's file. An old picture is replaced only by a complete new one. */
static int save(FILE *picture, const char *path)
{
    char part[PATH_MAX];
    find_part(path, part);
    FILE *file = fopen(part, "w");
    if (!file)
        return errno;
    rewind(picture);
    int error = copy(picture, file);
    if (fclose(file) != 0 && error == 0)
        error = errno;
    if (error == 0 && strcmp(part, path) != 0 && rename(part, path) != 0)
        error = errno;
    if (error != 0 && truncate(part, 0) == 0)
        remove_empty(part);
    return error;
}

/* Begins the script. Writes into reason what is wrong with the file or gnuplot; nothing if all is well. */
static void begin_script(plot_file_t *plot, char *reason, size_t reason_bytes)
{
    const char *ending = strrchr(plot->path, '.');
    bool is_png = ending && strcmp(ending, ".png") == 0, is_svg = ending && strcmp(ending, ".svg") == 0;
    const char *terminal = is_png ? "pngcairo" : "svg";
    if (!is_png && !is_svg)
        snprintf(reason, reason_bytes, "\"%.200s\" is not allowed, give a file that ends in .png or .svg", plot->path);
    else if (!can_draw(terminal))
        snprintf(reason, reason_bytes,
                 "needs gnuplot 5.4 or newer on the PATH, with its terminal %s (Debian package: gnuplot-nox)",
                 terminal);
    else if (!can_be_written(plot->path))
        snprintf(reason, reason_bytes, "\"%.200s\" is not allowed, give a file that can be written: %s", plot->path,
                 strerror(errno));
    else if (!(plot->script = tmpfile()))
        snprintf(reason, reason_bytes, "cannot make a temporary file: %s", strerror(errno));
    else
        fprintf(plot->script, "format = '%s'; file = ''\n$rows << END_OF_ROWS\n", ending + 1);
}

int plot_open(plot_file_t *plot, const world_t *world, const plot_chart_t *chart)
{
    char reason[400] = "";
    plot->chart = chart;
    if (world->rank == 0 && plot->path)
        begin_script(plot, reason, sizeof reason);
    return world_all(world, reason[0] == '\0') ? STATUS_GOOD : world_refuse(world, "option --plot: %s", reason);
}

/* ---- The chart */

void plot_row(plot_file_t *plot, const char *format, ...)
{
    va_list arguments;
    if (!plot->script)
        return;
    plot->has_rows = true;
    va_start(arguments, format);
    vfprintf(plot->script, format, arguments);
    va_end(arguments);
}

void plot_distribution(plot_file_t *plot, const char *name, const int64_t *sorted, int64_t count, double unit)
{
    enum { POINTS = 200 };
    for (int i = 1; i <= POINTS; i++) {
        double share = 0.999 * i / POINTS;
        plot_row(plot, "\"%s\" %.9g %.9g\n", name, (double)quantile(sorted, count, share) * unit, share);
    }
}

/* Returns 0, or what run_script or writing the picture returns. */
static int draw(const plot_file_t *plot)
{
    FILE *picture = tmpfile();
    if (!picture)
        return errno;
    fprintf(plot->script, "END_OF_ROWS\ntitle = '%s'\n%s%s%s", plot->chart->title, plot_style, common,
            plot->chart->commands);
    int error = run_script(plot->script, picture);
    if (error == 0)
        error = save(picture, plot->path);
    fclose(picture);
    return error;
}

int plot_close(plot_file_t *plot, const world_t *world)
{
    if (!plot->script)
        return STATUS_GOOD;
    int error = plot->has_rows ? draw(plot) : 0;
    fclose(plot->script);
    plot->script = NULL;
    if (error != 0)
        fprintf(stderr, "%s: cannot draw %s: %s\n", world->program, plot->path,
                error == ECHILD ? "gnuplot failed" : strerror(error));
    return error == 0 ? STATUS_GOOD : STATUS_FAILED;
}
