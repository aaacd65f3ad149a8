/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_wait_states.c - two ranks that wait for each other in each way that messages allow, 20 times: rank 0 for rank 1
 * in MPI_Recv, in MPI_Wait, in MPI_Test, in MPI_Iprobe, in MPI_Probe and in MPI_Mprobe; then rank 1 for rank 0 in
 * MPI_Ssend, in an MPI_Send of 1 MiB, and in MPI_Wait for what MPI_Ssend_init made. The one that is late sleeps for 1
 * ms. Once more rank 1 is late, but rank 0 computes for 1.5 ms and looks with MPI_Testany in turn: it hardly waits.
 * Rank 0 waits in MPI_Recv while another message is there. Then rank 1 is late at MPI_Win_fence, at MPI_Win_post, and
 * rank 0 at MPI_Win_complete. Rank 0 asks for a lock that rank 1 has, and is late to give back.
 */
#include <mpi.h>
#include <time.h>

enum { TIMES = 20, BYTES = 1 << 20, EARLY_TAG = 2 };

static char big[BYTES];
/* MPICH 4.0.2 with UCX rounds the address of a window down. */
static _Alignas(64) char locked_bytes[1];
static MPI_Win locked;

/* The other rank is late from now on: so this one is there first, however busy the machine is. */
static void come_before(int other)
{
    MPI_Send(big, 0, MPI_CHAR, other, 1, MPI_COMM_WORLD);
}

static void come_after(int other)
{
    MPI_Recv(big, 0, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void receive(int bytes)
{
    MPI_Recv(big, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wait_for_senders(void)
{
    MPI_Request request;
    MPI_Status status;
    int found = 0;
    come_before(1);
    receive(1);
    MPI_Irecv(big, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
    come_before(1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Irecv(big, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
    come_before(1);
    while (!found)
        MPI_Test(&request, &found, MPI_STATUS_IGNORE);
    come_before(1);
    for (found = 0; !found;)
        MPI_Iprobe(1, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    receive(1);
    come_before(1);
    MPI_Probe(1, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_CHAR, &found);
    receive(1);
    MPI_Message message;
    come_before(1);
    MPI_Mprobe(1, 0, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(big, 1, MPI_CHAR, &message, MPI_STATUS_IGNORE);
}

static void compute_for_long(void)
{
    const double end_s = MPI_Wtime() + 1.5e-3;
    while (MPI_Wtime() < end_s)
        ;
}

static void compute_until_received(void)
{
    MPI_Request request;
    int index, found = 0;
    MPI_Irecv(big, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
    come_before(1);
    for (; !found; compute_for_long())
        MPI_Testany(1, &request, &index, &found, MPI_STATUS_IGNORE);
}

static void receive_in_wrong_order(void)
{
    MPI_Probe(1, EARLY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    come_before(1);
    receive(1);
    MPI_Recv(big, 1, MPI_CHAR, 1, EARLY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_late(void)
{
    come_after(0);
    MPI_Send(big, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
}

static void send_all_late(void)
{
    enum { WAYS = 7 };
    for (int i = 0; i < WAYS; i++)
        send_late();
    MPI_Send(big, 1, MPI_CHAR, 0, EARLY_TAG, MPI_COMM_WORLD);
    send_late();
}

/* Rank 0 puts something, and waits for rank 1; then the other way around. */
static void access_window(MPI_Win window, MPI_Group other)
{
    come_before(1);
    MPI_Win_start(other, 0, window);
    MPI_Put(big, 1, MPI_CHAR, 1, 0, 1, MPI_CHAR, window);
    MPI_Win_complete(window);
    MPI_Win_start(other, 0, window);
    come_after(1);
    MPI_Win_complete(window);
}

static void expose_window(MPI_Win window, MPI_Group other)
{
    come_after(0);
    MPI_Win_post(other, 0, window);
    MPI_Win_wait(window);
    MPI_Win_post(other, 0, window);
    come_before(0);
    MPI_Win_wait(window);
}

static void put_under_lock(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, locked);
    MPI_Put(big, 1, MPI_CHAR, 0, 0, 1, MPI_CHAR, locked);
}

static void ask_for_lock(void)
{
    receive(1);
    come_before(1);
    put_under_lock();
    MPI_Win_unlock(0, locked);
}

static void hold_lock(void)
{
    put_under_lock();
    MPI_Win_flush(0, locked);
    MPI_Send(big, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    come_after(0);
    MPI_Win_unlock(0, locked);
}

static void run_rank_0(MPI_Win window, MPI_Group other)
{
    wait_for_senders();
    compute_until_received();
    receive_in_wrong_order();
    come_after(1);
    receive(1);
    come_after(1);
    receive(BYTES);
    come_after(1);
    receive(1);
    come_before(1);
    MPI_Win_fence(0, window);
    access_window(window, other);
    ask_for_lock();
}

static void run_rank_1(MPI_Win window, MPI_Group other)
{
    MPI_Request request;
    send_all_late();
    come_before(0);
    MPI_Ssend(big, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    come_before(0);
    MPI_Send(big, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    come_before(0);
    MPI_Ssend_init(big, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    come_after(0);
    MPI_Win_fence(0, window);
    expose_window(window, other);
    hold_lock();
}

int main(int argc, char **argv)
{
    int rank, other_rank;
    MPI_Win window;
    MPI_Group all, other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(big, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_create(locked_bytes, 1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &locked);
    other_rank = 1 - rank;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other_rank, &other);
    for (int i = 0; i < TIMES; i++)
        if (rank == 0)
            run_rank_0(window, other);
        else
            run_rank_1(window, other);
    MPI_Group_free(&all);
    MPI_Group_free(&other);
    MPI_Win_free(&window);
    MPI_Win_free(&locked);
    return MPI_Finalize();
}
