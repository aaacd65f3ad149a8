/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engaged.c - which communicators are engaged, and what their barriers did.
 *
 * The world is engaged from MPI_Init on, and a communicator of the same processes counts as the world. Another one is
 * engaged, if asked for, after some barriers, as long as there are not too many, and if its processes agree. What a
 * process keeps for each is an attribute of the communicator. That of an engaged one outlives it: it is summed up in
 * MPI_Finalize, where it is known that all processes take part.
 */
#include "trace/harmonize/engaged.h"

#include "trace/harmonize/clock.h"
#include "trace/shared/interposer.h"
#include "trace/back/twin.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A bit for each call says whether it was valid; a page of bits takes memory only from its first use on. */
enum { BARRIERS_BEFORE = 100, FLAG_BYTES = 1 << 20, MAX_FLAGS = FLAG_BYTES * 8, REDUCTIONS = 3 };
/* Reading a lateness takes longer than a barrier. */
static const double lateness_interval_s = 0.01;

typedef struct {
    MPI_Comm twin;             /* MPI_COMM_NULL: not engaged */
    bool is_refused, was_late; /* of the last barrier, whose lateness is still to be read */
    preload_summary summary;
    unsigned char *flags; /* bits */
    double last_lateness_s;
    MPI_Request requests[REDUCTIONS]; /* under way at the end */
} communicator;

preload_closed mh_preload_closed;

/*
 * Of handles that MPI took, however many. Others are not looked at: MPI says what is wrong, of the call that the
 * program made. An entry stays in its list, which is read without a lock. A handle is used by one thread at a time.
 */
typedef struct entry {
    struct entry *next;
    _Atomic uint64_t key; /* 0: free */
    communicator *its;    /* NULL: barriers are left to MPI */
} entry;
enum { BUCKET_BITS = 8 };
static entry *_Atomic buckets[1 << BUCKET_BITS];
static pthread_mutex_t insertion = PTHREAD_MUTEX_INITIALIZER;

static communicator world, unseen; /* unseen: MPI is to be asked about it when it is used */
static int keyval = MPI_KEYVAL_INVALID;
static atomic_int engaged_count;

/* Engaged ones, the world first. */
static pthread_mutex_t lists = PTHREAD_MUTEX_INITIALIZER;
static communicator *open_list[PRELOAD_MAX_ENGAGED + 1];
static int open_count;

static void name_summary(communicator *c, MPI_Comm comm)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length, ranks;
    PMPI_Comm_get_name(comm, name, &length);
    PMPI_Comm_size(comm, &ranks);
    snprintf(c->summary.name, sizeof c->summary.name, "%.63s", name[0] ? name : "(no name)");
    c->summary.ranks = ranks;
}

static bool get_memory(communicator *c)
{
    c->flags = calloc(1, FLAG_BYTES);
    return c->flags;
}

/* ---- From handles to communicators */

static uint64_t key_of(MPI_Comm comm)
{
    return (uint64_t)(uintptr_t)comm << 2 | 1;
}

static entry *find_key(uint64_t key, uint64_t wanted)
{
    entry *e = atomic_load_explicit(&buckets[trace_hash(key, BUCKET_BITS)], memory_order_acquire);
    while (e && atomic_load_explicit(&e->key, memory_order_acquire) != wanted)
        e = e->next;
    return e;
}

static entry *find_entry(MPI_Comm comm)
{
    return find_key(key_of(comm), key_of(comm));
}

/* In the handle's entry, in a free one, or in a new one. */
static void remember(MPI_Comm comm, communicator *its)
{
    const uint64_t key = key_of(comm);
    entry *_Atomic *first = &buckets[trace_hash(key, BUCKET_BITS)];
    pthread_mutex_lock(&insertion);
    entry *e = find_key(key, key);
    if (!e)
        e = find_key(key, 0);
    if (!e && (e = calloc(1, sizeof *e))) {
        e->next = *first;
        atomic_store_explicit(first, e, memory_order_release);
    }
    if (e) {
        e->its = its;
        atomic_store_explicit(&e->key, key, memory_order_release);
    }
    pthread_mutex_unlock(&insertion);
}

/* ---- Summing up */

/* This takes time, so it is not done between the release of a late process and its return to the program. */
static void sample_lateness(communicator *c)
{
    int64_t lateness_ns;
    if (!c->was_late)
        return;
    c->was_late = false;
    double now_s = PMPI_Wtime();
    if (now_s - c->last_lateness_s < lateness_interval_s)
        return;
    c->last_lateness_s = now_s;
    if (!mh_preload_statistic(c->twin, "mpix_harmonize_lateness_ns", &lateness_ns))
        return;
    c->summary.late[0]++;
    c->summary.late[1] += lateness_ns;
    if (lateness_ns > c->summary.late[2])
        c->summary.late[2] = lateness_ns;
}

/* At rank 0, in place. */
static void start_reducing(MPI_Comm comm, void *values, int count, MPI_Datatype type, MPI_Op op, MPI_Request *request)
{
    int rank = -1;
    PMPI_Comm_rank(comm, &rank);
    *request = MPI_REQUEST_NULL;
    PMPI_Ireduce(rank == 0 ? MPI_IN_PLACE : values, rank == 0 ? values : NULL, count, type, op, 0, comm, request);
}

/* All at once, because processes may have engaged the communicators in different orders. */
static void start_summing(communicator *c)
{
    preload_summary *its = &c->summary;
    sample_lateness(c);
    its->judged = its->harmonized < MAX_FLAGS ? its->harmonized : MAX_FLAGS;
    start_reducing(c->twin, c->flags, (int)((its->judged + 7) / 8), MPI_BYTE, MPI_BAND, &c->requests[0]);
    start_reducing(c->twin, its->late, 2, MPI_INT64_T, MPI_SUM, &c->requests[1]);
    start_reducing(c->twin, its->late + 2, 1, MPI_INT64_T, MPI_MAX, &c->requests[2]);
}

static void finish_summing(communicator *c)
{
    MPI_Status statuses[REDUCTIONS];
    int rank = -1;
    PMPI_Waitall(REDUCTIONS, c->requests, statuses);
    PMPI_Comm_rank(c->twin, &rank);
    for (int64_t i = 0; i < c->summary.judged; i++)
        c->summary.valid += c->flags[i / 8] >> (i % 8) & 1;
    if (rank == 0)
        mh_preload_closed.summaries[mh_preload_closed.count++] = c->summary;
}

/* Called back when the program frees a communicator, at different times on its processes. */
static int delete_communicator(MPI_Comm comm, int key, void *value, void *extra)
{
    communicator *c = value;
    (void)key, (void)extra;
    entry *found = find_entry(comm);
    if (found)
        atomic_store_explicit(&found->key, 0, memory_order_release);
    if (c && c != &world && c->twin == MPI_COMM_NULL)
        free(c);
    return MPI_SUCCESS;
}

void mh_preload_close_communicators(void)
{
    for (int i = 0; i < open_count; i++)
        start_summing(open_list[i]);
    for (int i = 0; i < open_count; i++)
        finish_summing(open_list[i]);
}

/* Twins, but not the world's. Barriers in what is left of MPI_Finalize are left to MPI. */
void mh_preload_free_communicators(void)
{
    keyval = MPI_KEYVAL_INVALID;
    for (int i = 0; i < open_count; i++) {
        free(open_list[i]->flags);
        open_list[i]->is_refused = true;
        if (open_list[i] != &world)
            PMPI_Comm_free(&open_list[i]->twin); /* from now on, it is freed with its communicator */
    }
}

/* ---- Which communicator */

void mh_preload_open_communicators(void)
{
    int code = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_communicator, &keyval, NULL);
    if (!mh_interpose_agree(get_memory(&world) && code == MPI_SUCCESS, mh_twin_of_world)) {
        free(world.flags);
        world.is_refused = true;
        keyval = MPI_KEYVAL_INVALID;
        return;
    }
    mh_preload_expect(MPI_COMM_SELF);
    open_list[open_count++] = &world;
    world.twin = mh_twin_of_world;
    name_summary(&world, MPI_COMM_WORLD);
}

/* NULL if there is no memory, or its barriers are left to MPI. */
static communicator *make_communicator(MPI_Comm comm)
{
    int is_inter = 0;
    if (mh_interpose_has_all(comm))
        return &world;
    communicator *c = mh_choices.all && mh_choices.barrier ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return NULL;
    PMPI_Comm_test_inter(comm, &is_inter);
    c->twin = MPI_COMM_NULL;
    c->is_refused = is_inter || mh_interpose_is_foreign(comm);
    return c;
}

static bool is_watched(MPI_Comm comm)
{
    return comm != MPI_COMM_WORLD && comm != MPI_COMM_NULL && keyval != MPI_KEYVAL_INVALID;
}

void mh_preload_know(MPI_Comm comm)
{
    entry *known = is_watched(comm) ? find_entry(comm) : NULL;
    if (!is_watched(comm) || (known && known->its != &unseen))
        return;
    communicator *c = make_communicator(comm);
    if (PMPI_Comm_set_attr(comm, keyval, c) == MPI_SUCCESS)
        remember(comm, c);
}

void mh_preload_expect(MPI_Comm comm)
{
    if (is_watched(comm))
        remember(comm, &unseen);
}

/* NULL: barriers of this communicator are left to MPI. */
static communicator *find(MPI_Comm comm)
{
    if (comm == MPI_COMM_WORLD)
        return &world;
    entry *known = find_entry(comm);
    if (known && known->its == &unseen)
        mh_preload_know(comm);
    return known && known->its != &unseen ? known->its : NULL;
}

/* Collective: all processes of comm are in the same barrier. They all engage it, or none does. */
static void engage(communicator *c, MPI_Comm comm)
{
    if (mh_interpose_agree(atomic_fetch_add(&engaged_count, 1) < PRELOAD_MAX_ENGAGED && get_memory(c), comm))
        c->twin = mh_interpose_twin(comm);
    if (c->twin == MPI_COMM_NULL) {
        atomic_fetch_sub(&engaged_count, 1);
        free(c->flags);
        c->is_refused = true;
        return;
    }
    name_summary(c, comm);
    pthread_mutex_lock(&lists);
    open_list[open_count++] = c;
    pthread_mutex_unlock(&lists);
}

/* ---- One barrier */

static bool harmonize(communicator *c)
{
    int flag = 0;
    sample_lateness(c);
    if (c == &world)
        mh_preload_before_harmonize();
    int code = PMPIX_Harmonize(c->twin, &flag);
    if (code != MPI_SUCCESS) {
        mh_preload_describe(c->twin, code, c->summary.error, sizeof c->summary.error);
        c->is_refused = true;
        return false;
    }
    if (c->summary.harmonized < MAX_FLAGS)
        c->flags[c->summary.harmonized / 8] |= (unsigned char)(flag << (c->summary.harmonized % 8));
    c->summary.harmonized++;
    c->was_late = !flag;
    return true;
}

static bool replace(communicator *c, MPI_Comm comm)
{
    c->summary.barriers++;
    if (!mh_choices.barrier || c->is_refused)
        return false;
    if (c->twin == MPI_COMM_NULL && c->summary.barriers > BARRIERS_BEFORE)
        engage(c, comm);
    return c->twin != MPI_COMM_NULL && harmonize(c);
}

bool mh_preload_barrier(MPI_Comm comm)
{
    communicator *c = find(comm);
    if (c && replace(c, comm))
        return true;
    atomic_fetch_add(c ? &mh_preload_closed.passed : &mh_preload_closed.passed_others, 1);
    return false;
}
