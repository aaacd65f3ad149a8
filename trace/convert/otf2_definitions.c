/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * otf2_definitions.c - the global definitions of an OTF2 archive: clock, texts, system tree, locations, regions,
 * communicators.
 */
#include "trace/convert/otf2_private.h"

#include "common/cli/memory.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Where definitions go, and how many texts and groups there are so far. */
typedef struct {
    otf2_writer *to;
    OTF2_GlobalDefWriter *definitions;
    OTF2_StringRef string_count;
    OTF2_GroupRef group_count;
} writer;

static void check(writer *into, OTF2_ErrorCode code)
{
    otf2_check(into->to, code);
}

/* ---- Texts */

static OTF2_StringRef put_string(writer *into, const char *text)
{
    check(into, OTF2_GlobalDefWriter_WriteString(into->definitions, into->string_count, text));
    return into->string_count++;
}

static OTF2_StringRef put_format(writer *into, const char *format, ...) __attribute__((format(printf, 2, 3)));

static OTF2_StringRef put_format(writer *into, const char *format, ...)
{
    char text[HOST_NAME_SIZE + 64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return put_string(into, text);
}

/* Events name them already, by the numbers that they get here. */
static void put_sites(writer *into)
{
    const trace *of = into->to->job->of;
    put_string(into, "");
    for (int rank = 0; rank < of->size; rank++) {
        for (size_t i = 0; i < of->processes[rank].site_count; i++)
            put_string(into, of->processes[rank].sites[i].symbol);
        for (size_t i = 0; i < of->processes[rank].called_count; i++)
            put_string(into, of->processes[rank].called[i].site.symbol);
    }
}

/* ---- Clock, attributes, metrics */

/* From the first to the last time, as a reader corrects them; and when the first was, if rank 0 knew. */
static void put_clock(writer *into)
{
    const otf2_writer *to = into->to;
    char epoch[32], *end;
    trace_text(&to->job->of->processes[0], "mpix_harmonize_clock_epoch_unix_ns", epoch, sizeof epoch);
    long long zero_ns = strtoll(epoch, &end, 10) - to->moved_ns;
    bool is_known = epoch[0] != '\0' && *end == '\0';
    check(into, OTF2_GlobalDefWriter_WriteClockProperties(
                    into->definitions, 1000000000, to->min_ns, to->max_ns - to->min_ns + 1,
                    is_known ? (uint64_t)zero_ns + to->min_ns : OTF2_UNDEFINED_TIMESTAMP));
}

static void put_attributes(writer *into)
{
    OTF2_StringRef polls = put_string(into, "unsuccessful calls");
    OTF2_StringRef polls_doc = put_string(into, "how many calls that did not succeed this region stands for");
    OTF2_StringRef site = put_string(into, "call site");
    OTF2_StringRef site_doc = put_string(into, "where the function was called");
    OTF2_GlobalDefWriter *definitions = into->definitions;
    check(into,
          OTF2_GlobalDefWriter_WriteAttribute(definitions, OTF2_ATTRIBUTE_POLLS, polls, polls_doc, OTF2_TYPE_UINT64));
    check(into,
          OTF2_GlobalDefWriter_WriteAttribute(definitions, OTF2_ATTRIBUTE_SITE, site, site_doc, OTF2_TYPE_STRING));
}

static void put_bound(writer *into)
{
    OTF2_MetricMemberRef member = 0;
    OTF2_StringRef name = put_string(into, "clock bound");
    OTF2_StringRef doc = put_string(into, "no more than this from the clock of rank 0, by corrected times");
    OTF2_StringRef unit = put_string(into, "s");
    check(into, OTF2_GlobalDefWriter_WriteMetricMember(into->definitions, member, name, doc, OTF2_METRIC_TYPE_OTHER,
                                                       OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_DOUBLE, OTF2_BASE_DECIMAL,
                                                       -9, unit));
    check(into, OTF2_GlobalDefWriter_WriteMetricClass(into->definitions, OTF2_METRIC_BOUND, 1, &member,
                                                      OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU));
}

/* ---- System tree and locations */

/* Sets the node of each process, counted from 1 by their first ranks. Node 0 is the machine. */
static void put_host(writer *into, int rank, OTF2_StringRef node_class, OTF2_SystemTreeNodeRef *count)
{
    const otf2_writer *to = into->to;
    char host[HOST_NAME_SIZE], other[HOST_NAME_SIZE];
    const trace_process *processes = to->job->of->processes;
    trace_text(&processes[rank], "host", host, sizeof host);
    for (int i = 0; i < rank; i++)
        if (strcmp(trace_text(&processes[i], "host", other, sizeof other), host) == 0) {
            to->nodes[rank] = to->nodes[i];
            return;
        }
    to->nodes[rank] = ++*count;
    OTF2_StringRef name = put_string(into, host[0] != '\0' ? host : "unknown host");
    check(into, OTF2_GlobalDefWriter_WriteSystemTreeNode(into->definitions, *count, name, node_class, 0));
    check(into, OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(into->definitions, *count,
                                                               OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
}

static void put_system_tree(writer *into)
{
    OTF2_SystemTreeNodeRef count = 0;
    OTF2_StringRef machine = put_string(into, "machine"), node_class = put_string(into, "node");
    check(into, OTF2_GlobalDefWriter_WriteSystemTreeNode(into->definitions, 0, machine, machine,
                                                         OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    check(into, OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(into->definitions, 0, OTF2_SYSTEM_TREE_DOMAIN_MACHINE));
    for (int rank = 0; rank < into->to->job->of->size; rank++)
        put_host(into, rank, node_class, &count);
}

static void put_process(writer *into, int rank)
{
    const otf2_writer *to = into->to;
    const trace_process *process = &to->job->of->processes[rank];
    check(into, OTF2_GlobalDefWriter_WriteLocationGroup(
                    into->definitions, (OTF2_LocationGroupRef)rank, put_format(into, "MPI Rank %d", rank),
                    OTF2_LOCATION_GROUP_TYPE_PROCESS, to->nodes[rank], OTF2_UNDEFINED_LOCATION_GROUP));
    for (size_t i = 0; i < otf2_location_count(process); i++) {
        OTF2_LocationRef location = otf2_location_ref(process, rank, i);
        check(into, OTF2_GlobalDefWriter_WriteLocation(
                        into->definitions, location, put_format(into, "thread %" PRIu64, location >> 32),
                        OTF2_LOCATION_TYPE_CPU_THREAD, to->event_counts[to->first_location[rank] + i],
                        (OTF2_LocationGroupRef)rank));
    }
}

/* ---- Regions */

static void put_regions(writer *into)
{
    const otf2_writer *to = into->to;
    for (OTF2_RegionRef region = 0; region < to->region_count; region++) {
        const char *text = to->job->of->names[to->region_names[region]];
        otf2_function function = otf2_function_of(text);
        OTF2_StringRef name = put_string(into, text);
        check(into,
              OTF2_GlobalDefWriter_WriteRegion(into->definitions, region, name, name, OTF2_NO_STRING, function.role,
                                               function.paradigm, OTF2_REGION_FLAG_NONE, OTF2_NO_STRING, 0, 0));
    }
}

/* ---- Communicators */

static OTF2_GroupRef put_group(writer *into, OTF2_GroupType type, const char *name, const uint64_t *members, int count)
{
    check(into, OTF2_GlobalDefWriter_WriteGroup(into->definitions, into->group_count, put_string(into, name), type,
                                                OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, (uint32_t)count, members));
    return into->group_count++;
}

static void put_communicator(writer *into, int number, uint64_t *members)
{
    char text[COMMUNICATOR_NAME_SIZE];
    const communicators *all = &into->to->job->communicators;
    const communicator *side = &all->list[number];
    const char *name = communicators_name(side->common, text);
    int count = 0;
    if (side->first_in_common > 0)
        return;
    for (int i = 0; i < side->size; i++)
        members[count++] = (uint64_t)side->ranks[i];
    for (int i = 0; side->other_side != COMMUNICATOR_UNKNOWN && i < all->list[side->other_side].size; i++)
        members[count++] = (uint64_t)all->list[side->other_side].ranks[i];
    OTF2_GroupRef group = put_group(into, OTF2_GROUP_TYPE_COMM_GROUP, name, members, count);
    check(into, OTF2_GlobalDefWriter_WriteComm(into->definitions, (OTF2_CommRef)side->common, put_string(into, name),
                                               group, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
}

/*
 * A rank is a member by the location of its first thread. An intercommunicator is one of both groups, one behind the
 * other: OTF2's own definition of them stops its reader for Python.
 */
static void put_communicators(writer *into)
{
    const communicators *all = &into->to->job->communicators;
    int max = all->of->size;
    /* Some have more members than the job: processes of other jobs, or a malformed trace. */
    for (int number = 0; number < all->count; number++)
        max = all->list[number].size > max ? all->list[number].size : max;
    uint64_t *members = or_exit(malloc(array_bytes(2 * (int64_t)max, sizeof *members)));
    for (int rank = 0; rank < all->of->size; rank++)
        members[rank] = otf2_location_ref(&all->of->processes[rank], rank, 0);
    put_group(into, OTF2_GROUP_TYPE_COMM_LOCATIONS, "", members, all->of->size);
    put_communicator(into, COMMUNICATOR_WORLD, members);
    OTF2_GroupRef self = put_group(into, OTF2_GROUP_TYPE_COMM_SELF, "", NULL, 0);
    check(into, OTF2_GlobalDefWriter_WriteComm(into->definitions, COMMUNICATOR_SELF, put_string(into, "MPI_COMM_SELF"),
                                               self, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    for (int number = COMMUNICATORS_PREDEFINED; number < all->count; number++)
        put_communicator(into, number, members);
    free(members);
}

static void put_windows(writer *into)
{
    const otf2_numbers *windows = &into->to->windows;
    for (OTF2_RmaWinRef i = 0; i < windows->count; i++) {
        const int comm = windows->comms[i];
        check(into, OTF2_GlobalDefWriter_WriteRmaWin(into->definitions, i, put_format(into, "window %d", comm),
                                                     (OTF2_CommRef)comm, OTF2_RMA_WIN_FLAG_NONE));
    }
}

/* The trace has no names of files. Handles are there from the beginning, as no event says which one a call opens. */
static void put_file(writer *into, OTF2_IoHandleRef file, OTF2_IoParadigmRef paradigm)
{
    const int comm = into->to->files.comms[file];
    check(into, OTF2_GlobalDefWriter_WriteIoHandle(into->definitions, file, put_format(into, "file %d", comm),
                                                   OTF2_UNDEFINED_IO_FILE, paradigm, OTF2_IO_HANDLE_FLAG_PRE_CREATED,
                                                   (OTF2_CommRef)comm, OTF2_UNDEFINED_IO_HANDLE));
    check(into, OTF2_GlobalDefWriter_WriteIoPreCreatedHandleState(
                    into->definitions, file, OTF2_IO_ACCESS_MODE_READ_WRITE, OTF2_IO_STATUS_FLAG_NONE));
}

static void put_files(writer *into)
{
    const OTF2_IoParadigmRef paradigm = 0;
    const OTF2_StringRef identification = put_string(into, "MPI-IO"), name = put_string(into, "MPI I/O");
    check(into, OTF2_GlobalDefWriter_WriteIoParadigm(into->definitions, paradigm, identification, name,
                                                     OTF2_IO_PARADIGM_CLASS_PARALLEL, OTF2_IO_PARADIGM_FLAG_NONE, 0,
                                                     NULL, NULL, NULL));
    for (OTF2_IoHandleRef file = 0; file < into->to->files.count; file++)
        put_file(into, file, paradigm);
}

void otf2_put_definitions(otf2_writer *to, OTF2_GlobalDefWriter *definitions)
{
    writer into = {.to = to, .definitions = definitions};
    put_clock(&into);
    put_sites(&into);
    put_attributes(&into);
    put_bound(&into);
    put_system_tree(&into);
    for (int rank = 0; rank < to->job->of->size; rank++)
        put_process(&into, rank);
    put_regions(&into);
    put_communicators(&into);
    put_windows(&into);
    put_files(&into);
}
