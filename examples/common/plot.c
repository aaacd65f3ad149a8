/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The script goes to gnuplot through a temporary file on its standard input, with the data in it, and the picture comes
 * from its standard output: no shell and no gnuplot string ever sees a file name. This program copies it to the user's
 * file, as gnuplot does not notice if a picture cannot be written.
 */
#define _GNU_SOURCE
#include "plot.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* In pixels. A panel alone is larger; each cell of a heat map needs so much. */
enum { ALONE_WIDTH = 1000, ALONE_HEIGHT = 620, PANEL_WIDTH = 760, PANEL_HEIGHT = 480 };
enum { CELL_WIDTH = 110, CELL_HEIGHT = 44 };
/* Around the cells of a heat map: its labels, title, and scale of colors. */
enum { MARGIN_WIDTH = 360, MARGIN_HEIGHT = 180 };

typedef struct format {
    const char *ending;
    const char *terminal;
} format_t;

static const format_t formats[] = {{".png", "pngcairo"}, {".svg", "svg"}};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

/* Returns the terminal that draws a file of this name, or NULL. */
static const char *find_terminal(const char *path)
{
    size_t length = strlen(path);

    for (int i = 0; i < FORMATS; i++) {
        size_t ending_length = strlen(formats[i].ending);

        if (length > ending_length && strcmp(path + length - ending_length, formats[i].ending) == 0)
            return formats[i].terminal;
    }
    return NULL;
}

/* Waits for a child. Returns whether it succeeded. */
static bool wait_for(pid_t child)
{
    int status;
    pid_t ended;

    do
        ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    return ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Says where gnuplot reads and writes. Its warnings about ranges of one value are of no use. Returns 0 or an error. */
static int redirect(posix_spawn_file_actions_t *actions, int script_descriptor, int picture_descriptor)
{
    int error = posix_spawn_file_actions_adddup2(actions, script_descriptor, STDIN_FILENO);

    if (error == 0)
        error = posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (error != 0)
        return error;
    if (picture_descriptor >= 0)
        return posix_spawn_file_actions_adddup2(actions, picture_descriptor, STDOUT_FILENO);
    return posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
}

/*
 * Starts gnuplot, without the user's own settings.
 *
 * script              read from its beginning
 * picture_descriptor  where the picture goes; -1: nowhere
 *
 * Returns 0 or an error.
 */
static int start_gnuplot(pid_t *child, FILE *script, int picture_descriptor)
{
    char *arguments[] = {"gnuplot", "-d", NULL};
    posix_spawn_file_actions_t actions;
    int error;

    if (ferror(script) || fflush(script) != 0 || fseek(script, 0, SEEK_SET) != 0) {
        error = errno;
        return error != 0 ? error : EIO;
    }
    error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return error;
    error = redirect(&actions, fileno(script), picture_descriptor);
    if (error == 0)
        error = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Returns 0 or an error. */
static int write_all(int descriptor, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t written = write(descriptor, data, bytes);

        if (written < 0 && errno != EINTR)
            return errno;
        if (written > 0) {
            data += written;
            bytes -= (size_t)written;
        }
    }
    return 0;
}

/* Copies all that comes. Returns 0, ENODATA where nothing came, or the error. */
static int copy_picture(int from, int to)
{
    char data[65536];
    int error = ENODATA;

    for (;;) {
        ssize_t bytes = read(from, data, sizeof(data));

        if (bytes < 0 && errno == EINTR)
            continue;
        if (bytes <= 0)
            return bytes < 0 ? errno : error;
        error = write_all(to, data, (size_t)bytes);
        if (error != 0)
            return error;
    }
}

/* Returns 0, ECHILD where gnuplot did not succeed, or the error of starting it or of writing the picture. */
static int run_gnuplot(FILE *script, int picture_descriptor)
{
    int ends[2], error, copied;
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    error = start_gnuplot(&child, script, ends[1]);
    close(ends[1]);
    copied = error == 0 ? copy_picture(ends[0], picture_descriptor) : 0;
    close(ends[0]); /* gnuplot ends, if there is no more to be done with what it draws */
    if (error == 0 && !wait_for(child) && (copied == 0 || copied == ENODATA))
        error = ECHILD;
    else if (error == 0 && copied != 0)
        error = copied == ENODATA ? ECHILD : copied;
    return error;
}

/* Returns 0 where gnuplot is there and knows the terminal, ECHILD, or the error of starting it. */
static int try_gnuplot(const char *terminal)
{
    FILE *script = tmpfile();
    pid_t child;
    int error;

    if (script == NULL)
        return errno;
    fprintf(script, "set terminal %s\n", terminal);
    error = start_gnuplot(&child, script, -1);
    if (error == 0 && !wait_for(child))
        error = ECHILD;
    fclose(script);
    return error;
}

/* Writes into reason what is wrong with the file or gnuplot; nothing if all is well. Keeps the file open then. */
static void open_file(plot_file_t *file, char *reason, size_t reason_bytes)
{
    int error;

    reason[0] = '\0';
    file->terminal = find_terminal(file->path);
    if (file->terminal == NULL) {
        snprintf(reason, reason_bytes, "\"%.200s\" is not allowed, give a file that ends in .png or .svg", file->path);
        return;
    }
    error = try_gnuplot(file->terminal);
    if (error == ENOENT)
        snprintf(reason, reason_bytes, "needs the program gnuplot, which is not installed or not on the PATH");
    else if (error == ECHILD)
        snprintf(reason, reason_bytes, "needs a gnuplot that knows the terminal %s", file->terminal);
    else if (error != 0)
        snprintf(reason, reason_bytes, "cannot run gnuplot: %s", strerror(error));
    if (error != 0)
        return;
    file->descriptor = open(file->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file->descriptor < 0)
        snprintf(reason, reason_bytes, "\"%.200s\" is not allowed, give a file that can be written: %s", file->path,
                 strerror(errno));
}

int plot_open(plot_file_t *file, const world_t *world, const char *path)
{
    char reason[400] = "";

    *file = (plot_file_t)PLOT_NO_FILE;
    if (world->rank == 0 && path != NULL) {
        file->path = path;
        open_file(file, reason, sizeof(reason));
    }
    return world_all(world, reason[0] == '\0') ? STATUS_GOOD
                                               : world_refuse(world, "option --plot: %s (see --help)", reason);
}

/* Writes a text as gnuplot quotes it. A line of its script cannot hold the character that ends it. */
static void put_text(FILE *script, const char *text)
{
    fputc('\'', script);
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '\'')
            fputc('\'', script);
        fputc((unsigned char)*at < ' ' ? ' ' : *at, script);
    }
    fputc('\'', script);
}

static void put_named_text(FILE *script, const char *name, const char *text)
{
    fprintf(script, "set %s ", name);
    put_text(script, text != NULL ? text : "");
    fputc('\n', script);
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
    double least, most;
    bool any; /* value at all */
} range_t;

static void widen(range_t *range, const double *values, int count, bool logarithmic)
{
    for (int i = 0; values != NULL && i < count; i++) {
        if (!isfinite(values[i]) || (logarithmic && values[i] <= 0))
            continue;
        range->least = !range->any || values[i] < range->least ? values[i] : range->least;
        range->most = !range->any || values[i] > range->most ? values[i] : range->most;
        range->any = true;
    }
}

static range_t find_range(const plot_panel_t *panel, bool is_x, bool logarithmic)
{
    range_t range = {0};

    for (int i = 0; i < panel->series_count; i++) {
        const plot_series_t *series = &panel->series[i];

        widen(&range, is_x ? series->x : series->y, series->count, logarithmic);
        widen(&range, is_x ? NULL : series->low, series->count, logarithmic);
        widen(&range, is_x ? NULL : series->high, series->count, logarithmic);
    }
    return range;
}

static void put_categories(FILE *script, const char *name, const plot_axis_t *axis)
{
    fprintf(script, "set %stics (", name);
    for (int i = 0; i < axis->categories; i++) {
        fputs(i == 0 ? "" : ", ", script);
        put_text(script, axis->category[i]);
        fprintf(script, " %d", i);
    }
    fputs(")\n", script);
}

/* An axis without a value needs a range, and is not logarithmic: gnuplot would give up the whole chart. */
static void put_axis(FILE *script, const plot_panel_t *panel, bool is_x)
{
    const plot_axis_t *axis = is_x ? &panel->x : &panel->y;
    const char *name = is_x ? "x" : "y";
    range_t range = find_range(panel, is_x, axis->logarithmic);

    fprintf(script, "set %slabel ", name);
    put_text(script, axis->label != NULL ? axis->label : "");
    fprintf(script, "\nunset logscale %s\nset %stics autofreq\n", name, name);
    if (axis->category != NULL) {
        bool down = panel->heat_map != NULL && !is_x;

        put_categories(script, name, axis);
        fprintf(script, "set %srange [%g:%g]\n", name, down ? axis->categories - 0.5 : -0.5,
                down ? -0.5 : axis->categories - 0.5);
    } else if (!range.any) {
        fprintf(script, "set %srange [0:1]\n", name);
    } else if (range.least == range.most && axis->logarithmic) {
        fprintf(script, "set %srange [%.17g:%.17g]\nset logscale %s\n", name, range.least / 2, range.most * 2, name);
    } else {
        fprintf(script, "set %srange [*:*]\n%sset logscale %s\n", name, axis->logarithmic ? "" : "un", name);
    }
}

static void put_series_data(FILE *script, int number, const plot_series_t *series)
{
    fprintf(script, "$series%d << END\n", number);
    for (int i = 0; i < series->count; i++) {
        put_value(script, series->x[i]);
        if (series->style != PLOT_BAND)
            put_value(script, series->y[i]);
        if (series->style == PLOT_BAND || series->style == PLOT_ERROR_BARS) {
            put_value(script, series->low[i]);
            put_value(script, series->high[i]);
        }
        fputc('\n', script);
    }
    if (series->count == 0)
        fputs(" NaN NaN NaN NaN\n", script);
    fputs("END\n", script);
}

static void put_series(FILE *script, int number, const plot_series_t *series)
{
    static const char *const with[] = {[PLOT_LINES] = "using 1:2 with lines linewidth 2",
                                       [PLOT_POINTS] = "using 1:2 with points pointtype 7 pointsize 0.6",
                                       [PLOT_LINES_POINTS] =
                                           "using 1:2 with linespoints linewidth 2 pointtype 7 pointsize 0.8",
                                       [PLOT_ERROR_BARS] = "using 1:2:3:4 with yerrorbars pointtype 7 pointsize 0.6",
                                       [PLOT_BAND] = "using 1:2:3 with filledcurves fillstyle transparent solid 0.2"};

    fprintf(script, "$series%d %s linecolor %d ", number, with[series->style],
            series->color > 0 ? series->color : number + 1);
    if (series->title == NULL)
        fputs("notitle", script);
    else
        fputs("title ", script), put_text(script, series->title);
}

static void put_curves(FILE *script, const plot_panel_t *panel)
{
    for (int i = 0; i < panel->series_count; i++)
        put_series_data(script, i, &panel->series[i]);
    fputs("plot ", script);
    for (int i = 0; i < panel->series_count; i++) {
        fputs(i == 0 ? "" : ", ", script);
        put_series(script, i, &panel->series[i]);
    }
    fputs(panel->series_count == 0 ? "NaN notitle\n" : "\n", script);
}

/* Boxes rather than an image, which needs two rows and two columns at least. */
static void put_heat_map(FILE *script, const plot_panel_t *panel)
{
    const plot_heat_map_t *map = panel->heat_map;
    range_t range = {0};
    int cells = panel->x.categories * panel->y.categories;

    widen(&range, map->values, cells, map->logarithmic);
    fputs(range.any ? "set cbrange [*:*]\n" : "set cbrange [1:2]\n", script);
    put_named_text(script, "cblabel", map->label);
    fprintf(script, "%sset logscale cb\n$cells << END\n", map->logarithmic ? "" : "un");
    for (int i = 0; i < cells; i++) {
        fprintf(script, "%d %d", i % panel->x.categories, i / panel->x.categories);
        put_value(script, map->values[i]);
        if (isfinite(map->values[i]))
            fprintf(script, " %.*f\n", map->decimals, map->values[i]);
        else
            fputs(" -\n", script);
    }
    fputs("END\nplot $cells using 1:2:(0.5):(0.5):3 with boxxyerror fillstyle solid noborder linecolor palette notitle"
          ", $cells using 1:2:4 with labels notitle\n",
          script);
}

/* The part of the panel that stays free at either end of an axis, so that no point lies on its edge. */
static double axis_margin(const plot_axis_t *axis)
{
    return axis->category == NULL && !axis->logarithmic ? 0.02 : 0;
}

static void put_panel(FILE *script, const plot_panel_t *panel)
{
    double x_margin = axis_margin(&panel->x);
    double y_margin = axis_margin(&panel->y);

    put_named_text(script, "title", panel->title);
    put_axis(script, panel, true);
    put_axis(script, panel, false);
    fprintf(script, "%sset grid\nset offsets graph %g, graph %g, graph %g, graph %g\n",
            panel->heat_map != NULL ? "un" : "", x_margin, x_margin, y_margin, y_margin);
    if (panel->heat_map != NULL)
        put_heat_map(script, panel);
    else
        put_curves(script, panel);
}

static int greater(int first, int second)
{
    return first > second ? first : second;
}

static int plot_columns(const plot_t *plot)
{
    return plot->columns > 0 ? plot->columns : (int)ceil(sqrt(plot->panel_count));
}

static int plot_rows(const plot_t *plot)
{
    return (plot->panel_count + plot_columns(plot) - 1) / plot_columns(plot);
}

/* The size of the largest panel, in pixels. */
static void find_panel_size(const plot_t *plot, int *width, int *height)
{
    *width = plot->panel_count == 1 ? ALONE_WIDTH : PANEL_WIDTH;
    *height = plot->panel_count == 1 ? ALONE_HEIGHT : PANEL_HEIGHT;
    for (int i = 0; i < plot->panel_count; i++) {
        const plot_panel_t *panel = &plot->panels[i];

        if (panel->heat_map != NULL) {
            *width = greater(*width, MARGIN_WIDTH + CELL_WIDTH * panel->x.categories);
            *height = greater(*height, MARGIN_HEIGHT + CELL_HEIGHT * panel->y.categories);
        }
    }
}

static void put_plot(FILE *script, const plot_t *plot, const char *terminal)
{
    int width, height;

    find_panel_size(plot, &width, &height);
    fprintf(script, "set encoding utf8\nset terminal %s noenhanced size %d,%d font 'sans,11' background rgb 'white'\n",
            terminal, width * plot_columns(plot), height * plot_rows(plot));
    /* Pale enough for black figures in all cells, and clear without colors, too. */
    fputs("set palette defined (0 '#ffffe5', 1 '#fed98e', 2 '#fe9929', 3 '#e8703a')\n"
          "set key below height 1\nset grid linetype 1 linecolor rgb '#dddddd'\n",
          script);
    fprintf(script, "set multiplot layout %d,%d title ", plot_rows(plot), plot_columns(plot));
    put_text(script, plot->title != NULL ? plot->title : "");
    fputs(" font 'sans,13'\n", script);
    for (int i = 0; i < plot->panel_count; i++)
        put_panel(script, &plot->panels[i]);
    fputs("unset multiplot\n", script);
}

/* Returns 0 or an error as run_gnuplot does. */
static int draw(const plot_file_t *file, const plot_t *plot)
{
    FILE *script = tmpfile();
    int error;

    if (script == NULL)
        return errno;
    put_plot(script, plot, file->terminal);
    if (ftruncate(file->descriptor, 0) != 0 && errno != EINVAL) /* EINVAL: not a regular file, so nothing to truncate */
        error = errno;
    else
        error = run_gnuplot(script, file->descriptor);
    fclose(script);
    return error;
}

/* A file without a picture is worse than none. */
static void remove_empty(const plot_file_t *file)
{
    struct stat status;

    if (fstat(file->descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0)
        unlink(file->path);
}

int plot_draw(plot_file_t *file, const world_t *world, const plot_t *plot)
{
    int error;

    if (file->descriptor < 0)
        return STATUS_GOOD;
    error = draw(file, plot);
    if (error != 0 && ftruncate(file->descriptor, 0) == 0)
        remove_empty(file);
    if (close(file->descriptor) != 0 && error == 0)
        error = errno;
    file->descriptor = -1;
    if (error == 0)
        return STATUS_GOOD;
    fprintf(stderr, "%s: cannot draw %s: %s\n", world->program, file->path,
            error == ECHILD ? "gnuplot failed" : strerror(error));
    return STATUS_FAILED;
}

void plot_close(plot_file_t *file)
{
    if (file->descriptor < 0)
        return;
    remove_empty(file);
    close(file->descriptor);
    file->descriptor = -1;
}
