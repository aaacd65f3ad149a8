/* SPDX-License-Identifier: BSD-3-Clause */
/* virtual_world.c - run coroutines in the order of virtual time, and deliver their messages. */
#include "virtual_world.h"

#include "coroutine.h"
#include "pure/tree.h"
#include "transport/message.h"

#include <assert.h>

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { STACK_BYTES = 512 * 1024 };
#else
enum { STACK_BYTES = 64 * 1024 };
#endif

enum { NOBODY = -1, TAG_COLLECTIVE = 1000, SMALL_BYTES = 128, MAX_VALUES = SMALL_BYTES / sizeof(int64_t) };

typedef struct message {
    struct message *next;
    int64_t arrival_ns;
    int from, tag, bytes;
    _Alignas(int64_t) char data[];
} message;

typedef struct process {
    virtual_process public;
    int waits_for;          /* the process whose message it has to receive; else NOBODY */
    message *first, **last; /* messages for it, in the order in which they were sent */
    struct process *next_ready;
    coroutine coroutine;
} process;

static struct {
    const virtual_world *world;
    process *processes;
    char *stacks;
    size_t stack_bytes;
    int begun, ended;
    int64_t operations;
    process *ready; /* those that may run; the latest first, so that partners take turns while their data are near */
    coroutine thread;
    message *unused; /* with room for SMALL_BYTES */
} now;

static process *self;

virtual_process *virtual_self(void)
{
    return self ? &self->public : NULL;
}

/* ---- Who runs */

static void run_body(void *argument)
{
    (void)argument;
    now.world->run(now.world, &self->public);
    now.ended++;
    process *next = now.ready;
    self->coroutine.next = &now.thread;
    if (next) {
        now.ready = next->next_ready;
        self->coroutine.next = &next->coroutine;
        self = next;
    }
}

/* A process that must wait gives way to one that may run, or to the thread, which begins the next one. */
static void give_way(void)
{
    process *old = self, *next = now.ready;
    if (next) {
        now.ready = next->next_ready;
        self = next;
    }
    coroutine_switch(&old->coroutine, next ? &next->coroutine : &now.thread);
    assert(self == old);
}

static void make_ready(process *one)
{
    one->waits_for = NOBODY;
    one->next_ready = now.ready;
    now.ready = one;
}

static void run_all(void)
{
    coroutine_prepare(&now.thread, NULL, NULL, NULL, 0);
    for (; now.begun < now.world->processes; now.begun++) {
        self = &now.processes[now.begun];
        coroutine_prepare(&self->coroutine, run_body, NULL, now.stacks + (size_t)now.begun * now.stack_bytes,
                          now.stack_bytes);
        coroutine_switch(&now.thread, &self->coroutine);
    }
    self = NULL;
}

static void free_all(message *first)
{
    for (message *next; first; first = next) {
        next = first->next;
        free(first);
    }
}

void virtual_run(const virtual_world *world)
{
    size_t count = (size_t)world->processes;
    now.world = world;
    now.begun = now.ended = 0;
    now.operations = 0;
    now.stack_bytes = world->stack_bytes ? world->stack_bytes : STACK_BYTES;
    now.processes = calloc(count, sizeof *now.processes);
    now.stacks = coroutine_stacks(count, now.stack_bytes);
    if (!now.processes || !now.stacks)
        abort();
    for (int rank = 0; rank < world->processes; rank++) {
        process *one = &now.processes[rank];
        one->public.rank = rank;
        one->waits_for = NOBODY;
        one->last = &one->first;
        world->begin(world, &one->public);
    }
    run_all();
    if (now.ended < world->processes) {
        fprintf(stderr, "%d processes wait for messages that nobody sends\n", world->processes - now.ended);
        abort();
    }
    for (int rank = 0; rank < world->processes; rank++) {
        coroutine_forget(&now.processes[rank].coroutine);
        free_all(now.processes[rank].first);
    }
    coroutine_free_stacks(now.stacks, count, now.stack_bytes);
    free(now.processes);
    free_all(now.unused);
    now.unused = NULL;
}

/* ---- Messages */

static message *get_message(int bytes)
{
    message *one = now.unused;
    if (bytes <= SMALL_BYTES && one)
        now.unused = one->next;
    else
        one = malloc(sizeof *one + (size_t)(bytes > SMALL_BYTES ? bytes : SMALL_BYTES));
    if (!one)
        abort();
    return one;
}

static void put_back(message *one)
{
    if (one->bytes > SMALL_BYTES) {
        free(one);
        return;
    }
    one->next = now.unused;
    now.unused = one;
}

static int send_to(const void *data, int bytes, int peer, int tag)
{
    process *to = &now.processes[peer];
    message *sent = get_message(bytes);
    self->public.now_ns += now.world->overhead_ns;
    sent->arrival_ns = now.world->arrival_ns(now.world, &self->public, peer);
    sent->from = self->public.rank;
    sent->tag = tag;
    sent->bytes = bytes;
    sent->next = NULL;
    memcpy(sent->data, data, (size_t)bytes);
    *to->last = sent;
    to->last = &sent->next;
    if (to->waits_for == self->public.rank)
        make_ready(to);
    return MPI_SUCCESS;
}

/* The first message of a process; NULL: there is none. */
static message *take_from(int peer)
{
    for (message **place = &self->first; *place; place = &(*place)->next) {
        message *found = *place;
        if (found->from != peer)
            continue;
        *place = found->next;
        if (!found->next)
            self->last = place;
        return found;
    }
    return NULL;
}

static int give_up(mh_error *error)
{
    self->public.failures++;
    return mh_fail(error, MPI_ERR_OTHER, "messages fail");
}

static bool is_to_fail(void)
{
    int64_t from = now.world->fails_from;
    if (from == 0 || ++now.operations < from)
        return false;
    for (process *one = now.processes; one < now.processes + now.world->processes; one++)
        if (one->waits_for != NOBODY)
            make_ready(one);
    return true;
}

/* Messages of one process are received in the order in which they were sent, whatever their tags. */
static int receive(void *data, int bytes, int peer, int tag, mh_error *error)
{
    message *received = take_from(peer);
    if (!received) {
        self->waits_for = peer;
        give_way();
        received = take_from(peer);
    }
    if (!received)
        return give_up(error);
    assert(received->tag == tag && received->bytes == bytes);
    (void)tag;
    memcpy(data, received->data, (size_t)bytes);
    if (self->public.now_ns < received->arrival_ns)
        self->public.now_ns = received->arrival_ns;
    self->public.now_ns += now.world->overhead_ns;
    put_back(received);
    return MPI_SUCCESS;
}

int mh_send(const mh_channel *channel, const void *data, int bytes, int peer, int tag, mh_error *error)
{
    (void)channel;
    if (is_to_fail())
        return give_up(error);
    self->public.messages++;
    return send_to(data, bytes, peer, tag);
}

int mh_recv(const mh_channel *channel, void *data, int bytes, int peer, int tag, mh_error *error)
{
    (void)channel;
    return is_to_fail() ? give_up(error) : receive(data, bytes, peer, tag, error);
}

int mh_sendrecv(const mh_channel *channel, const void *mine, void *theirs, int bytes, int to, int from, int tag,
                mh_error *error)
{
    int code = mh_send(channel, mine, bytes, to, tag, error);
    return code != MPI_SUCCESS ? code : mh_recv(channel, theirs, bytes, from, tag, error);
}

int mh_make_progress(const mh_channel *channel, mh_error *error)
{
    (void)channel;
    (void)error;
    return MPI_SUCCESS;
}

/* ---- Collective operations, by binomial trees */

static int send_part(const void *data, int bytes, int peer)
{
    self->public.collectives++;
    return send_to(data, bytes, peer, TAG_COLLECTIVE);
}

int mh_bcast(const mh_channel *channel, void *data, int bytes, int root, mh_error *error)
{
    int size = channel->size, code = is_to_fail() ? give_up(error) : MPI_SUCCESS;
    mh_tree tree = mh_tree_binomial((channel->rank - root + size) % size, size);
    if (code == MPI_SUCCESS && tree.parent >= 0)
        code = receive(data, bytes, (tree.parent + root) % size, TAG_COLLECTIVE, error);
    for (int i = tree.children - 1; i >= 0 && code == MPI_SUCCESS; i--)
        send_part(data, bytes, (tree.child[i] + root) % size);
    return code;
}

typedef int64_t combination(int64_t a, int64_t b);

static int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t and_of(int64_t a, int64_t b)
{
    return a & b;
}

static int reduce(const mh_channel *channel, const int64_t *mine, int64_t *result, int count, combination *combine,
                  mh_error *error)
{
    int64_t so_far[MAX_VALUES], theirs[MAX_VALUES] = {0};
    int bytes = count * (int)sizeof *mine, code = is_to_fail() ? give_up(error) : MPI_SUCCESS;
    mh_tree tree = mh_tree_binomial(channel->rank, channel->size);
    assert(count <= MAX_VALUES);
    memcpy(so_far, mine, (size_t)bytes);
    for (int i = 0; i < tree.children && code == MPI_SUCCESS; i++) {
        code = receive(theirs, bytes, tree.child[i], TAG_COLLECTIVE, error);
        for (int k = 0; k < count && code == MPI_SUCCESS; k++)
            so_far[k] = combine(so_far[k], theirs[k]);
    }
    if (code == MPI_SUCCESS && tree.parent >= 0)
        return send_part(so_far, bytes, tree.parent);
    memcpy(result, so_far, (size_t)bytes);
    return code;
}

int mh_reduce_max(const mh_channel *channel, const int64_t *mine, int64_t *max, int count, mh_error *error)
{
    return reduce(channel, mine, max, count, max_of, error);
}

static int reduce_to_all(const mh_channel *channel, const int64_t *mine, int64_t *result, int count,
                         combination *combine, mh_error *error)
{
    int code = reduce(channel, mine, result, count, combine, error);
    return code != MPI_SUCCESS ? code : mh_bcast(channel, result, count * (int)sizeof *mine, 0, error);
}

int mh_allreduce_max(const mh_channel *channel, const int64_t *mine, int64_t *max, int count, mh_error *error)
{
    return reduce_to_all(channel, mine, max, count, max_of, error);
}

int mh_allreduce_and(const mh_channel *channel, int64_t mine, int64_t *common, mh_error *error)
{
    return reduce_to_all(channel, &mine, common, 1, and_of, error);
}
