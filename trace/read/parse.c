/* SPDX-License-Identifier: BSD-3-Clause */
/* parse.c - each kind of block, from its bytes. */
#include "trace/read/parse.h"

#include "common/cli/memory.h"
#include "common/cli/text.h"
#include "trace/read/calls.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { THREAD_LIMIT = 4096 };

bool trace_fail(char message[TRACE_MESSAGE_SIZE], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, TRACE_MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    text_one_line(message);
    return false;
}

/* Room doubles, so that what grows by one each time is not copied each time. */
static size_t room_of(size_t count)
{
    size_t room = 1;
    while (room < count)
        room *= 2;
    return room;
}

void *trace_grow(void *array, size_t *count, size_t wanted, size_t element_bytes)
{
    if (wanted <= *count)
        return array;
    if (*count == 0 || room_of(wanted) > room_of(*count))
        array = or_exit(realloc(array, array_bytes((int64_t)room_of(wanted), element_bytes)));
    memset((char *)array + *count * element_bytes, 0, (wanted - *count) * element_bytes);
    *count = wanted;
    return array;
}

static bool is_wrong(const trace_file *file, const char *what)
{
    return trace_fail(file->message, "%s: %s", file->path, what);
}

static bool is_time(int64_t time_ns)
{
    return time_ns > -TRACE_TIME_LIMIT && time_ns < TRACE_TIME_LIMIT;
}

/* ---- Blocks that are read whole */

static bool add_text(trace_file *file, const char *bytes, size_t count)
{
    trace_process *process = file->process;
    size_t length = process->text ? strlen(process->text) : 0;
    char *text = process->text = or_exit(realloc(process->text, length + count + 1));
    memcpy(text + length, bytes, count);
    text[length + count] = '\0';
    for (char *next = text + length; next < text + length + count; next++)
        if (*next == '\0')
            *next = '?';
    text_clean(text + length, "\n");
    return true;
}

static bool add_names(trace_file *file, const char *bytes, size_t count)
{
    trace_process *process = file->process;
    while (count > 0) {
        uint32_t id, length;
        if (count < sizeof id + sizeof length)
            return is_wrong(file, "a block of names ends within one");
        memcpy(&id, bytes, sizeof id);
        memcpy(&length, bytes + sizeof id, sizeof length);
        bytes += sizeof id + sizeof length;
        count -= sizeof id + sizeof length;
        if (length > count || id > TRACE_MAX_NAME)
            return is_wrong(file, "a block of names ends within one, or a name has a wrong number");
        process->names = trace_grow(process->names, &process->name_count, id + 1, sizeof(char *));
        free(process->names[id]);
        process->names[id] = or_exit(strndup(bytes, length));
        text_one_line(process->names[id]);
        bytes += length;
        count -= length;
    }
    return true;
}

/* Returns false if they are not so many, or not of the job. */
static bool expand_ranges(const trace_file *file, const char *ranges, size_t count, trace_communicator *its)
{
    int at = 0;
    for (size_t i = 0; i < count; i++) {
        trace_range range;
        memcpy(&range, ranges + i * sizeof range, sizeof range);
        if (range.count < 1 || range.count > its->size - at)
            return false;
        for (int64_t k = 0; k < range.count; k++) {
            const int64_t rank = range.first + k * range.step;
            if (rank < -1 || rank >= file->size)
                return false;
            if (rank == file->rank)
                its->place = at;
            if (rank < 0)
                its->is_foreign = true;
            else if (its->lowest < 0 || rank < its->lowest)
                its->lowest = (int)rank;
            its->ranks[at++] = (int)rank;
        }
    }
    return at == its->size;
}

static bool add_communicator(trace_file *file, const char *bytes, size_t count)
{
    trace_process *process = file->process;
    enum { MAX_OTHERS = 1 << 24 }; /* processes of other jobs */
    trace_comm head;
    if (count < sizeof head)
        return is_wrong(file, "a block of a communicator is too short");
    memcpy(&head, bytes, sizeof head);
    /* The file has the others, too. */
    const uint64_t limit = file->bytes / (sizeof(trace_block_head) + sizeof head);
    if (head.id >= TRACE_NO_COMM || head.id > limit || head.size < 1 || head.size - file->size > MAX_OTHERS)
        return is_wrong(file, "a communicator has a wrong number or size");
    process->communicators =
        trace_grow(process->communicators, &process->communicator_count, head.id + 1, sizeof(trace_communicator));
    trace_communicator *communicator = &process->communicators[head.id];
    if (communicator->size != 0)
        return is_wrong(file, "a communicator is there twice");
    *communicator = (trace_communicator){.context = head.context,
                                         .size = head.size,
                                         .is_inter = head.is_inter != 0,
                                         .ranks = or_exit(malloc((size_t)head.size * sizeof(int))),
                                         .lowest = -1,
                                         .place = -1};
    return expand_ranges(file, bytes + sizeof head, (count - sizeof head) / sizeof(trace_range), communicator) ||
           is_wrong(file, "a communicator has a wrong number of ranks, or one that the job has not");
}

static bool add_neighbors(trace_file *file, const char *bytes, size_t count)
{
    trace_process *process = file->process;
    uint32_t id;
    if (count < sizeof id || count % sizeof(int32_t) != 0)
        return is_wrong(file, "a block of neighbors ends within one");
    memcpy(&id, bytes, sizeof id);
    trace_communicator *its = id < process->communicator_count ? &process->communicators[id] : NULL;
    if (!its || its->size == 0 || its->neighbors)
        return is_wrong(file, "neighbors are of no communicator, or there twice");
    its->neighbor_count = (int)(count / sizeof(int32_t)) - 1;
    its->neighbors = array_or_exit((size_t)its->neighbor_count, sizeof *its->neighbors);
    memcpy(its->neighbors, bytes + sizeof id, count - sizeof id);
    for (int i = 0; i < its->neighbor_count; i++)
        if (its->neighbors[i] < -1 || its->neighbors[i] >= its->size)
            return is_wrong(file, "a neighbor has a rank that the communicator has not");
    return true;
}

static bool add_sites(trace_file *file, const char *bytes, size_t count)
{
    enum { HEAD_BYTES = 16 };
    trace_process *process = file->process;
    while (count > 0) {
        uint64_t address;
        uint32_t length;
        if (count < HEAD_BYTES)
            return is_wrong(file, "a block of call sites ends within one");
        memcpy(&address, bytes, sizeof address);
        memcpy(&length, bytes + sizeof address, sizeof length);
        size_t padded = ((size_t)length + 7) / 8 * 8;
        if (padded > count - HEAD_BYTES)
            return is_wrong(file, "a block of call sites ends within one");
        process->sites = or_exit(array_grow(process->sites, (int64_t)process->site_count, sizeof(trace_site)));
        char *symbol = or_exit(strndup(bytes + HEAD_BYTES, length));
        text_one_line(symbol);
        process->sites[process->site_count++] = (trace_site){address, symbol};
        bytes += HEAD_BYTES + padded;
        count -= HEAD_BYTES + padded;
    }
    return true;
}

static bool add_paths(trace_file *file, const char *bytes, size_t count)
{
    trace_process *process = file->process;
    while (count > 0) {
        trace_path_head head;
        if (count < sizeof head)
            return is_wrong(file, "a block of paths ends within one");
        memcpy(&head, bytes, sizeof head);
        bytes += sizeof head;
        count -= sizeof head;
        if (head.count == 0 || head.count > count / sizeof(uint64_t) || head.function > TRACE_MAX_NAME)
            return is_wrong(file, "a block of paths ends within one, or a path is of no function");
        process->paths = grow_or_exit(process->paths, process->path_count, sizeof(trace_call_path));
        uint64_t *frames = array_or_exit(head.count, sizeof *frames);
        memcpy(frames, bytes, head.count * sizeof *frames);
        process->paths[process->path_count++] = (trace_call_path){
            .number = head.number, .count = head.count, .function = (uint16_t)head.function, .frames = frames};
        bytes += head.count * sizeof *frames;
        count -= head.count * sizeof *frames;
    }
    return true;
}

static bool add_records(trace_file *file, const char *bytes, size_t count)
{
    trace_process *process = file->process;
    const size_t had = process->record_count, more = count / sizeof(trace_clock_record);
    if (more == 0 || count % sizeof(trace_clock_record) != 0)
        return is_wrong(file, "a block of clock records ends within one");
    process->records = trace_grow(process->records, &process->record_count, had + more, sizeof(trace_clock_record));
    memcpy(&process->records[had], bytes, count);
    for (size_t i = had; i < had + more; i++) {
        trace_clock_record *record = &process->records[i];
        if (!is_time(record->pair.at_ns) || !is_time(record->pair.ahead_ns) || record->pair.ahead_ps < 0 ||
            record->pair.ahead_ps > 999)
            return is_wrong(file, "a clock record has a time that cannot be");
        if (!(record->pair.bound_ns >= 0))
            record->pair.bound_ns = INFINITY;
        if (!(record->pair.deviation_ns >= 0))
            record->pair.deviation_ns = INFINITY;
    }
    return true;
}

static bool add_end(trace_file *file, const char *bytes, size_t count)
{
    if (count != sizeof(trace_end))
        return is_wrong(file, "the block at the end has a wrong length");
    memcpy(&file->process->end, bytes, count);
    file->process->is_finished = true;
    return true;
}

/* The last block counts. */
static bool add_now(trace_file *file, const char *bytes, size_t count)
{
    trace_process *process = file->process;
    if (count % sizeof(trace_now) != 0)
        return is_wrong(file, "a block of states ends within one");
    free(process->now);
    process->now_count = count / sizeof(trace_now);
    process->now = array_or_exit(process->now_count, sizeof(trace_now));
    memcpy(process->now, bytes, count);
    for (const trace_now *now = process->now; now < process->now + process->now_count; now++) {
        if (now->id > TRACE_MAX_NAME)
            return is_wrong(file, "a state has a name with a wrong number");
        if (!is_time(now->seen_ns) || !is_time(now->since_ns))
            return is_wrong(file, "a state has a time that cannot be");
    }
    return true;
}

/* ---- Events */

/* NULL if there can be none. */
static trace_location *find_location(trace_file *file, uint32_t thread)
{
    trace_process *process = file->process;
    size_t i = 0;
    while (i < process->location_count && (uint32_t)process->locations[i].thread != thread)
        i++;
    if (i < process->location_count)
        return &process->locations[i];
    if (thread >= THREAD_LIMIT) {
        is_wrong(file, "events of a thread with a number that cannot be");
        return NULL;
    }
    process->locations = or_exit(array_grow(process->locations, (int64_t)i, sizeof(trace_location)));
    process->locations[process->location_count++] =
        (trace_location){.process = process, .rank = file->rank, .thread = (int)thread};
    return &process->locations[i];
}

static uint32_t last_mode_of(const trace_event *event)
{
    return event->kind == TRACE_ACCESS ? TRACE_FLUSH_LOCAL : TRACE_PARTITIONED;
}

static bool check_events(trace_file *file, const trace_location *location, size_t from)
{
    int64_t before_ns = from > 0 ? location->events[from - 1].time_ns : -TRACE_TIME_LIMIT;
    for (size_t i = from; i < location->count; i++) {
        const trace_event *event = &location->events[i];
        if (event->kind < TRACE_ENTER || event->kind > TRACE_ACCESS || event->mode > last_mode_of(event))
            return is_wrong(file, "an event is of an unknown kind");
        if (trace_has_name(event) && event->id > TRACE_MAX_NAME)
            return is_wrong(file, "an event has a name with a wrong number");
        if (!is_time(event->time_ns))
            return is_wrong(file, "an event has a time that cannot be");
        if (event->time_ns < before_ns)
            return trace_fail(file->message, "%s: event %zu of thread %d is older than that before it", file->path, i,
                              location->thread);
        before_ns = event->time_ns;
    }
    return true;
}

static bool skip(const trace_file *file, uint64_t bytes)
{
    return fseeko(file->stream, (off_t)bytes, SEEK_CUR) == 0 || is_wrong(file, "cannot be read");
}

/* When a thread began. */
static bool note_first(const trace_file *file, uint64_t bytes, trace_location *location)
{
    trace_event first;
    if (fread(&first, sizeof first, 1, file->stream) != 1)
        return is_wrong(file, "cannot be read");
    location->first_ns = first.time_ns;
    return is_time(first.time_ns) ? skip(file, bytes - sizeof first)
                                  : is_wrong(file, "an event has a time that cannot be");
}

static bool add_events(trace_file *file, const trace_block_head *head)
{
    const size_t more = (size_t)(head->bytes / sizeof(trace_event));
    if (head->bytes % sizeof(trace_event) != 0)
        return is_wrong(file, "a block of events ends within one");
    if (more == 0)
        return true;
    trace_location *location = find_location(file, head->thread);
    if (!location)
        return false;
    const size_t had = location->count;
    if (file->step == TRACE_READ_OUTLINE) {
        if (more >= CALL_NONE - had)
            return is_wrong(file, "a thread has too many events");
        location->count = had + more;
        return had > 0 ? skip(file, head->bytes) : note_first(file, head->bytes, location);
    }
    if (more > location->room - had)
        return is_wrong(file, "it grows while it is read");
    location->count = had + more;
    if (fread(&location->events[had], sizeof(trace_event), more, file->stream) != more)
        return is_wrong(file, "cannot be read");
    return check_events(file, location, had);
}

/* ---- Any block */

typedef bool (*parser)(trace_file *file, const char *bytes, size_t count);
static const parser parsers[] = {
    [TRACE_BLOCK_TEXT] = add_text,   [TRACE_BLOCK_NAMES] = add_names,         [TRACE_BLOCK_COMM] = add_communicator,
    [TRACE_BLOCK_SITES] = add_sites, [TRACE_BLOCK_CLOCK] = add_records,       [TRACE_BLOCK_END] = add_end,
    [TRACE_BLOCK_NOW] = add_now,     [TRACE_BLOCK_NEIGHBORS] = add_neighbors, [TRACE_BLOCK_PATHS] = add_paths,
};

bool trace_parse_block(trace_file *file, const trace_block_head *head)
{
    if (head->kind == TRACE_BLOCK_EVENTS)
        return add_events(file, head);
    if (head->kind >= sizeof parsers / sizeof *parsers || !parsers[head->kind])
        return trace_fail(file->message, "%s: a block is of the unknown kind %" PRIu32, file->path, head->kind);
    if (file->step == TRACE_READ_EVENTS)
        return skip(file, head->bytes);
    char *bytes = or_exit(malloc(array_bytes((int64_t)head->bytes, 1) + 1));
    bool is_good = head->bytes == 0 || fread(bytes, (size_t)head->bytes, 1, file->stream) == 1;
    is_good = is_good ? parsers[head->kind](file, bytes, (size_t)head->bytes) : is_wrong(file, "cannot be read");
    free(bytes);
    return is_good;
}
