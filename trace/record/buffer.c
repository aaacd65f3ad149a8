/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * buffer.c - events in memory: chunks, of which each thread has a queue.
 *
 * A thread writes into its last chunk, and takes a free one when that is full. Whoever flushes takes what is complete
 * from the first chunks, and frees them. So a thread that records waits for nobody.
 */
#define _GNU_SOURCE
#include "trace/record/buffer.h"

#include "pure/units.h"
#include "trace/record/file.h"
#include "trace/record/sites.h"

#include <limits.h>

enum { MIN_CHUNKS = 4 };

/* If nothing is written for so long, because no collective call comes, what is in memory is. */
static const int64_t longest_ns = MH_NS_PER_S;

_Static_assert(sizeof(trace_chunk) == 65536, "a chunk has 64 KiB");

static trace_chunk *chunks;
static uint32_t chunk_count;
static atomic_uint fresh; /* of them were ever in use */
static atomic_uint in_use;
static _Atomic int64_t taken;      /* by threads, so far */
static int64_t limit;              /* of these */
static _Atomic uint64_t free_list; /* the number of the first, from 1, and a count of changes in the upper half */
static trace_thread threads[TRACE_MAX_THREADS];
static atomic_uint thread_count;
static trace_lock flushing = TRACE_LOCK;
static int64_t flushed_ns; /* the last time */
static pthread_key_t ending;

/* Other destructors of the thread may still call MPI, so the last round of them counts. The thread sanitizer has ended
 * the thread by then. */
__attribute__((no_sanitize("thread"))) static void end_thread(void *its)
{
    trace_thread *thread = its;
    if (++thread->rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(ending, thread);
        return;
    }
    thread->rounds = 0;
    atomic_store(&thread->has_ended, true);
}

bool mh_trace_open_buffer(int64_t bytes)
{
    chunk_count = (uint32_t)(bytes / (int64_t)sizeof *chunks);
    if (chunk_count < MIN_CHUNKS)
        chunk_count = MIN_CHUNKS;
    limit = mh_choices.limit_bytes / (mh_trace.listed_count > 1 ? mh_trace.listed_count : 1) / (int64_t)sizeof *chunks;
    chunks = mh_trace_map(chunk_count * sizeof *chunks);
    return chunks && pthread_key_create(&ending, end_thread) == 0;
}

int64_t mh_trace_least_limit(void)
{
    return mh_trace.listed_count * (int64_t)sizeof *chunks;
}

static unsigned known_threads(void)
{
    unsigned count = atomic_load(&thread_count);
    return count < TRACE_MAX_THREADS ? count : TRACE_MAX_THREADS;
}

/* A thread that began after another one had ended continues where that one stopped, unless that one had lost events. */
static trace_thread *find_ended_thread(void)
{
    for (unsigned i = 0; i < known_threads(); i++) {
        bool has_ended = true;
        if (atomic_load(&threads[i].dropped) == 0 &&
            atomic_compare_exchange_strong(&threads[i].has_ended, &has_ended, false))
            return &threads[i];
    }
    return NULL;
}

trace_thread *mh_trace_new_thread(void)
{
    static __thread bool is_one_too_many;
    if (is_one_too_many)
        return NULL;
    trace_thread *thread = find_ended_thread();
    if (!thread) {
        unsigned number = atomic_fetch_add(&thread_count, 1);
        is_one_too_many = number >= TRACE_MAX_THREADS;
        thread = is_one_too_many ? NULL : &threads[number];
    }
    if (thread)
        pthread_setspecific(ending, thread);
    return thread;
}

/* ---- Free chunks. The count in the upper half tells a list that was changed and changed back. */

static trace_chunk *take_chunk(void)
{
    uint64_t list = atomic_load(&free_list);
    while ((uint32_t)list != 0) {
        trace_chunk *chunk = &chunks[(uint32_t)list - 1];
        uint64_t next = ((list >> 32) + 1) << 32 | __atomic_load_n(&chunk->link, __ATOMIC_RELAXED);
        if (atomic_compare_exchange_weak(&free_list, &list, next))
            return chunk;
    }
    if (atomic_load(&fresh) >= chunk_count)
        return NULL;
    unsigned number = atomic_fetch_add(&fresh, 1);
    return number < chunk_count ? &chunks[number] : NULL;
}

static void free_chunk(trace_chunk *chunk)
{
    uint64_t list = atomic_load(&free_list), next;
    do {
        __atomic_store_n(&chunk->link, (uint32_t)list, __ATOMIC_RELAXED);
        next = ((list >> 32) + 1) << 32 | (uint32_t)(chunk - chunks + 1);
    } while (!atomic_compare_exchange_weak(&free_list, &list, next));
    atomic_fetch_sub(&in_use, 1);
}

bool mh_trace_is_half_full(void)
{
    return atomic_load_explicit(&in_use, memory_order_relaxed) > chunk_count / 2;
}

/* Calls that are under way are still recorded. */
static void meet_limit(int64_t time_ns)
{
    int64_t never_ns = INT64_MAX;
    if (atomic_compare_exchange_strong(&mh_trace.met_ns, &never_ns, time_ns))
        mh_trace_place_window();
}

/* A thread that has dropped an event records no more: later events would not fit, because events before them are
 * missing. */
bool mh_trace_make_room(trace_thread *thread, int64_t time_ns)
{
    bool is_full = atomic_load_explicit(&thread->dropped, memory_order_relaxed) > 0;
    trace_chunk *chunk = is_full ? NULL : take_chunk();
    if (!chunk) {
        if (!is_full)
            thread->full_ns = time_ns;
        atomic_fetch_add(&thread->dropped, 1);
        return false;
    }
    atomic_fetch_add(&in_use, 1);
    if (atomic_fetch_add(&taken, 1) >= limit)
        meet_limit(time_ns);
    atomic_store(&chunk->next, NULL);
    atomic_store(&chunk->used, 0);
    chunk->flushed = 0;
    if (thread->last)
        atomic_store(&thread->last->next, chunk);
    else
        atomic_store(&thread->first, chunk);
    thread->last = chunk;
    thread->next = chunk->events;
    thread->end = chunk->events + TRACE_CHUNK_EVENTS;
    return true;
}

void mh_trace_for_each_thread(void (*its)(trace_thread *thread))
{
    for (unsigned i = 0; i < known_threads(); i++)
        its(&threads[i]);
}

/* ---- Flushing */

static void flush_thread(trace_thread *thread)
{
    trace_chunk *chunk = atomic_load(&thread->first);
    while (chunk) {
        trace_chunk *next = atomic_load(&chunk->next);
        uint32_t used = atomic_load_explicit(&chunk->used, memory_order_acquire), count = used - chunk->flushed;
        const trace_event *events = chunk->events + chunk->flushed;
        struct iovec part = {(void *)events, count * sizeof *events};
        if (count > 0) {
            mh_trace_write(TRACE_BLOCK_EVENTS, (uint32_t)(thread - threads), &part, 1);
            atomic_fetch_add(&thread->events, count);
        }
        chunk->flushed = used;
        if (!next)
            return;
        atomic_store(&thread->first, next);
        free_chunk(chunk);
        chunk = next;
    }
}

/* The thread may still record, but after what it has dropped there is nothing more of it. */
static void finish_thread(trace_thread *thread)
{
    trace_event event = {.value = atomic_load(&thread->dropped), .partner = -1, .kind = TRACE_DROPPED};
    struct iovec part = {&event, sizeof event};
    flush_thread(thread);
    if (event.value == 0 || thread->is_finished)
        return;
    event.time_ns = thread->full_ns;
    mh_trace_write(TRACE_BLOCK_EVENTS, (uint32_t)(thread - threads), &part, 1);
    thread->is_finished = true;
}

void mh_trace_flush(trace_patience patience, bool is_last)
{
    if (!mh_trace_begin_flush(patience))
        return;
    mh_trace_for_each_thread(is_last ? finish_thread : flush_thread);
    flushed_ns = mh_trace_now_ns();
    mh_trace_write_sites();
    mh_trace_end_flush();
}

bool mh_trace_begin_flush(trace_patience patience)
{
    return mh_trace_lock(&flushing, patience);
}

void mh_trace_end_flush(void)
{
    mh_trace_unlock(&flushing);
}

__attribute__((no_sanitize("thread"))) static void flush_if_quiet(trace_thread *thread)
{
    const trace_event *next = thread->next;
    if (next == thread->seen)
        flush_thread(thread);
    thread->seen = next;
}

void mh_trace_flush_quiet(void)
{
    const int64_t now_ns = mh_trace_now_ns();
    const bool is_due = now_ns - flushed_ns > longest_ns;
    mh_trace_for_each_thread(is_due ? flush_thread : flush_if_quiet);
    flushed_ns = is_due ? now_ns : flushed_ns;
}

trace_counts mh_trace_count(void)
{
    const unsigned all = atomic_load(&thread_count);
    trace_counts counts = {.lost_threads = all < TRACE_MAX_THREADS ? 0 : all - TRACE_MAX_THREADS};
    for (unsigned i = 0; i < known_threads(); i++) {
        counts.events += atomic_load(&threads[i].events);
        counts.dropped += atomic_load(&threads[i].dropped);
    }
    return counts;
}
