/* SPDX-License-Identifier: BSD-3-Clause */
/* output.c - open and close files, and write rows as a table, CSV or JSON. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Raised if a column changes its meaning, its name or its unit, or is removed. doc/results.md has the columns. */
enum { SCHEMA_VERSION = 1 };

const char *const output_formats[] = {[FORMAT_TABLE] = "table", [FORMAT_CSV] = "csv", [FORMAT_JSON] = "json", NULL};

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

FILE *output_create(const char *path, const char *option, const char *program)
{
    FILE *file = path ? fopen(path, "w") : stdout;
    if (!file)
        options_refuse(program, "option %s: \"%.200s\" is not allowed, give a file that can be written: %s", option,
                       path, strerror(errno));
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

int output_columns(void)
{
    enum { USUAL = 80 };
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : USUAL;
}

/* ---- Rows */

/* Prints a text as a field, in quotes if it needs them. */
void quote_csv(FILE *file, const char *text)
{
    if (text[0] != '#' && !strpbrk(text, ",\"\r\n")) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

/* The bytes of the character that a text begins with in UTF-8, 0 if it is none. */
static int utf8_bytes(const unsigned char *text)
{
    static const uint32_t min[] = {0, 0, 0x80, 0x800, 0x10000}; /* that takes so many bytes */
    int bytes = text[0] < 0x80 ? 1 : text[0] < 0xc0 ? 0 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
    uint32_t character = bytes > 1 ? text[0] & (0xffU >> bytes) : text[0];
    for (int i = 1; i < bytes; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        character = character << 6 | (text[i] & 0x3f);
    }
    bool is_half = character >= 0xd800 && character <= 0xdfff;
    return character >= min[bytes] && character <= 0x10ffff && !is_half ? bytes : 0;
}

void quote_json(FILE *file, const char *text)
{
    const unsigned char *next = (const unsigned char *)text;
    fputc('"', file);
    while (*next != '\0') {
        int bytes = utf8_bytes(next);
        if (*next == '"' || *next == '\\')
            fprintf(file, "\\%c", *next);
        else if (*next < ' ' || *next == 0x7f)
            fprintf(file, "\\u%04x", *next);
        else if (bytes == 0)
            fputs("\\ufffd", file); /* the character for what is none */
        else
            fwrite(next, 1, (size_t)bytes, file);
        next += bytes > 0 ? bytes : 1;
    }
    fputc('"', file);
}

void schema_begin(FILE *file, const char *schema)
{
    fprintf(file, "{\"schema\":\"%s\",\"version\":%d,\"provenance\":{", schema, SCHEMA_VERSION);
}

void table_head(const table_t *table)
{
    FILE *file = table->output->file;
    if (table->output->format == FORMAT_JSON) {
        schema_begin(file, table->schema);
        fprintf(file, "\"package\":\"libmpix_harmonize %s\"}}\n", options_version());
        output_flush(file);
        return;
    }
    if (table->output->format == FORMAT_CSV)
        fprintf(file, "# schema: %s %d\n", table->schema, SCHEMA_VERSION);
    for (int i = 0; i < table->column_count; i++) {
        const column_t *column = &table->columns[i];
        if (table->output->format == FORMAT_CSV)
            fprintf(file, "%s%s", i > 0 ? "," : "", column->name);
        else
            fprintf(file, "%c%*s", i == 0 ? '#' : ' ', column->width - 1, column->title);
    }
    fputc('\n', file);
    output_flush(file);
}

/* Beyond this, whole numbers are not exact either. */
#define MAX_EXACT 1e15

/* With as many digits as fit into the column, if not all do. */
static void print_number(FILE *file, const column_t *column, double number)
{
    enum { MIN_EXPONENT_BYTES = 7 }; /* the point, e+308, and the blank before it */
    int width = column->width - 1, digits = column->width - MIN_EXPONENT_BYTES - (number < 0);
    bool may_round = column->decimals > 0 || fabs(number) >= MAX_EXACT;
    if (may_round && snprintf(NULL, 0, "%.*f", column->decimals, number) > width)
        fprintf(file, "%*.*g", width, digits, number);
    else
        fprintf(file, "%*.*f", width, column->decimals, number);
}

/* A negative number that is shown as zero has no sign. */
static double as_shown(double number, int decimals)
{
    return signbit(number) && nearbyint(number * pow(10, decimals)) == 0 ? 0 : number;
}

static void print_aligned(FILE *file, const column_t *column, const cell_t *cell)
{
    if (cell->text)
        fprintf(file, "%*s", column->width - 1, cell->text[0] == '\0' ? "-" : cell->text);
    else
        print_number(file, column, as_shown(cell->number / (column->unit > 0 ? column->unit : 1), column->decimals));
}

static void print_plain(FILE *file, bool json, const column_t *column, const cell_t *cell)
{
    if (json)
        fprintf(file, "\"%s\":", column->name);
    int decimals = column->unit > 0 ? 0 : column->decimals;
    if (!cell->text)
        fprintf(file, "%.*f", decimals, as_shown(cell->number, decimals));
    else if (!json)
        quote_csv(file, cell->text);
    else if (cell->text[0] == '\0')
        fputs("null", file);
    else
        quote_json(file, cell->text);
}

void table_row(const table_t *table, const cell_t *cells)
{
    FILE *file = table->output->file;
    bool aligned = table->output->format == FORMAT_TABLE, json = table->output->format == FORMAT_JSON;
    fputs(json ? "{" : "", file);
    for (int i = 0; i < table->column_count; i++) {
        if (i > 0 || aligned)
            fputc(aligned ? ' ' : ',', file);
        if (aligned)
            print_aligned(file, &table->columns[i], &cells[i]);
        else
            print_plain(file, json, &table->columns[i], &cells[i]);
    }
    fputs(json ? "}\n" : "\n", file);
    output_flush(file);
}
