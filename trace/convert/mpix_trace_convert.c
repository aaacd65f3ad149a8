/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_trace_convert - a trace of mpix_trace in a format that other tools read. It does not use MPI.
 */
#include "common/cli/options.h"
#include "common/cli/output.h"
#include "trace/convert/conversion.h"
#include "trace/read/parse.h"
#include "trace/read/symbols.h"

#include <string.h>

enum { FORMAT_OTF2, FORMAT_PERFETTO, FORMAT_LINES };
enum { CLOCK_LOCAL, CLOCK_GLOBAL };

typedef struct {
    int64_t format;
    int64_t clock;
    const char *output_path;
    text_list_t folders;
} convert_settings;

static const char program_name[] = "mpix_trace_convert";

static const char *const formats[] = {"otf2", "perfetto", "csv", NULL};
static const char *const clocks[] = {"local", "global", NULL};

#define FIELD(field) offsetof(convert_settings, field)

static const option_spec_t options[] = {
    {0, "format", "FORMAT", OPTION_CHOICE, FIELD(format), .names = NAMES(formats), .doc = "what to write",
     .more = "`otf2` is an archive of OTF2, as Vampir, Scalasca, TraceCompass and others read it; `perfetto` is JSON "
             "that ui.perfetto.dev and Chrome (chrome://tracing) show; `csv` is comma-separated values, a line for "
             "each event."},
    {'o', "output", "OUT", OPTION_TEXT, FIELD(output_path), .default_doc = "DIR.otf2 for OTF2, else standard output",
     .doc = "where to write: a file; for otf2 a folder", .more = "The folder must not contain an archive already."},
    {0, "times", "KIND", OPTION_CHOICE, FIELD(clock), .names = NAMES(clocks),
     .default_doc = "local with otf2, else global", .doc = "the clock of the times",
     .more = "With `local`, an archive has the offsets by which readers correct the times. "
             "In csv each line has both, and the option is refused."},
};

static const option_spec_t operand = {0, "trace", "DIR", OPTION_TEXTS, .place = FIELD(folders)};

static const char notes[] =
    "DIR is what mpix_trace wrote. In csv, each line has both times.\n"
    "\n"
    "Exit status: 0 if all is well, 1 if the output cannot be written, 2 for a bad option, a trace that cannot be\n"
    "read, or a format that this program was built without.\n";

static const program_spec_t program =
    PROGRAM_SPEC(program_name, "Converts a trace of mpix_trace for other tools.", .operand = &operand,
                 .usage = "mpix_trace_convert --format FORMAT [OPTION]... DIR", .schemas = SCHEMAS(&events_schema));

static options_outcome_t read_options(int argc, char **argv, convert_settings *given)
{
    options_outcome_t outcome = options_parse(&program, argc, argv, given);
    if (outcome != OPTIONS_RUN)
        return outcome;
    if (given->folders.count != 1)
        return options_refuse(program_name, "%s: give the folder that mpix_trace wrote",
                              given->folders.count == 0 ? "no trace" : "more than one trace");
    if (given->format == ABSENT)
        return options_refuse(program_name, "option --format is missing: give otf2, perfetto or csv");
    if (given->format == FORMAT_LINES && given->clock != ABSENT)
        return options_refuse(program_name, "option --times is not for csv, which has both times");
    if (given->clock == ABSENT)
        given->clock = given->format == FORMAT_OTF2 ? CLOCK_LOCAL : CLOCK_GLOBAL;
    return OPTIONS_RUN;
}

/* ---- Output */

/* Where to write; NULL: standard output. A folder that is not named is the trace's, with another ending. */
static const char *choose_path(const convert_settings *given, char own[TRACE_PATH_SIZE])
{
    if (given->output_path || given->format != FORMAT_OTF2)
        return given->output_path;
    const char *folder = given->folders.texts[0];
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    snprintf(own, TRACE_PATH_SIZE, "%.*s.otf2", (int)length, folder);
    return own;
}

/* What writes a format to a file, or to a folder; NULL: the program was built without the library for it. */
typedef struct {
    const char *format;
    int (*convert)(conversion *job);
    bool is_folder;
    const char *library, *package;
} writer;
static const writer writers[] = {
#ifdef MH_WITH_OTF2
    [FORMAT_OTF2] = {"otf2", convert_to_otf2, .is_folder = true},
#else
    [FORMAT_OTF2] = {"otf2", .library = "OTF2", .package = "libopen-trace-format2-dev"},
#endif
#ifdef MH_WITH_JANSSON
    [FORMAT_PERFETTO] = {"perfetto", convert_to_perfetto},
#else
    [FORMAT_PERFETTO] = {"perfetto", .library = "Jansson", .package = "libjansson-dev"},
#endif
    [FORMAT_LINES] = {"csv", convert_to_csv},
};

static int convert(conversion *job, const writer *by)
{
    if (!by->convert) {
        options_refuse(program_name,
                       "option --format: \"%s\" is not allowed, as this program was built without the %s library "
                       "(Debian package: %s)",
                       by->format, by->library, by->package);
        return STATUS_BAD_OPTION;
    }
    if (by->is_folder)
        return by->convert(job);
    job->file = output_create(job->path, "--output", program_name);
    if (!job->file)
        return STATUS_BAD_OPTION;
    const int status = by->convert(job);
    return output_finish(job->file, job->path, program_name) ? status : STATUS_FAILED;
}

/* What the output does not say. */
static void tell(const conversion *job)
{
    static const char *const kinds[LEFT_KINDS] = {
        [LEFT_END] = "ends of regions that are not the innermost ones",
        [LEFT_MESSAGE] = "messages whose communicator or partner is not known",
        [LEFT_COLLECTIVE] = "collective operations that the format does not have, or whose communicator is not known",
        [LEFT_COMPLETION] = "completions of collective operations whose begin is not in the trace",
        [LEFT_ACCESS] = "accesses of windows and files that are not known",
        [LEFT_LOCAL] = "completions at the own end, of MPI_Win_flush_local",
        [LEFT_FILE_END] = "ends of operations of files whose calls do not wait"};
    for (int kind = 0; kind < LEFT_KINDS; kind++)
        if (job->left_out[kind] > 0)
            fprintf(stderr, "%s: left out: %s: %zu\n", program_name, kinds[kind], job->left_out[kind]);
    if (job->backward > 0)
        fprintf(stderr, "%s: messages that arrive before they are sent, by these times: %zu\n", program_name,
                job->backward);
}

static int run(const convert_settings *given)
{
    char message[TRACE_MESSAGE_SIZE], path[TRACE_PATH_SIZE];
    trace read;
    if (!trace_read(&read, given->folders.texts[0], message)) {
        fprintf(stderr, "%s: %s\n", program_name, message);
        return STATUS_BAD_OPTION;
    }
    trace_warn(&read, program_name);
    symbols_improve(&read, given->folders.texts[0]);
    /* OTF2 gets the times themselves, which are local without any correction. */
    bool is_local = given->clock == CLOCK_LOCAL;
    conversion job = {.program = program_name, .of = &read, .is_local = is_local, .path = choose_path(given, path)};
    trace_set_times(&read, is_local && given->format == FORMAT_PERFETTO ? TRACE_LOCAL : TRACE_GLOBAL);
    communicators_find(&job.communicators, &read);
    int status = convert(&job, &writers[given->format]);
    if (status == STATUS_GOOD)
        tell(&job);
    communicators_free(&job.communicators);
    trace_free(&read);
    return status;
}

int main(int argc, char **argv)
{
    convert_settings given = {0};
    output_begin();
    options_outcome_t outcome = read_options(argc, argv, &given);
    return outcome == OPTIONS_RUN ? run(&given) : output_answer(outcome, program_name);
}
