/* SPDX-License-Identifier: BSD-3-Clause */
#include "plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* In pixels. A panel alone is larger. */
enum { ALONE_WIDTH = 1000, ALONE_HEIGHT = 620, PANEL_WIDTH = 760, PANEL_HEIGHT = 480 };

/* ---- Gnuplot */

/* Copies all that comes, to nowhere if to is NULL. Returns 0, ECHILD if a picture did not come, or the error. */
static int copy(FILE *from, FILE *to)
{
    char data[65536];
    int error = to == NULL ? 0 : ECHILD;
    for (size_t bytes; (bytes = fread(data, 1, sizeof(data), from)) > 0; error = 0)
        if (to != NULL && fwrite(data, 1, bytes, to) != bytes)
            return errno;
    return error;
}

/*
 * Runs a script without the user's own settings; the picture goes to a file, if it is not NULL.
 *
 * Gnuplot reads the script, with the data in it, from a temporary file by its descriptor. The picture comes from its
 * standard output: no shell and no gnuplot string ever sees a file name. This program copies it to the user's file, as
 * gnuplot does not notice if a picture cannot be written. Warnings of gnuplot about ranges of one value are of no use.
 *
 * Returns 0, ENOENT if there is no gnuplot, ECHILD if it failed or drew nothing, or the error of starting it or of
 * writing the picture.
 */
static int run_script(FILE *script, FILE *picture)
{
    enum { NOT_FOUND = 127 }; /* how a shell exits */
    char command[80];
    if (ferror(script) || fflush(script) != 0 || fseek(script, 0, SEEK_SET) != 0)
        return errno != 0 ? errno : EIO;
    snprintf(command, sizeof(command), "exec gnuplot -d /dev/fd/%d 2>/dev/null", fileno(script));
    FILE *output = popen(command, "r");
    if (output == NULL)
        return errno;
    int error = copy(output, picture);
    int status = pclose(output); /* gnuplot ends, if there is no more to be done with what it draws */
    if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
        return ENOENT;
    return status == 0 || (error != 0 && error != ECHILD) ? error : ECHILD;
}

/* ---- The script */

/* Writes a text as gnuplot quotes it, or an empty one. A line of its script cannot hold the character that ends it. */
static void put_text(FILE *script, const char *text)
{
    fputc('\'', script);
    for (const char *at = text != NULL ? text : ""; *at != '\0'; at++) {
        if (*at == '\'')
            fputc('\'', script);
        fputc((unsigned char)*at < ' ' ? ' ' : *at, script);
    }
    fputc('\'', script);
}

static void put_value(FILE *script, double value)
{
    if (isfinite(value))
        fprintf(script, " %.17g", value);
    else
        fputs(" NaN", script);
}

/* What is to be seen of one axis. */
typedef struct range {
    double min, max;
    bool any; /* value at all */
} range_t;

static range_t find_range(const plot_panel_t *panel, bool is_x, bool logarithmic)
{
    range_t range = {0};
    for (int i = 0; i < panel->series_count; i++) {
        const double *values = is_x ? panel->series[i].x : panel->series[i].y;
        for (int k = 0; k < panel->series[i].count; k++) {
            if (!isfinite(values[k]) || (logarithmic && values[k] <= 0))
                continue;
            range.min = range.any ? fmin(range.min, values[k]) : values[k];
            range.max = range.any ? fmax(range.max, values[k]) : values[k];
            range.any = true;
        }
    }
    return range;
}

/* An axis without a value needs a range, and is not logarithmic: gnuplot would give up the whole chart. */
static void put_axis(FILE *script, const plot_panel_t *panel, bool is_x)
{
    const plot_axis_t *axis = is_x ? &panel->x : &panel->y;
    const char *name = is_x ? "x" : "y";
    range_t range = find_range(panel, is_x, axis->logarithmic);
    fprintf(script, "set %slabel ", name);
    put_text(script, axis->label);
    fprintf(script, "\nunset logscale %s\nset %stics autofreq\n", name, name);
    if (axis->category != NULL) {
        fprintf(script, "set %srange [-0.5:%g]\nset %stics ()\n", name, axis->categories - 0.5, name);
        for (int i = 0; i < axis->categories; i++) {
            fprintf(script, "set %stics add (", name);
            put_text(script, axis->category[i]);
            fprintf(script, " %d)\n", i);
        }
    } else if (!range.any) {
        fprintf(script, "set %srange [0:1]\n", name);
    } else if (range.min == range.max && axis->logarithmic) {
        fprintf(script, "set %srange [%.17g:%.17g]\nset logscale %s\n", name, range.min / 2, range.max * 2, name);
    } else {
        fprintf(script, "set %srange [*:*]\n%sset logscale %s\n", name, axis->logarithmic ? "" : "un", name);
    }
}

static void put_series_data(FILE *script, int number, const plot_series_t *series)
{
    fprintf(script, "$series%d << END\n", number);
    for (int i = 0; i < series->count; i++) {
        put_value(script, series->x[i]);
        put_value(script, series->y[i]);
        fputc('\n', script);
    }
    fputs(series->count == 0 ? " NaN NaN\nEND\n" : "END\n", script);
}

static void put_curves(FILE *script, const plot_panel_t *panel)
{
    static const char *const with[] = {[PLOT_LINES] = "lines linewidth 2",
                                       [PLOT_POINTS] = "points pointtype 7 pointsize 0.6",
                                       [PLOT_LINES_POINTS] = "linespoints linewidth 2 pointtype 7 pointsize 0.8"};
    for (int i = 0; i < panel->series_count; i++)
        put_series_data(script, i, &panel->series[i]);
    fputs(panel->series_count == 0 ? "plot NaN notitle" : "plot ", script);
    for (int i = 0; i < panel->series_count; i++) {
        const plot_series_t *series = &panel->series[i];
        fprintf(script, "%s$series%d using 1:2 with %s linecolor %d title ", i == 0 ? "" : ", ", i, with[series->style],
                series->color > 0 ? series->color : i + 1);
        put_text(script, series->title);
    }
    fputc('\n', script);
}

/* The part of the panel that stays free at either end of an axis, so that no point lies on its edge. */
static double axis_margin(const plot_axis_t *axis)
{
    return axis->category == NULL && !axis->logarithmic ? 0.02 : 0;
}

static void put_panel(FILE *script, const plot_panel_t *panel)
{
    double x_margin = axis_margin(&panel->x), y_margin = axis_margin(&panel->y);
    fputs("set title ", script);
    put_text(script, panel->title);
    fputc('\n', script);
    put_axis(script, panel, true);
    put_axis(script, panel, false);
    fprintf(script, "set grid\nset offsets graph %g, graph %g, graph %g, graph %g\n", x_margin, x_margin, y_margin,
            y_margin);
    put_curves(script, panel);
}

static void put_plot(FILE *script, const plot_t *plot, const char *terminal)
{
    int columns = plot->columns > 0 ? plot->columns : (int)ceil(sqrt(plot->panel_count));
    int rows = (plot->panel_count + columns - 1) / columns;
    bool is_alone = plot->panel_count == 1;
    fprintf(script, "set encoding utf8\nset terminal %s noenhanced size %d,%d font 'sans,11' background rgb 'white'\n",
            terminal, columns * (is_alone ? ALONE_WIDTH : PANEL_WIDTH),
            rows * (is_alone ? ALONE_HEIGHT : PANEL_HEIGHT));
    fprintf(script,
            "set key below height 1\nset grid linetype 1 linecolor rgb '#dddddd'\nset multiplot layout %d,%d title ",
            rows, columns);
    put_text(script, plot->title);
    fputs(" font 'sans,13'\n", script);
    for (int i = 0; i < plot->panel_count; i++)
        put_panel(script, &plot->panels[i]);
    fputs("unset multiplot\n", script);
}

/* Draws into a file; without a plot, finds out whether gnuplot knows the terminal. Returns as run_script does. */
static int run_gnuplot(const char *terminal, const plot_t *plot, FILE *picture)
{
    FILE *script = tmpfile();
    if (script == NULL)
        return errno;
    if (plot != NULL)
        put_plot(script, plot, terminal);
    else
        fprintf(script, "set terminal %s\n", terminal);
    int error = run_script(script, picture);
    fclose(script);
    return error;
}

/* ---- The file */

/* Returns the terminal that draws a file of this name, or NULL. */
static const char *find_terminal(const char *path)
{
    const char *ending = strlen(path) > strlen(".png") ? path + strlen(path) - strlen(".png") : "";
    return strcmp(ending, ".png") == 0 ? "pngcairo" : strcmp(ending, ".svg") == 0 ? "svg" : NULL;
}

/* Writes into reason what is wrong with the file or gnuplot; nothing if all is well. Keeps the file open then. */
static void open_file(plot_file_t *file, char *reason, size_t reason_bytes)
{
    file->terminal = find_terminal(file->path);
    if (file->terminal == NULL) {
        snprintf(reason, reason_bytes, "\"%.200s\" is not allowed, give a file that ends in .png or .svg", file->path);
        return;
    }
    int error = run_gnuplot(file->terminal, NULL, NULL);
    if (error == ENOENT)
        snprintf(reason, reason_bytes, "needs the program gnuplot, which is not installed or not on the PATH");
    else if (error == ECHILD)
        snprintf(reason, reason_bytes, "needs a gnuplot that knows the terminal %s", file->terminal);
    else if (error != 0)
        snprintf(reason, reason_bytes, "cannot run gnuplot: %s", strerror(error));
    if (error != 0)
        return;
    file->file = fopen(file->path, "a"); /* keeps what is there until there is something better */
    if (file->file != NULL)
        setvbuf(file->file, NULL, _IONBF, 0);
    else
        snprintf(reason, reason_bytes, "\"%.200s\" is not allowed, give a file that can be written: %s", file->path,
                 strerror(errno));
}

int plot_open(plot_file_t *file, const world_t *world, const char *path)
{
    char reason[400] = "";
    *file = (plot_file_t){0};
    if (world->rank == 0 && path != NULL) {
        file->path = path;
        open_file(file, reason, sizeof(reason));
        if (reason[0] != '\0')
            file->path = NULL;
    }
    return world_all(world, reason[0] == '\0') ? STATUS_GOOD : world_refuse(world, "option --plot: %s", reason);
}

/* A file without a picture is worse than none. */
static void remove_empty(const plot_file_t *file)
{
    struct stat status;
    if (fstat(fileno(file->file), &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0)
        unlink(file->path);
}

int plot_draw(plot_file_t *file, const world_t *world, const plot_t *plot)
{
    if (file->path == NULL)
        return STATUS_GOOD;
    /* EINVAL: not a regular file, so nothing to truncate */
    int error = ftruncate(fileno(file->file), 0) != 0 && errno != EINVAL ? errno : 0;
    if (error == 0)
        error = run_gnuplot(file->terminal, plot, file->file);
    if (error != 0 && ftruncate(fileno(file->file), 0) == 0)
        remove_empty(file);
    if (fclose(file->file) != 0 && error == 0)
        error = errno;
    if (error != 0)
        fprintf(stderr, "%s: cannot draw %s: %s\n", world->program, file->path,
                error == ECHILD ? "gnuplot failed" : strerror(error));
    file->path = NULL;
    return error == 0 ? STATUS_GOOD : STATUS_FAILED;
}

void plot_close(plot_file_t *file)
{
    if (file->path == NULL)
        return;
    remove_empty(file);
    fclose(file->file);
    file->path = NULL;
}
