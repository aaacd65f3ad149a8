/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.c - what is sent and received, by calls that wait and by those that begin a request. */
#include "trace/record/messages.h"

#include "trace/back/twin.h"
#include "trace/record/calls.h"
#include "trace/record/communicators.h"
#include "trace/record/file.h"
#include "trace/record/table.h"

#include <string.h>

/* ---- Sizes of predefined types; of others MPI is asked, for their handles come again with other sizes */

enum { SIZE_BITS = 8 };
static trace_table types = TRACE_TABLE(SIZE_BITS);
static int sizes[TRACE_SLOTS(SIZE_BITS)];

void mh_trace_learn_sizes(void)
{
    /* clang-format off */
    static const MPI_Datatype predefined[] = {
        MPI_BYTE, MPI_PACKED, MPI_CHAR, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_WCHAR, MPI_SHORT, MPI_UNSIGNED_SHORT,
        MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG, MPI_FLOAT,
        MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T,
        MPI_UINT32_T, MPI_UINT64_T, MPI_C_BOOL, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX,
        MPI_AINT, MPI_OFFSET, MPI_COUNT, MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT,
        MPI_LONG_DOUBLE_INT, MPI_CHARACTER, MPI_LOGICAL, MPI_INTEGER, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_COMPLEX,
        MPI_DOUBLE_COMPLEX, MPI_2INTEGER, MPI_2REAL, MPI_2DOUBLE_PRECISION,
#if defined MPI_INTEGER4 && defined MPI_INTEGER8 && defined MPI_REAL4 && defined MPI_REAL8
        MPI_INTEGER4, MPI_INTEGER8, MPI_REAL4, MPI_REAL8, MPI_COMPLEX8, MPI_COMPLEX16,
#endif
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof predefined / sizeof *predefined; i++) {
        const uint64_t key = (uintptr_t)predefined[i];
        int size = 0;
        if (predefined[i] == MPI_DATATYPE_NULL || PMPI_Type_size(predefined[i], &size) != MPI_SUCCESS)
            continue;
        const int64_t slot = mh_trace_reserve(&types, key);
        if (slot >= 0) {
            sizes[slot] = size;
            mh_trace_publish(&types, slot, key);
        }
    }
}

static __attribute__((noinline)) int64_t ask_for_size(MPI_Datatype type)
{
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    return size > 0 ? size : 0;
}

int64_t mh_trace_bytes(int64_t count, MPI_Datatype type)
{
    if (count <= 0 || type == MPI_DATATYPE_NULL)
        return 0;
    const int64_t slot = mh_trace_find(&types, (uintptr_t)type);
    return count * (slot >= 0 ? sizes[slot] : ask_for_size(type));
}

/* ---- Partitioned requests: those for messages of one kind are made in the same order at both ends */

enum { MADE_BITS = 12 };
static trace_table streams = TRACE_TABLE(MADE_BITS);
static uint32_t made[TRACE_SLOTS(MADE_BITS)];

/* How many there are with this one; 0: too many kinds. Two kinds may have the same key, though it is most unlikely. */
static TRACE_RARE uint32_t count_parts(const trace_request *its)
{
    static trace_lock counting = TRACE_LOCK;
    const uint64_t message = (uint64_t)(uint32_t)its->tag << 32 | (uint32_t)its->partner;
    const uint64_t key = (trace_hash(message, 63) ^ ((uint64_t)its->comm << 8 | its->does)) << 1 | 1;
    mh_trace_lock(&counting, TRACE_AT_ANY_TIME);
    int64_t slot = mh_trace_find(&streams, key);
    if (slot < 0 && (slot = mh_trace_reserve(&streams, key)) >= 0)
        mh_trace_publish(&streams, slot, key);
    const uint32_t number = slot < 0 ? 0 : ++made[slot];
    mh_trace_unlock(&counting);
    return number;
}

/* ---- Messages that are not recorded: how many of a kind since the last one that was */

static trace_table unrecorded = TRACE_TABLE(MADE_BITS);
static _Atomic uint32_t skipped[TRACE_SLOTS(MADE_BITS)];
static atomic_bool has_skipped, has_lost_count;
static const char lost_count[] = "lost_count 1\n"; /* as trace_format.h says */

/* Two kinds may have the same key, though it is most unlikely. */
static uint64_t key_of(trace_way way, int partner, int tag, uint32_t comm)
{
    const uint64_t message = (uint64_t)(uint32_t)tag << 32 | (uint32_t)partner;
    return (trace_hash(message, 63) ^ ((uint64_t)comm << 8 | way)) << 1 | 1;
}

/* Of a new kind. A thread may lose against another one that adds the same kind: then both find it. */
static TRACE_RARE int64_t add_kind(uint64_t key)
{
    static trace_lock adding = TRACE_LOCK;
    if (has_lost_count)
        return TRACE_ABSENT;
    mh_trace_lock(&adding, TRACE_AT_ANY_TIME);
    int64_t slot = mh_trace_reserve(&unrecorded, key);
    if (slot >= 0)
        mh_trace_publish(&unrecorded, slot, key);
    else if (slot == TRACE_PRESENT)
        slot = mh_trace_find(&unrecorded, key);
    else if (!atomic_exchange(&has_lost_count, true))
        mh_trace_write_one(TRACE_BLOCK_TEXT, lost_count, strlen(lost_count));
    mh_trace_unlock(&adding);
    return slot;
}

/* After the end of the recording, nobody asks. */
void mh_trace_skip(const trace_call *call, trace_way way, int partner, int tag, uint32_t comm)
{
    if (!mh_trace.counts_messages || call->enter_ns >= mh_trace.to_ns)
        return;
    const uint64_t key = key_of(way, partner, tag, comm);
    const int64_t found = mh_trace_find(&unrecorded, key), slot = found >= 0 ? found : add_kind(key);
    if (slot >= 0)
        atomic_fetch_add(&skipped[slot], 1);
    if (!atomic_load_explicit(&has_skipped, memory_order_relaxed))
        atomic_store(&has_skipped, true);
}

static TRACE_RARE void put_skipped(trace_call *call, int64_t time_ns, trace_way way, int partner, int tag,
                                   uint32_t comm, uint32_t request)
{
    const int64_t slot = mh_trace_find(&unrecorded, key_of(way, partner, tag, comm));
    const uint32_t count = slot < 0 ? 0 : atomic_exchange(&skipped[slot], 0);
    if (count > 0)
        mh_trace_put(call->thread, (trace_event){time_ns, count, partner, tag, request, comm, TRACE_SKIPPED, way});
}

void mh_trace_put_skipped(trace_call *call, int64_t time_ns, trace_way way, int partner, int tag, uint32_t comm,
                          uint32_t request)
{
    if (atomic_load_explicit(&has_skipped, memory_order_relaxed))
        put_skipped(call, time_ns, way, partner, tag, comm, request);
}

/* What the call says of the message. Returns false if there is none. */
static bool describe(trace_call *call, uint8_t does, int partner, int tag, MPI_Comm comm)
{
    trace_request *its = &call->started;
    if (partner == MPI_PROC_NULL)
        return false;
    its->does |= does;
    its->partner = partner;
    its->tag = tag;
    its->comm = mh_trace_comm(comm)->id;
    if (its->mode == TRACE_PARTITIONED)
        its->parts = count_parts(its);
    return true;
}

static void put_parts(trace_call *call, const trace_request *its)
{
    if (its->parts != 0)
        mh_trace_put(call->thread, (trace_event){.time_ns = call->enter_ns, .value = its->parts, .kind = TRACE_PARTS});
}

/* ---- Sending */

static void put_send(trace_call *call, const trace_request *its)
{
    if (call->is_silent && its->mode != TRACE_PARTITIONED)
        mh_trace_skip(call, TRACE_WAY_SENT, its->partner, its->tag, its->comm);
    if (call->is_silent)
        return;
    mh_trace_put_skipped(call, call->enter_ns, TRACE_WAY_SENT, its->partner, its->tag, its->comm, 0);
    mh_trace_put(call->thread, (trace_event){call->enter_ns, its->bytes_in, its->partner, its->tag, its->number,
                                             its->comm, TRACE_SEND, its->mode});
    put_parts(call, its);
}

void mh_trace_begin_send(trace_call *call, trace_request *its)
{
    mh_trace_number(call, its);
    put_send(call, its);
}

static bool describe_send(trace_call *call, int64_t count, MPI_Datatype type, int partner, int tag, MPI_Comm comm)
{
    if (!describe(call, TRACE_SENDS, partner, tag, comm))
        return false;
    call->started.bytes_in = (uint64_t)mh_trace_bytes(count, type);
    return true;
}

/* Of a call that fails otherwise, such as one that gets too much, the message is sent. */
void mh_trace_send(trace_call *call, int result, int64_t count, MPI_Datatype type, int partner, int tag, MPI_Comm comm)
{
    if (!mh_interpose_was_refused(result) && describe_send(call, count, type, partner, tag, comm))
        put_send(call, &call->started);
}

void mh_trace_isend(trace_call *call, int result, int64_t count, MPI_Datatype type, int partner, int tag, MPI_Comm comm)
{
    if (result == MPI_SUCCESS && describe_send(call, count, type, partner, tag, comm) && !call->started.is_persistent)
        mh_trace_begin_send(call, &call->started);
}

/* ---- Receiving */

bool mh_trace_takes_any(const trace_request *its)
{
    return its->partner == MPI_ANY_SOURCE || its->tag == MPI_ANY_TAG;
}

void mh_trace_begin_receive(trace_call *call, trace_request *its)
{
    const bool counts = its->mode != TRACE_PARTITIONED && !mh_trace_takes_any(its);
    mh_trace_number(call, its);
    if (call->is_silent && counts)
        mh_trace_skip(call, TRACE_WAY_RECEIVED, its->partner, its->tag, its->comm);
    if (call->is_silent)
        return;
    if (counts)
        mh_trace_put_skipped(call, call->enter_ns, TRACE_WAY_RECEIVED, its->partner, its->tag, its->comm, 0);
    mh_trace_put(call->thread, (trace_event){call->enter_ns, 0, its->partner == MPI_ANY_SOURCE ? -1 : its->partner,
                                             its->tag, its->number, its->comm, TRACE_RECEIVE_POST, its->mode});
    put_parts(call, its);
}

void mh_trace_irecv(trace_call *call, int result, int partner, int tag, MPI_Comm comm)
{
    if (result == MPI_SUCCESS && describe(call, TRACE_RECEIVES, partner, tag, comm) && !call->started.is_persistent)
        mh_trace_begin_receive(call, &call->started);
}

static uint64_t bytes_of(const MPI_Status *status)
{
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION >= 30100000
    return (uint64_t)((unsigned)status->count_hi_and_cancelled >> 1) << 32 | (unsigned)status->count_lo;
#elif defined OPEN_MPI
    return status->_ucount;
#else
    int count = 0;
    MPI_Count large = 0;
    if (PMPI_Get_count(status, MPI_BYTE, &count) == MPI_SUCCESS && count != MPI_UNDEFINED)
        return (uint64_t)count;
    return PMPI_Get_elements_x(status, MPI_BYTE, &large) == MPI_SUCCESS && large > 0 ? (uint64_t)large : 0;
#endif
}

void mh_trace_put_receive(trace_call *call, uint32_t comm, uint32_t request, const MPI_Status *status)
{
    if (status->MPI_SOURCE >= 0) /* else there was no message */
        mh_trace_put(call->thread, (trace_event){call->leave_ns, bytes_of(status), status->MPI_SOURCE, status->MPI_TAG,
                                                 request, comm, TRACE_RECEIVE, 0});
}

bool mh_trace_has_come(int result)
{
    return result == MPI_SUCCESS || mh_trace_is_of_class(result, MPI_ERR_TRUNCATE);
}

void mh_trace_receive(trace_call *call, int result, MPI_Comm comm, const MPI_Status *status)
{
    if (!mh_trace_has_come(result) || status->MPI_SOURCE < 0)
        return;
    const uint32_t id = mh_trace_comm(comm)->id;
    if (call->is_silent) {
        mh_trace_skip(call, TRACE_WAY_RECEIVED, status->MPI_SOURCE, status->MPI_TAG, id);
        return;
    }
    mh_trace_put_skipped(call, call->leave_ns, TRACE_WAY_RECEIVED, status->MPI_SOURCE, status->MPI_TAG, id, 0);
    mh_trace_put_receive(call, id, 0, status);
}
