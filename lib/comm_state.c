/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comm_state.c - find the state of a communicator by its attribute, or without MPI in the memory of the thread; free it
 * with the communicator, or with MPI.
 */
#include "comm_state.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static struct {
    pthread_mutex_t lock; /* of the groups, of users and of what is kept; MPI is not called under it */
    _Atomic int keyval;   /* of the states */
    _Atomic int users;    /* states that are attached under it, or are about to be */
    int64_t made;         /* states so far */
    _Atomic bool watches_finalize;
    _Atomic bool ended;  /* MPI_Finalize has begun */
    mh_comm_state *kept; /* of communicators that failed */
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER, .keyval = MPI_KEYVAL_INVALID};

enum { REMEMBERED = 16, GROUPS = 256 };

/* For each group of handles. */
static struct {
    /*
     * Changes whenever a state of the group ends. What threads remember of this group is then stale, because another
     * communicator may get the handle.
     */
    _Atomic unsigned generation;
    mh_comm_state *first; /* of the states that some communicator may have as an attribute */
} groups[GROUPS];

typedef struct mh_memory_of_comm {
    unsigned generation;
    MPI_Comm comm;
    mh_comm_state *state;
} mh_memory_of_comm;

/*
 * The communicators that a thread used last. Looking up an attribute takes longer than the rest of reading a clock. The
 * general model of thread-local storage costs half a nanosecond, but lets programs load the library at run time.
 */
static _Thread_local mh_memory_of_comm remembered[REMEMBERED];

/* Handles are small numbers or addresses. */
static inline unsigned hash_of(MPI_Comm comm)
{
    uintptr_t handle = (uintptr_t)comm;
    return (unsigned)(handle ^ handle >> 4 ^ handle >> 8);
}

static inline unsigned group_of(MPI_Comm comm)
{
    return hash_of(comm) % GROUPS;
}

static inline _Atomic unsigned *generation_of(MPI_Comm comm)
{
    return &groups[group_of(comm)].generation;
}

/* ---- The keyval */

/*
 * The keyval lasts until MPI_Finalize, or in a program of sessions as long as there are states: MPI may start again
 * after the last session, and give the number to the program.
 */
static void free_unused_keyval(void)
{
    int unused = MPI_KEYVAL_INVALID;
    pthread_mutex_lock(&registry.lock);
    if (registry.users == 0 && !registry.watches_finalize)
        unused = atomic_exchange(&registry.keyval, MPI_KEYVAL_INVALID);
    pthread_mutex_unlock(&registry.lock);
    if (unused == MPI_KEYVAL_INVALID)
        return;
    PMPI_Comm_free_keyval(&unused);
    mh_error_forget_codes();
}

static void leave_keyval(mh_comm_state *state)
{
    if (state->keyval == MPI_KEYVAL_INVALID)
        return;
    state->keyval = MPI_KEYVAL_INVALID;
    atomic_fetch_sub(&registry.users, 1);
    free_unused_keyval();
}

/* MPI started again without our notice, and gave the keyval to the program. */
static void lose_keyval(int keyval)
{
    if (atomic_compare_exchange_strong(&registry.keyval, &keyval, MPI_KEYVAL_INVALID))
        mh_error_forget_codes();
}

/* ---- The states that communicators have */

static void insert(mh_comm_state *state)
{
    mh_comm_state **first = &groups[group_of(state->user_comm)].first;
    pthread_mutex_lock(&registry.lock);
    state->number = registry.made++;
    state->next = *first;
    *first = state;
    pthread_mutex_unlock(&registry.lock);
}

/*
 * The place of the state that is an attribute of comm; NULL if there is none. The value may be anything: a number of
 * the program, or the address of a state that has ended, which may now be that of another communicator's state.
 */
static mh_comm_state **place_of(MPI_Comm comm, const void *value)
{
    for (mh_comm_state **place = &groups[group_of(comm)].first; *place; place = &(*place)->next)
        if (*place == value && (*place)->user_comm == comm)
            return place;
    return NULL;
}

static bool is_state_of(MPI_Comm comm, const void *value)
{
    pthread_mutex_lock(&registry.lock);
    bool is_state = place_of(comm, value);
    pthread_mutex_unlock(&registry.lock);
    return is_state;
}

static mh_comm_state *unlink_state(MPI_Comm comm, const void *value)
{
    pthread_mutex_lock(&registry.lock);
    mh_comm_state **place = place_of(comm, value), *state = place ? *place : NULL;
    if (state)
        *place = state->next;
    pthread_mutex_unlock(&registry.lock);
    return state;
}

/* The oldest one that has not ended and that MPI_Finalize ends; those of sessions only if all of MPI has ended. */
static mh_comm_state *oldest_of_world(bool all_ended)
{
    mh_comm_state *oldest = NULL;
    pthread_mutex_lock(&registry.lock);
    for (int i = 0; i < GROUPS; i++)
        for (mh_comm_state *state = groups[i].first; state; state = state->next)
            if (state->keyval != MPI_KEYVAL_INVALID && (all_ended || !state->before_world) &&
                (!oldest || state->number < oldest->number))
                oldest = state;
    pthread_mutex_unlock(&registry.lock);
    return oldest;
}

/* ---- The end of a state */

static void keep(mh_comm_state *state)
{
    pthread_mutex_lock(&registry.lock);
    state->next = registry.kept;
    registry.kept = state;
    pthread_mutex_unlock(&registry.lock);
}

static void free_channel(mh_channel *channel)
{
    if (channel->comm != MPI_COMM_NULL)
        PMPI_Comm_free(&channel->comm);
}

/*
 * Free what a state has. More than once does no harm.
 *
 * After a failure inside MPI, operations may still be under way, and messages be left that nobody has received. The
 * communicator is then kept until MPI ends: MPICH would deliver its messages to the next communicator with the same
 * number. That of a session is freed, because it must not outlive the session.
 */
static void end_state(mh_comm_state *state)
{
    atomic_fetch_add(generation_of(state->user_comm), 1);
    if (!state->failed || state->before_world || registry.ended)
        free_channel(&state->channel);
    mh_comm_clock_free(&state->clock);
    mh_barrier_close(&state->barrier);
    mh_sites_free(&state->sites);
    leave_keyval(state);
}

/* Free a state that no communicator has. After a failure its memory is kept for good, as MPI may still write there. */
static void free_state(mh_comm_state *state)
{
    if (!state)
        return;
    end_state(state);
    if (state->failed)
        keep(state);
    else
        free(state);
}

static int delete_state(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)keyval;
    (void)extra;
    free_state(unlink_state(comm, value));
    return MPI_SUCCESS;
}

/*
 * Oldest first: processes that share several communicators made them in the same order, so none waits for another. The
 * communicators are not used, because some may no longer exist. Others still have the state as an attribute: that of a
 * session may go on though it was used first after MPI_Init. So the state stays as one that refuses calls.
 */
static void end_states_of_world(void)
{
    int finalized = 0;
    PMPI_Finalized(&finalized);
    for (mh_comm_state *state; (state = oldest_of_world(finalized)) != NULL;) {
        end_state(state);
        state->failed = true;
    }
}

/*
 * The callback of an attribute that MPI deletes when MPI_Finalize begins, or, in MPI libraries that stay active for
 * sessions, with the last session.
 */
static int at_finalize(MPI_Comm comm, int keyval, void *attribute, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)attribute;
    (void)extra;
    registry.ended = true;
    registry.watches_finalize = false;
    end_states_of_world();
    for (mh_comm_state *state = registry.kept; state; state = state->next)
        free_channel(&state->channel);
    free_unused_keyval();
    return MPI_SUCCESS;
}

bool mh_comm_state_mpi_ended(void)
{
    int finalized = 0;
    PMPI_Finalized(&finalized);
    bool in_session = registry.users > 0 || (registry.watches_finalize && !registry.ended);
    return finalized ? !in_session : registry.ended;
}

/* ---- Attributes */

/*
 * Some MPI libraries skip the callbacks of other communicators at MPI_Finalize; those of MPI_COMM_SELF are always
 * called. The attribute keeps its keyval. If two threads come here at once, there are two attributes.
 */
static int watch_finalize(mh_error *error)
{
    int initialized, finalized, keyval;
    MH_TRY(error, PMPI_Initialized, (&initialized));
    MH_TRY(error, PMPI_Finalized, (&finalized));
    if (!initialized || finalized || registry.watches_finalize)
        return MPI_SUCCESS;
    MH_TRY(error, PMPI_Comm_create_keyval, (MPI_COMM_NULL_COPY_FN, at_finalize, &keyval, NULL));
    int code = mh_check_mpi(error, PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL), "MPI_Comm_set_attr");
    PMPI_Comm_free_keyval(&keyval);
    registry.watches_finalize = code == MPI_SUCCESS;
    return code;
}

/* A duplicate of a communicator starts fresh: its state is not copied. */
static int make_keyval(mh_error *error)
{
    int keyval, none = MPI_KEYVAL_INVALID;
    MH_TRY(error, PMPI_Comm_create_keyval, (MPI_COMM_NULL_COPY_FN, delete_state, &keyval, NULL));
    if (!atomic_compare_exchange_strong(&registry.keyval, &none, keyval))
        PMPI_Comm_free_keyval(&keyval); /* another thread was faster */
    return MPI_SUCCESS;
}

/*
 * Get the keyval for a state. Without a lock: in these functions, MPI may call a handler of the program, which may call
 * this library or jump.
 */
static int use_keyval(mh_comm_state *state, mh_error *error)
{
    if (state->keyval != MPI_KEYVAL_INVALID)
        return MPI_SUCCESS;
    int code = watch_finalize(error);
    if (code != MPI_SUCCESS)
        return code;
    pthread_mutex_lock(&registry.lock);
    registry.users++; /* so nobody frees it any more */
    pthread_mutex_unlock(&registry.lock);
    if (registry.keyval == MPI_KEYVAL_INVALID)
        code = make_keyval(error);
    if (code == MPI_SUCCESS)
        state->keyval = registry.keyval;
    else
        atomic_fetch_sub(&registry.users, 1);
    return code;
}

/* ---- What threads remember */

/* Of communicators that are alike, the one used last is in this entry; the others are anywhere. */
static inline mh_memory_of_comm *first_entry(MPI_Comm comm)
{
    return &remembered[hash_of(comm) % REMEMBERED];
}

/* An entry that is of no use any more, or else all in turn. */
static mh_memory_of_comm *entry_to_replace(void)
{
    static _Thread_local unsigned turn;
    for (int i = 0; i < REMEMBERED; i++)
        if (!remembered[i].state || remembered[i].generation != atomic_load(generation_of(remembered[i].comm)))
            return &remembered[i];
    return &remembered[turn++ % REMEMBERED];
}

static void remember(MPI_Comm comm, mh_comm_state *state, unsigned seen)
{
    *entry_to_replace() = *first_entry(comm);
    *first_entry(comm) = (mh_memory_of_comm){seen, comm, state};
}

static inline bool is_of(const mh_memory_of_comm *entry, MPI_Comm comm, unsigned now)
{
    return entry->generation == now && entry->comm == comm;
}

/* Apart, so that it costs those nothing that are found in their first entry. */
__attribute__((noinline)) static mh_comm_state *search_all(mh_memory_of_comm *first, MPI_Comm comm, unsigned now)
{
    for (mh_memory_of_comm *entry = remembered; entry < remembered + REMEMBERED; entry++)
        if (is_of(entry, comm, now)) {
            mh_memory_of_comm found = *entry;
            *entry = *first;
            *first = found;
            return found.state;
        }
    return NULL;
}

mh_comm_state *mh_comm_state_remembered(MPI_Comm comm)
{
    unsigned now = atomic_load_explicit(generation_of(comm), memory_order_acquire);
    mh_memory_of_comm *first = first_entry(comm);
    return is_of(first, comm, now) ? first->state : search_all(first, comm, now);
}

int mh_comm_state_find(MPI_Comm comm, mh_comm_state **state, mh_error *error)
{
    unsigned seen = atomic_load_explicit(generation_of(comm), memory_order_acquire);
    int keyval = atomic_load(&registry.keyval), found = 0;
    void *attribute = NULL;
    *state = NULL;
    if (keyval != MPI_KEYVAL_INVALID)
        MH_TRY_USER(error, PMPI_Comm_get_attr, (comm, keyval, &attribute, &found));
    if (!found)
        return MPI_SUCCESS;
    if (!is_state_of(comm, attribute)) {
        lose_keyval(keyval);
        return MPI_SUCCESS;
    }
    *state = attribute;
    remember(comm, *state, seen);
    return MPI_SUCCESS;
}

/* ---- Making a state */

/*
 * Make the private communicator. MPI_Comm_dup would call the copy callbacks of the user's attributes, and
 * MPI_Comm_create of MPICH 4.0 crashes in programs that use sessions only. Equal keys keep the order of ranks. After an
 * error the caller frees it if this process has it. Others may not have it, but MPI libraries free without them. A
 * later failure on this process only is left in error, for all processes to agree on.
 */
static int make_channel(MPI_Comm comm, mh_channel *channel, mh_error *error)
{
    if (mh_check_mpi(error, PMPI_Comm_split(comm, 0, 0, &channel->comm), "MPI_Comm_split") != MPI_SUCCESS)
        channel->comm = MPI_COMM_NULL;
    int code = mh_error_agree(error, comm);
    if (code != MPI_SUCCESS)
        return code;
    /* Before this call, the handler is that of the user's communicator. */
    mh_check_mpi(error, PMPI_Comm_set_errhandler(channel->comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    PMPI_Comm_set_name(channel->comm, "libmpix_harmonize"); /* for debuggers only */
    mh_check_mpi(error, PMPI_Comm_rank(channel->comm, &channel->rank), "MPI_Comm_rank");
    mh_check_mpi(error, PMPI_Comm_size(channel->comm, &channel->size), "MPI_Comm_size");
    return MPI_SUCCESS;
}

/* A state that can be freed and asked, but has neither a private communicator nor agreed settings yet. */
static mh_comm_state *new_state(MPI_Comm comm)
{
    int initialized = 1;
    mh_comm_state *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    PMPI_Initialized(&initialized);
    state->user_comm = comm;
    state->channel.comm = MPI_COMM_NULL;
    state->before_world = !initialized;
    state->keyval = MPI_KEYVAL_INVALID;
    mh_settings_default(&state->settings);
    mh_comm_clock_init(&state->clock, &state->channel);
    mh_rounds_init(&state->rounds, &state->channel, &state->clock.global, &state->barrier);
    return state;
}

/* The steps that can fail on one process only, and agreement on their errors. */
static int agree_on_settings(mh_comm_state *state, const mh_channel *channel, mh_error *error)
{
    mh_settings settings;
    mh_settings_default(&settings);
    if (!state)
        mh_fail(error, MPI_ERR_NO_MEM, "out of memory on rank %d for the state of a communicator", channel->rank);
    else if (error->code == MPI_SUCCESS && use_keyval(state, error) == MPI_SUCCESS)
        mh_settings_from_environment(&settings, error);
    int code = mh_settings_agree(&settings, MPI_ERR_ARG, channel->comm, error);
    if (code == MPI_SUCCESS && state)
        state->settings = settings;
    return code;
}

static bool attach(mh_comm_state *state, mh_error *error)
{
    insert(state);
    return mh_check_mpi(error, PMPI_Comm_set_attr(state->user_comm, state->keyval, state), "MPI_Comm_set_attr") ==
           MPI_SUCCESS;
}

/* Free a state that is inserted. If its communicator does not let go of it, it stays as one that refuses calls. */
static void detach(mh_comm_state *state, bool attached)
{
    MPI_Comm comm = state->user_comm;
    if (!attached)
        free_state(unlink_state(comm, state));
    else if (PMPI_Comm_delete_attr(comm, state->keyval) != MPI_SUCCESS)
        state->failed = true;
}

/*
 * Attach the state on all processes, or on none; but if processes do not know of each other, one that failed keeps its
 * state, by which it refuses later calls: others may go on. keeps: on this process.
 */
static int attach_on_all(mh_comm_state *state, bool *keeps, mh_error *error)
{
    bool attached = attach(state, error);
    int code = mh_error_agree(error, state->channel.comm);
    state->failed = code != MPI_SUCCESS && error->alone;
    *keeps = code == MPI_SUCCESS || (attached && state->failed);
    if (!*keeps)
        detach(state, attached);
    return code;
}

/* The same after a failure before. Returns whether the state is attached; else it is freed. */
static bool keep_failed(mh_comm_state *state)
{
    mh_error ignored = MH_NO_ERROR;
    state->failed = true;
    if (use_keyval(state, &ignored) != MPI_SUCCESS) {
        free_state(state);
        return false;
    }
    bool attached = attach(state, &ignored);
    if (!attached)
        detach(state, false);
    return attached;
}

/* made: NULL if there is no state; after an error, one that refuses later calls. */
static int make_state(MPI_Comm comm, mh_comm_state **made, mh_error *error)
{
    mh_comm_state *state = new_state(comm);
    mh_channel channel = {.comm = MPI_COMM_NULL, .room = state ? &state->room : NULL};
    bool keeps = false;
    int code = make_channel(comm, &channel, error);
    if (code == MPI_SUCCESS)
        code = agree_on_settings(state, &channel, error);
    if (state)
        state->channel = channel;
    else
        free_channel(&channel);
    if (code == MPI_SUCCESS)
        code = attach_on_all(state, &keeps, error);
    else if (state && error->alone)
        keeps = keep_failed(state);
    else
        free_state(state);
    *made = keeps ? state : NULL;
    return code;
}

/*
 * MPI must not call an error handler of the program on comm before all processes know of an error: the handler may jump
 * out of this call, and the others would wait for ever. So comm returns errors meanwhile, and the caller raises what
 * was agreed. Other handlers stay: in MPICH, that of the world is that of all communicators that never got one, and
 * setting the same one ends this.
 */
static int make_state_quietly(MPI_Comm comm, mh_comm_state **made, mh_error *error)
{
    MPI_Errhandler theirs;
    if (mh_check_mpi(error, PMPI_Comm_get_errhandler(comm, &theirs), "MPI_Comm_get_errhandler") != MPI_SUCCESS)
        return make_state(comm, made, error);
    bool may_jump = theirs != MPI_ERRORS_RETURN && theirs != MPI_ERRORS_ARE_FATAL;
    if (may_jump)
        mh_check_user_mpi(error, PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    int code = make_state(comm, made, error);
    if (may_jump && PMPI_Comm_set_errhandler(comm, theirs) != MPI_SUCCESS)
        PMPI_Comm_set_errhandler(comm, theirs); /* it must not get lost */
    PMPI_Errhandler_free(&theirs);
    return code;
}

int mh_comm_state_get(MPI_Comm comm, mh_comm_state **state, mh_error *error)
{
    unsigned seen = atomic_load_explicit(generation_of(comm), memory_order_acquire);
    int code = mh_comm_state_find(comm, state, error);
    if (code != MPI_SUCCESS || *state)
        return code;
    code = make_state_quietly(comm, state, error);
    if (*state)
        remember(comm, *state, seen);
    return code;
}

void mh_comm_state_give_up(mh_comm_state *state)
{
    state->failed = true;
    mh_barrier_give_up(&state->barrier);
}
