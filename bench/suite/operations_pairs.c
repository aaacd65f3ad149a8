/* SPDX-License-Identifier: BSD-3-Clause */
/* operations_pairs.c - the operations of pairs of ranks, of fans, and of neighbors by messages. */
#include "bench/suite/operations.h"

/* ---- How data move */

#define PAIR(give, take, blocks) .send = give | blocks, .receive = take | blocks, .from = FROM_PARTNER, .min_ranks = 2
SHAPE(latency, PAIR(AT_PAIRS, AT_PAIRS, ONE), .turns = 2)
SHAPE(latency_persistent, PAIR(AT_PAIRS, AT_PAIRS, ONE), .turns = 2, .keeps_requests = true)
SHAPE(partitioned_latency, PAIR(AT_PAIRS, AT_PAIRS, ONE), .turns = 2, .keeps_requests = true, .is_partitioned = true)
SHAPE(latency_mt, PAIR(AT_PAIRS, AT_PAIRS, PER_MESSAGE), .turns = 2, .has_threads = true)
SHAPE(latency_mp, PAIR(AT_PAIRS, AT_PAIRS, ONE), .turns = 2, .forks = true)
SHAPE(multi_lat, PAIR(AT_PAIRS, AT_PAIRS, ONE), .turns = 2, .pairs_all = true)
SHAPE(sendrecv, PAIR(AT_PAIRS, AT_PAIRS, ONE), .in_place = SEND_IN_PLACE, .in_place_function = "MPI_Sendrecv_replace")
SHAPE(send, PAIR(AT_LEADERS, AT_FOLLOWERS, ONE))
SHAPE(bw, PAIR(AT_LEADERS, AT_FOLLOWERS, PER_MESSAGE), .directions = 1)
SHAPE(bw_persistent, PAIR(AT_LEADERS, AT_FOLLOWERS, PER_MESSAGE), .directions = 1, .keeps_requests = true)
SHAPE(mbw_mr, PAIR(AT_LEADERS, AT_FOLLOWERS, PER_MESSAGE), .directions = 1, .has_rate = true, .pairs_all = true)
#define FAN(give, take)                                                                                    \
    .send = give, .receive = take, .from = FROM_PARTNER, .directions = 1, .pairs_all = true, .fans = true, \
    .min_ranks = 2
SHAPE(bw_fan_in, FAN(AT_FOLLOWERS | PER_MESSAGE, AT_LEADERS | PER_MESSAGE_OF_PARTNERS))
SHAPE(bw_fan_out, FAN(AT_LEADERS | PER_MESSAGE, AT_FOLLOWERS | PER_MESSAGE))
SHAPE(bibw, PAIR(AT_PAIRS, AT_PAIRS, PER_MESSAGE), .directions = 2)
SHAPE(bibw_persistent, PAIR(AT_PAIRS, AT_PAIRS, PER_MESSAGE), .directions = 2, .keeps_requests = true)

SHAPE(halo, NEIGHBOR_ALL_TO_ALL)

/* ---- Between pairs of ranks */

enum { TAG = 1 };

#define TO work->send, work->count, work->type, work->partner, TAG, work->plan.comm
#define FROM work->receive, work->count, work->type, work->partner, TAG, work->plan.comm

/* Each of both sends in its turn, with one kind of send. */
static int play(const work_t *work, int (*give)(const work_t *work))
{
    int code = leads(work) ? give(work) : MPI_SUCCESS;
    if (code == MPI_SUCCESS)
        code = MPI_Recv(FROM, MPI_STATUS_IGNORE);
    return code == MPI_SUCCESS && !leads(work) ? give(work) : code;
}

static int send_standard(const work_t *work)
{
    return MPI_Send(TO);
}

static int send_synchronous(const work_t *work)
{
    return MPI_Ssend(TO);
}

static int send_nonblocking(const work_t *work)
{
    MPI_Request request;
    int code = MPI_Isend(TO, &request);
    return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int partner_at(const work_t *work, int place)
{
    return work->partner + place * work->stride;
}

/* The messages of each partner have buffers of their own. */
static int receive_many(const work_t *work, int *count)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < work->messages; i++)
        for (int k = 0; code == MPI_SUCCESS && k < work->partners; k++)
            code = MPI_Irecv((char *)work->receive + ((int64_t)k * work->messages + i) * work->size_bytes, work->count,
                             work->type, partner_at(work, k), TAG, work->plan.comm, &work->requests[(*count)++]);
    return code;
}

/* All partners get the same. */
static int send_many(const work_t *work, int *count)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < work->messages; i++)
        for (int k = 0; code == MPI_SUCCESS && k < work->partners; k++)
            code = MPI_Isend((char *)work->send + i * work->size_bytes, work->count, work->type, partner_at(work, k),
                             TAG, work->plan.comm, &work->requests[(*count)++]);
    return code;
}

/* An answer to all messages of a sender, who does not know when the last one has arrived. */
static int answer(const work_t *work, bool gives)
{
    int code = MPI_SUCCESS;
    for (int k = 0; code == MPI_SUCCESS && k < work->partners; k++)
        code = gives ? MPI_Recv(NULL, 0, MPI_BYTE, partner_at(work, k), TAG, work->plan.comm, MPI_STATUS_IGNORE)
                     : MPI_Send(NULL, 0, MPI_BYTE, partner_at(work, k), TAG, work->plan.comm);
    return code;
}

/* One of the messages of threads. If one thread sends, any of the other rank's may receive what comes next. */
static int exchange_part(const work_t *work, int message)
{
    char *give = (char *)work->send + message * work->size_bytes;
    char *take = (char *)work->receive + message * work->size_bytes;
    int tag = work->plan.senders == 1 ? TAG : TAG + message;
    int code = leads(work) ? MPI_Send(give, work->count, work->type, work->partner, tag, COMM) : MPI_SUCCESS;
    if (code == MPI_SUCCESS)
        code = MPI_Recv(take, work->count, work->type, work->partner, tag, COMM, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && !leads(work))
        code = MPI_Send(give, work->count, work->type, work->partner, tag, COMM);
    return code;
}

int exchange_parts(const void *of, int thread)
{
    const work_t *work = of;
    int code = MPI_SUCCESS;
    for (int i = thread; code == MPI_SUCCESS && i < work->messages; i += work->own_threads)
        code = exchange_part(work, i);
    return code;
}

/* Many messages at once. */
static int flood(const work_t *work, bool gives, bool takes)
{
    int count = 0, code = takes ? receive_many(work, &count) : MPI_SUCCESS;
    if (code == MPI_SUCCESS && gives)
        code = send_many(work, &count);
    if (code == MPI_SUCCESS)
        code = MPI_Waitall(count, work->requests, work->statuses);
    return code != MPI_SUCCESS || (gives && takes) ? code : answer(work, gives);
}

/* Of a message in partitions, all of which this rank has at once: the time is that of the messages alone. */
#if SUITE_HAS_PARTITIONED
static int partitioned_requests(const work_t *work)
{
    int elements = work->count / work->partitions;
    int code = MPI_Psend_init(work->send, work->partitions, elements, work->type, work->partner, TAG, work->plan.comm,
                              MPI_INFO_NULL, &work->requests[1]);
    return code != MPI_SUCCESS ? code
                               : MPI_Precv_init(work->receive, work->partitions, elements, work->type, work->partner,
                                                TAG, work->plan.comm, MPI_INFO_NULL, &work->requests[0]);
}

static int send_partitions(const work_t *work)
{
    int code = MPI_Start(&work->requests[1]);
    for (int i = 0; code == MPI_SUCCESS && i < work->partitions; i++)
        code = MPI_Pready(i, work->requests[1]);
    return code == MPI_SUCCESS ? MPI_Wait(&work->requests[1], MPI_STATUS_IGNORE) : code;
}
#else
static int partitioned_requests(const work_t *work)
{
    (void)work;
    return MPI_ERR_OTHER;
}
#endif

int pair_requests(const work_t *work)
{
    int count = messages_in_call(work), code = MPI_SUCCESS;
    if (work->plan.operation->shape->is_partitioned)
        return partitioned_requests(work);
    for (int i = 0; code == MPI_SUCCESS && i < count; i++)
        code = MPI_Recv_init((char *)work->receive + i * work->size_bytes, work->count, work->type, work->partner, TAG,
                             work->plan.comm, &work->requests[i]);
    for (int i = 0; code == MPI_SUCCESS && i < count; i++)
        code = MPI_Send_init((char *)work->send + i * work->size_bytes, work->count, work->type, work->partner, TAG,
                             work->plan.comm, &work->requests[count + i]);
    return code;
}

static int send_and_receive(const work_t *work)
{
    if (work->send == MPI_IN_PLACE)
        return MPI_Sendrecv_replace(RECEIVE, work->partner, TAG, work->partner, TAG, COMM, MPI_STATUS_IGNORE);
    return MPI_Sendrecv(SEND, work->partner, TAG, FROM, MPI_STATUS_IGNORE);
}

/* Starts and completes persistent requests: those to the partner, or those from it. */
static int pass(const work_t *work, int first, int count)
{
    int code = MPI_Startall(count, work->requests + first);
    return code == MPI_SUCCESS ? MPI_Waitall(count, work->requests + first, work->statuses) : code;
}

static int send_persistent(const work_t *work)
{
    return pass(work, 1, 1);
}

/* As play, with a request for each direction. */
static int play_persistent(const work_t *work, int (*give)(const work_t *work))
{
    int code = leads(work) ? give(work) : MPI_SUCCESS;
    if (code == MPI_SUCCESS)
        code = pass(work, 0, 1);
    return code == MPI_SUCCESS && !leads(work) ? give(work) : code;
}

/* As flood. In both directions all are under way at once. */
static int flood_persistent(const work_t *work, bool gives, bool takes)
{
    int count = work->messages;
    int code = pass(work, takes ? 0 : count, gives && takes ? 2 * count : count);
    return code != MPI_SUCCESS || (gives && takes) ? code : answer(work, gives);
}

POINT_TO_POINT(latency, play(work, send_standard))
POINT_TO_POINT(latency_ssend, play(work, send_synchronous))
POINT_TO_POINT(latency_isend, play(work, send_nonblocking))
POINT_TO_POINT(latency_persistent, play_persistent(work, send_persistent))
#if SUITE_HAS_PARTITIONED
#define PARTITIONED_CALL exchange_partitioned_latency
POINT_TO_POINT(partitioned_latency, play_persistent(work, send_partitions))
#else
#define PARTITIONED_CALL NULL
#endif
POINT_TO_POINT(bw_persistent, flood_persistent(work, leads(work), !leads(work)))
POINT_TO_POINT(bibw_persistent, flood_persistent(work, true, true))
POINT_TO_POINT(bw, flood(work, leads(work), !leads(work)))
POINT_TO_POINT(latency_mt, threads_call(work->threads))
POINT_TO_POINT(bw_fan_in, flood(work, !leads(work), leads(work)))
POINT_TO_POINT(bibw, flood(work, true, true))
POINT_TO_POINT(sendrecv, send_and_receive(work))
POINT_TO_POINT(send, leads(work) ? MPI_Send(TO) : MPI_Recv(FROM, MPI_STATUS_IGNORE))

/* What neighbor_alltoall does, as programs do it themselves. */
static int exchange_halo(const work_t *work, MPI_Request *request)
{
    const neighbors_t *neighbors = &work->neighbors;
    int count = 0, code = MPI_SUCCESS;
    (void)request;
    for (int i = 0; code == MPI_SUCCESS && i < neighbors->sources; i++)
        code = MPI_Irecv((char *)work->receive + i * work->size_bytes, work->count, work->type, neighbors->source[i],
                         TAG, COMM, &work->requests[count++]);
    for (int i = 0; code == MPI_SUCCESS && i < neighbors->destinations; i++)
        code = MPI_Isend((char *)work->send + i * work->size_bytes, work->count, work->type, neighbors->destination[i],
                         TAG, COMM, &work->requests[count++]);
    return code == MPI_SUCCESS ? MPI_Waitall(count, work->requests, work->statuses) : code;
}

/* ---- The list */

const operation_t pair_operations[] = {
    {"latency", "MPI_Send", FORM_POINT_TO_POINT, &latency, exchange_latency},
    {"latency_ssend", "MPI_Ssend", FORM_POINT_TO_POINT, &latency, exchange_latency_ssend},
    {"latency_isend", "MPI_Isend", FORM_POINT_TO_POINT, &latency, exchange_latency_isend},
    {"latency_persistent", "MPI_Send_init", FORM_POINT_TO_POINT, &latency_persistent, exchange_latency_persistent},
    {"partitioned_latency", "MPI_Psend_init", FORM_POINT_TO_POINT, &partitioned_latency, PARTITIONED_CALL},
    {"latency_mt", "MPI_Send", FORM_POINT_TO_POINT, &latency_mt, exchange_latency_mt},
    {"latency_mp", "MPI_Send", FORM_POINT_TO_POINT, &latency_mp, exchange_latency},
    {"multi_lat", "MPI_Send", FORM_POINT_TO_POINT, &multi_lat, exchange_latency},
    {"bw", "MPI_Isend", FORM_POINT_TO_POINT, &bw, exchange_bw},
    {"bibw", "MPI_Isend", FORM_POINT_TO_POINT, &bibw, exchange_bibw},
    {"bw_persistent", "MPI_Send_init", FORM_POINT_TO_POINT, &bw_persistent, exchange_bw_persistent},
    {"bibw_persistent", "MPI_Send_init", FORM_POINT_TO_POINT, &bibw_persistent, exchange_bibw_persistent},
    {"mbw_mr", "MPI_Isend", FORM_POINT_TO_POINT, &mbw_mr, exchange_bw},
    {"bw_fan_in", "MPI_Isend", FORM_POINT_TO_POINT, &bw_fan_in, exchange_bw_fan_in},
    {"bw_fan_out", "MPI_Isend", FORM_POINT_TO_POINT, &bw_fan_out, exchange_bw},
    {"sendrecv", "MPI_Sendrecv", FORM_POINT_TO_POINT, &sendrecv, exchange_sendrecv},
    {"send", "MPI_Send", FORM_POINT_TO_POINT, &send, exchange_send},
    {"halo", "MPI_Isend", FORM_POINT_TO_POINT, &halo, exchange_halo},
    {0},
};
