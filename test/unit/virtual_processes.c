/* SPDX-License-Identifier: BSD-3-Clause */
#include "virtual_processes.h"

#include "clock/base_clock_private.h"
#include "support.h"

#include <assert.h>
#include <pthread.h>

enum { READ_COST_NS = 20, OVERHEAD_NS = 100, QUEUE_SIZE = 64, MOST_BYTES = 128 };

typedef struct message {
    int64_t arrival_ns;
    int tag, bytes;
    char data[MOST_BYTES];
} message;

/* Messages from one process to another one, in their order. */
typedef struct queue {
    unsigned sent, received;
    message messages[QUEUE_SIZE];
} queue;

typedef struct process {
    const simulation *world;
    int rank;
    int64_t now_ns; /* virtual time: that of each process is its own; messages bring it forward */
    chance dice;
    simulated_process body;
    void *argument;
} process;

static _Thread_local process *self;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived[SIMULATED_MOST], taken[SIMULATED_MOST];
static queue (*queues)[SIMULATED_MOST]; /* [to][from] */

int64_t simulated_now_ns(void)
{
    return self->now_ns;
}

void simulated_pass_ns(int64_t time_ns)
{
    self->now_ns += time_ns;
}

/* ---- Clocks */

int64_t simulated_clock_ns(const simulation *world, int rank, int64_t true_ns)
{
    const simulated_clock *clock = &world->clocks[rank];
    int64_t early_ns = true_ns < clock->later_ns ? true_ns : clock->later_ns;
    double drifted_ns = clock->drift * (double)early_ns + clock->later_drift * (double)(true_ns - early_ns);
    int64_t step_ns = true_ns >= clock->step_at_ns ? clock->step_ns : 0;
    return true_ns + clock->offset_ns + (int64_t)floor(drifted_ns) + step_ns;
}

static int64_t clock_now_ns(const mh_base_clock *clock)
{
    (void)clock;
    self->now_ns += READ_COST_NS;
    return simulated_clock_ns(self->world, self->rank, self->now_ns);
}

static int64_t clock_wait_until(const mh_base_clock *clock, int64_t deadline_ns)
{
    int64_t now_ns;
    while ((now_ns = clock_now_ns(clock)) < deadline_ns)
        self->now_ns += (deadline_ns - now_ns) * 99 / 100;
    if (chance_unit(&self->dice) >= self->world->descheduled)
        return now_ns;
    self->now_ns += (int64_t)chance_pareto(&self->dice, 1e6);
    return clock_now_ns(clock);
}

static const mh_clock_kind raw_kind = {
    .name = "simulated", .doc = "virtual, raw", .is_raw = true, .now_ns = clock_now_ns, .wait_until = clock_wait_until};
static const mh_clock_kind corrected_kind = {
    .name = "simulated", .doc = "virtual, corrected", .now_ns = clock_now_ns, .wait_until = clock_wait_until};

/* ---- Network */

static int64_t delay_to(int peer)
{
    const simulated_network *network = &self->world->network;
    bool is_near = self->world->node[self->rank] == self->world->node[peer];
    double delay_ns = (double)(is_near ? network->near_ns : network->far_ns);
    if (!is_near && peer > self->rank)
        delay_ns *= network->lopsided;
    delay_ns += chance_exponential(&self->dice, network->jitter_ns);
    if (chance_unit(&self->dice) < network->stalls)
        delay_ns += chance_pareto(&self->dice, 1e6);
    return (int64_t)delay_ns;
}

int mh_send(const mh_channel *channel, const void *data, int bytes, int peer, int tag, mh_error *error)
{
    (void)channel;
    (void)error;
    assert(bytes <= MOST_BYTES);
    self->now_ns += OVERHEAD_NS;
    message sent = {.arrival_ns = self->now_ns + delay_to(peer), .tag = tag, .bytes = bytes};
    memcpy(sent.data, data, (size_t)bytes);
    queue *way = &queues[peer][self->rank];
    pthread_mutex_lock(&lock);
    while (way->sent - way->received == QUEUE_SIZE)
        pthread_cond_wait(&taken[peer], &lock);
    way->messages[way->sent++ % QUEUE_SIZE] = sent;
    pthread_cond_signal(&arrived[peer]);
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

int mh_recv(const mh_channel *channel, void *data, int bytes, int peer, int tag, mh_error *error)
{
    (void)channel;
    (void)error;
    queue *way = &queues[self->rank][peer];
    pthread_mutex_lock(&lock);
    while (way->sent == way->received)
        pthread_cond_wait(&arrived[self->rank], &lock);
    message received = way->messages[way->received++ % QUEUE_SIZE];
    pthread_cond_broadcast(&taken[self->rank]);
    pthread_mutex_unlock(&lock);
    assert(received.tag == tag && received.bytes == bytes);
    memcpy(data, received.data, (size_t)bytes);
    if (self->now_ns < received.arrival_ns)
        self->now_ns = received.arrival_ns;
    self->now_ns += OVERHEAD_NS;
    return MPI_SUCCESS;
}

int mh_sendrecv(const mh_channel *channel, const void *mine, void *theirs, int bytes, int to, int from, int tag,
                mh_error *error)
{
    mh_send(channel, mine, bytes, to, tag, error);
    return mh_recv(channel, theirs, bytes, from, tag, error);
}

enum { TAG_COLLECTIVE = 1000 };

int mh_make_progress(const mh_channel *channel, mh_error *error)
{
    (void)channel;
    (void)error;
    return MPI_SUCCESS;
}

int mh_bcast(const mh_channel *channel, void *data, int bytes, int root, mh_error *error)
{
    if (channel->rank != root)
        return mh_recv(channel, data, bytes, root, TAG_COLLECTIVE, error);
    for (int peer = 0; peer < channel->size; peer++)
        if (peer != root)
            mh_send(channel, data, bytes, peer, TAG_COLLECTIVE, error);
    return MPI_SUCCESS;
}

int mh_reduce_max(const mh_channel *channel, const int64_t *mine, int64_t *greatest, int count, mh_error *error)
{
    int bytes = count * (int)sizeof *mine;
    int64_t theirs[MOST_BYTES / sizeof *mine];
    if (channel->rank != 0)
        return mh_send(channel, mine, bytes, 0, TAG_COLLECTIVE, error);
    memcpy(greatest, mine, (size_t)bytes);
    for (int peer = 1; peer < channel->size; peer++) {
        mh_recv(channel, theirs, bytes, peer, TAG_COLLECTIVE, error);
        for (int i = 0; i < count; i++)
            greatest[i] = theirs[i] > greatest[i] ? theirs[i] : greatest[i];
    }
    return MPI_SUCCESS;
}

int mh_allgather(const mh_channel *channel, const void *mine, int bytes, void *all, mh_error *error)
{
    for (int root = 0; root < channel->size; root++) {
        char *place = (char *)all + (size_t)root * (size_t)bytes;
        if (root == channel->rank)
            memcpy(place, mine, (size_t)bytes);
        mh_bcast(channel, place, bytes, root, error);
    }
    return MPI_SUCCESS;
}

int mh_allreduce_max(const mh_channel *channel, const int64_t *mine, int64_t *greatest, int count, mh_error *error)
{
    mh_reduce_max(channel, mine, greatest, count, error);
    return mh_bcast(channel, greatest, count * (int)sizeof *mine, 0, error);
}

int mh_allreduce_and(const mh_channel *channel, int64_t mine, int64_t *common, mh_error *error)
{
    int64_t all[SIMULATED_MOST];
    mh_allgather(channel, &mine, sizeof mine, all, error);
    *common = mine;
    for (int i = 0; i < channel->size; i++)
        *common &= all[i];
    return MPI_SUCCESS;
}

/* ---- Processes */

static void *run(void *argument)
{
    self = argument;
    mh_channel channel = {.comm = MPI_COMM_NULL, .rank = self->rank, .size = self->world->processes};
    mh_base_clock clock = {.kind = self->world->clocks_are_raw ? &raw_kind : &corrected_kind,
                           .now_ns = clock_now_ns,
                           .read_cost_ns = READ_COST_NS};
    self->body(self->world, &channel, &clock, self->argument);
    return NULL;
}

static process make_process(const simulation *world, int rank, simulated_process body, void *argument)
{
    chance dice = chance_of_round(world->round * SIMULATED_MOST + rank);
    /* They begin at different times. */
    return (process){world, rank, chance_between(&dice, 0, 1000000), dice, body, argument};
}

void simulate(const simulation *world, simulated_process body, void *argument)
{
    pthread_t threads[SIMULATED_MOST];
    process processes[SIMULATED_MOST];
    queues = calloc(SIMULATED_MOST, sizeof *queues);
    ck_assert_ptr_nonnull(queues);
    for (int rank = 0; rank < world->processes; rank++) {
        pthread_cond_init(&arrived[rank], NULL);
        pthread_cond_init(&taken[rank], NULL);
        processes[rank] = make_process(world, rank, body, argument);
    }
    for (int rank = 0; rank < world->processes; rank++)
        ck_assert_int_eq(pthread_create(&threads[rank], NULL, run, &processes[rank]), 0);
    for (int rank = 0; rank < world->processes; rank++)
        pthread_join(threads[rank], NULL);
    for (int rank = 0; rank < world->processes; rank++) {
        pthread_cond_destroy(&arrived[rank]);
        pthread_cond_destroy(&taken[rank]);
    }
    free(queues);
}
