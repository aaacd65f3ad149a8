/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * otf2.c - an archive of OTF2, written by one process: all events, then of each location the offsets of its clock, then
 * the global definitions.
 */
#include "trace/convert/otf2_private.h"

#include "common/cli/memory.h"
#include "common/cli/options.h"
#include "common/cli/output.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char archive_name[] = "traces";

#define NS_PER_S INT64_C(1000000000)

/* Times that a reader corrects are off by rounding, and none may be below 0 or outside of the span. */
#define SLACK_NS INT64_C(1000)

enum { EVENT_CHUNK_BYTES = 1024 * 1024, DEFINITION_CHUNK_BYTES = 4 * 1024 * 1024 };

/* ---- What the library asks for */

/* Errors are told once, when a call has returned one. */
static OTF2_ErrorCode note_error(void *data, const char *file, uint64_t line, const char *function, OTF2_ErrorCode code,
                                 const char *format, va_list arguments)
{
    otf2_writer *to = data;
    (void)file, (void)line, (void)function, (void)format, (void)arguments;
    if (to->cause == OTF2_SUCCESS && code > OTF2_SUCCESS)
        to->cause = code;
    return code;
}

static OTF2_FlushType flush(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool is_final)
{
    (void)data, (void)type, (void)location, (void)caller, (void)is_final;
    return OTF2_FLUSH;
}

/* Without a callback for the time after it, a flush leaves no event. */
static const OTF2_FlushCallbacks flush_callbacks = {.otf2_pre_flush = flush};

/* ---- Events */

static void put_location(otf2_writer *to, int rank, size_t i)
{
    const trace_process *process = &to->job->of->processes[rank];
    OTF2_EvtWriter *events = OTF2_Archive_GetEvtWriter(to->archive, otf2_location_ref(process, rank, i));
    if (!events) {
        otf2_check(to, OTF2_ERROR_INVALID_CALL);
        return;
    }
    if (i < process->location_count)
        otf2_put_events(to, &process->locations[i], events);
    otf2_check(to, OTF2_EvtWriter_GetNumberOfEvents(events, &to->event_counts[to->first_location[rank] + i]));
    otf2_check(to, OTF2_Archive_CloseEvtWriter(to->archive, events));
}

static void put_all_events(otf2_writer *to)
{
    otf2_check(to, OTF2_Archive_OpenEvtFiles(to->archive));
    for (int rank = 0; rank < to->job->of->size; rank++) {
        requests_find(&to->requests, &to->job->of->processes[rank]);
        for (size_t i = 0; i < otf2_location_count(&to->job->of->processes[rank]); i++)
            put_location(to, rank, i);
        requests_free(&to->requests);
    }
    otf2_check(to, OTF2_Archive_CloseEvtFiles(to->archive));
}

/* ---- Clocks */

/* The fraction counts where it is half a nanosecond or more. */
static int64_t whole_offset_ns(const otf2_writer *to, const trace_clock_record *record)
{
    return to->moved_ns + record->pair.ahead_ns + (record->pair.ahead_ps >= 500);
}

static void put_offset(otf2_writer *to, OTF2_DefWriter *definitions, int64_t time_ns, const trace_clock_record *record)
{
    otf2_check(to, OTF2_DefWriter_WriteClockOffset(definitions, (uint64_t)time_ns, whole_offset_ns(to, record),
                                                   record->pair.deviation_ns));
}

/*
 * Offset is what is added to a local time, here and in OTF2. Readers need two at least, else they correct nothing, and
 * local times that increase.
 */
static void put_offsets(otf2_writer *to, OTF2_DefWriter *definitions, const trace_process *process)
{
    const trace_clock_record *records = process->records;
    size_t count = process->record_count, written = 0;
    for (size_t i = 0; i < count; i++)
        if (i + 1 == count || records[i].pair.at_ns < records[i + 1].pair.at_ns) {
            put_offset(to, definitions, records[i].pair.at_ns, &records[i]);
            written++;
        }
    if (written == 1)
        put_offset(to, definitions, records[count - 1].pair.at_ns + 1, &records[count - 1]);
}

static void put_local_definitions(otf2_writer *to)
{
    otf2_check(to, OTF2_Archive_OpenDefFiles(to->archive));
    for (int rank = 0; rank < to->job->of->size; rank++) {
        const trace_process *process = &to->job->of->processes[rank];
        for (size_t i = 0; i < otf2_location_count(process); i++) {
            OTF2_DefWriter *definitions = OTF2_Archive_GetDefWriter(to->archive, otf2_location_ref(process, rank, i));
            if (!definitions) {
                otf2_check(to, OTF2_ERROR_INVALID_CALL);
                continue;
            }
            if (to->job->is_local)
                put_offsets(to, definitions, process);
            otf2_check(to, OTF2_Archive_CloseDefWriter(to->archive, definitions));
        }
    }
    otf2_check(to, OTF2_Archive_CloseDefFiles(to->archive));
}

/* ---- The archive */

static void put_properties(otf2_writer *to)
{
    char creator[64], command[1024];
    snprintf(creator, sizeof creator, "mpix_trace_convert %s", options_version());
    trace_text(&to->job->of->processes[0], "command", command, sizeof command);
    otf2_check(to, OTF2_Archive_SetCreator(to->archive, creator));
    if (command[0] != '\0')
        otf2_check(to, OTF2_Archive_SetProperty(to->archive, "MPIX::COMMAND", command, true));
}

static void put_archive(otf2_writer *to)
{
    otf2_check(to, OTF2_Archive_SetFlushCallbacks(to->archive, &flush_callbacks, NULL));
    otf2_check(to, OTF2_Archive_SetSerialCollectiveCallbacks(to->archive));
    put_properties(to);
    put_all_events(to);
    put_local_definitions(to);
    OTF2_GlobalDefWriter *definitions = OTF2_Archive_GetGlobalDefWriter(to->archive);
    if (definitions)
        otf2_put_definitions(to, definitions);
    else
        otf2_check(to, OTF2_ERROR_INVALID_CALL);
    otf2_check(to, OTF2_Archive_Close(to->archive));
}

static void prepare_numbers(otf2_numbers *of, size_t communicators)
{
    of->comms = or_exit(calloc(communicators + 1, sizeof *of->comms));
    of->numbers = or_exit(calloc(communicators + 1, sizeof *of->numbers));
}

static void free_numbers(otf2_numbers *of)
{
    free(of->comms);
    free(of->numbers);
}

/* What is needed of the trace before: where ranks begin in lists of all, and its first and last time. */
static void prepare(otf2_writer *to)
{
    const trace *of = to->job->of;
    size_t location_count = 0, site_count = 0;
    to->first_location = or_exit(malloc(array_bytes(of->size, sizeof *to->first_location)));
    to->first_site = or_exit(malloc(array_bytes(of->size, sizeof *to->first_site)));
    for (int rank = 0; rank < of->size; rank++) {
        to->first_location[rank] = location_count;
        to->first_site[rank] = site_count;
        location_count += otf2_location_count(&of->processes[rank]);
        site_count += of->processes[rank].site_count + of->processes[rank].called_count;
    }
    to->event_counts = or_exit(calloc(location_count + 1, sizeof *to->event_counts));
    prepare_numbers(&to->windows, (size_t)to->job->communicators.count);
    prepare_numbers(&to->files, (size_t)to->job->communicators.count);
    to->nodes = or_exit(calloc((size_t)of->size, sizeof *to->nodes));
    to->regions = or_exit(malloc(array_bytes((int64_t)of->name_count + 1, sizeof *to->regions)));
    to->region_names = or_exit(calloc(of->name_count + 1, sizeof *to->region_names));
    for (size_t id = 0; id < of->name_count; id++)
        to->regions[id] = OTF2_UNDEFINED_REGION;
}

/* The first and the last global time; false if a local time to be written is below 0, which OTF2 does not have. */
static bool find_ends(const conversion *job, int64_t *min_ns, int64_t *max_ns)
{
    *min_ns = INT64_MAX, *max_ns = INT64_MIN;
    for (const trace_location *at = NULL; (at = trace_next_location(job->of, at));) {
        if (at->count == 0)
            continue;
        int64_t first_ns = conversion_global_ns(job, at, 0), last_ns = conversion_global_ns(job, at, at->count - 1);
        *min_ns = first_ns < *min_ns ? first_ns : *min_ns;
        *max_ns = last_ns > *max_ns ? last_ns : *max_ns;
        if (job->is_local && at->events[0].time_ns < 0)
            return false;
    }
    if (*min_ns > *max_ns)
        *min_ns = *max_ns = 0;
    return true;
}

/* The global clock begins in MPI_Init, after the first events: it is moved by whole seconds, and theirs are above 0. */
static bool find_span(otf2_writer *to)
{
    int64_t min_ns, max_ns;
    if (!find_ends(to->job, &min_ns, &max_ns))
        return false;
    min_ns -= SLACK_NS;
    to->moved_ns = min_ns <= 0 ? (-min_ns / NS_PER_S + 1) * NS_PER_S : 0;
    to->min_ns = (uint64_t)(min_ns + to->moved_ns);
    to->max_ns = (uint64_t)(max_ns + SLACK_NS + to->moved_ns);
    return true;
}

static int refuse(const conversion *job, const char *what)
{
    options_refuse(job->program, "option --output: \"%.200s\" is not allowed, %s", job->path, what);
    return STATUS_BAD_OPTION;
}

/* An archive is not mixed with another one. */
static int open_archive(otf2_writer *to)
{
    const char *path = to->job->path;
    char anchor[4096];
    struct stat status;
    if (snprintf(anchor, sizeof anchor, "%s/%s.otf2", path, archive_name) >= (int)sizeof anchor)
        return refuse(to->job, "its name is too long");
    if (stat(anchor, &status) == 0)
        return refuse(to->job, "it has an archive already: give another folder");
    if (!output_folder(path, "--output", to->job->program))
        return STATUS_BAD_OPTION;
    OTF2_Error_RegisterCallback(note_error, to);
    to->archive = OTF2_Archive_Open(path, archive_name, OTF2_FILEMODE_WRITE, EVENT_CHUNK_BYTES, DEFINITION_CHUNK_BYTES,
                                    OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    return to->archive ? STATUS_GOOD : refuse(to->job, "an archive cannot be opened there");
}

static int put_all(otf2_writer *to)
{
    prepare(to);
    if (!find_span(to)) {
        fprintf(stderr, "%s: a clock has times below 0, which OTF2 does not have\n", to->job->program);
        return STATUS_FAILED;
    }
    int status = open_archive(to);
    if (status != STATUS_GOOD)
        return status;
    put_archive(to);
    if (to->error != OTF2_SUCCESS) {
        fprintf(stderr, "%s: cannot write %s: %s\n", to->job->program, to->job->path,
                OTF2_Error_GetDescription(to->cause != OTF2_SUCCESS ? to->cause : to->error));
        return STATUS_FAILED;
    }
    return STATUS_GOOD;
}

int convert_to_otf2(conversion *job)
{
    otf2_writer to = {.job = job, .error = OTF2_SUCCESS};
    int status = put_all(&to);
    free(to.first_location);
    free(to.first_site);
    free(to.event_counts);
    free_numbers(&to.windows);
    free_numbers(&to.files);
    free(to.nodes);
    free(to.regions);
    free(to.region_names);
    return status;
}
