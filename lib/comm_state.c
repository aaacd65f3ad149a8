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
    pthread_mutex_t lock; /* of the list and of what is kept; MPI is not called under it */
    _Atomic int keyval;   /* of the states */
    int finalize_keyval;  /* of an attribute that MPI deletes when it ends */
    _Atomic bool watches_finalize;
    _Atomic bool ended; /* that attribute has been deleted */
    _Atomic int states;
    mh_comm_state *first; /* of the states */
    mh_comm_state *kept;  /* of communicators that failed */
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER, .keyval = MPI_KEYVAL_INVALID, .finalize_keyval = MPI_KEYVAL_INVALID};

enum { REMEMBERED = 16, GENERATIONS = 256 };

/*
 * One for each group of handles; it changes whenever a state of the group is freed. What threads remember of this group
 * is then stale, because another communicator may get the handle.
 */
static _Atomic unsigned generations[GENERATIONS];

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

static inline _Atomic unsigned *generation_of(MPI_Comm comm)
{
    return &generations[hash_of(comm) % GENERATIONS];
}

static void insert(mh_comm_state *state)
{
    pthread_mutex_lock(&registry.lock);
    mh_comm_state **link = &registry.first;
    while (*link)
        link = &(*link)->next;
    state->link = link;
    *link = state;
    atomic_fetch_add(&registry.states, 1);
    pthread_mutex_unlock(&registry.lock);
}

/* Whether a state is to be removed from the list. */
typedef bool mh_state_filter(const mh_comm_state *state, const void *wanted);

/* Remove the first state that the filter selects from the list; NULL if there is none. */
static mh_comm_state *unlink_state(mh_state_filter *filter, const void *wanted)
{
    pthread_mutex_lock(&registry.lock);
    mh_comm_state *state = registry.first;
    while (state && !filter(state, wanted))
        state = state->next;
    if (state) {
        *state->link = state->next;
        if (state->next)
            state->next->link = state->link;
        atomic_fetch_sub(&registry.states, 1);
    }
    pthread_mutex_unlock(&registry.lock);
    return state;
}

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
 * Free a state that is not in the list. Its communicator may still have it as an attribute.
 *
 * After a failure inside MPI, operations may still be under way, and messages be left that nobody has received. The
 * room is then kept for good, and the communicator until MPI ends: MPICH would deliver its messages to the next
 * communicator with the same number. That of a session is freed, because it must not outlive the session.
 */
static void free_state(mh_comm_state *state)
{
    if (!state)
        return;
    atomic_fetch_add(generation_of(state->user_comm), 1);
    if (!state->failed || state->before_world || registry.ended)
        free_channel(&state->channel);
    mh_comm_clock_free(&state->clock);
    mh_barrier_close(&state->barrier);
    mh_sites_free(&state->sites);
    if (state->failed)
        keep(state);
    else
        free(state);
}

/* An attribute of a communicator. */
typedef struct mh_attribute {
    MPI_Comm comm;
    const void *value;
} mh_attribute;

/* If a state was freed before its attribute, its address may belong to the state of another communicator. */
static bool is_attribute(const mh_comm_state *state, const void *wanted)
{
    const mh_attribute *attribute = wanted;
    return state == attribute->value && state->user_comm == attribute->comm;
}

static int delete_state(MPI_Comm comm, int keyval, void *value, void *extra)
{
    mh_attribute attribute = {comm, value};
    (void)keyval;
    (void)extra;
    free_state(unlink_state(is_attribute, &attribute));
    return MPI_SUCCESS;
}

static bool ends_with_world(const mh_comm_state *state, const void *finalized)
{
    return *(const int *)finalized || !state->before_world;
}

/*
 * Oldest first: processes that share several communicators made them in the same order, so none waits for another. The
 * communicators are not used, because some may no longer exist. States made before MPI_Init belong to sessions.
 */
static void free_states_of_world(void)
{
    int finalized = 0;
    PMPI_Finalized(&finalized);
    for (mh_comm_state *state; (state = unlink_state(ends_with_world, &finalized)) != NULL;)
        free_state(state);
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
    free_states_of_world();
    for (mh_comm_state *state = registry.kept; state; state = state->next)
        free_channel(&state->channel);
    int states = registry.states > 0 ? MPI_KEYVAL_INVALID : atomic_exchange(&registry.keyval, MPI_KEYVAL_INVALID);
    if (states != MPI_KEYVAL_INVALID)
        PMPI_Comm_free_keyval(&states);
    if (registry.finalize_keyval != MPI_KEYVAL_INVALID)
        PMPI_Comm_free_keyval(&registry.finalize_keyval);
    registry.watches_finalize = false;
    return MPI_SUCCESS;
}

bool mh_comm_state_mpi_ended(void)
{
    int finalized = 0;
    PMPI_Finalized(&finalized);
    bool in_session = registry.states > 0 || (registry.watches_finalize && !registry.ended);
    return finalized ? !in_session : registry.ended;
}

/*
 * Some MPI libraries skip the callbacks of other communicators at MPI_Finalize; those of MPI_COMM_SELF are always
 * called.
 */
static int watch_finalize(mh_error *error)
{
    int initialized, finalized;
    MH_TRY(error, PMPI_Initialized, (&initialized));
    MH_TRY(error, PMPI_Finalized, (&finalized));
    if (!initialized || finalized || registry.watches_finalize)
        return MPI_SUCCESS;
    MH_TRY(error, PMPI_Comm_create_keyval, (MPI_COMM_NULL_COPY_FN, at_finalize, &registry.finalize_keyval, NULL));
    MH_TRY(error, PMPI_Comm_set_attr, (MPI_COMM_SELF, registry.finalize_keyval, NULL));
    registry.watches_finalize = true;
    return MPI_SUCCESS;
}

/* A duplicate of a communicator starts fresh: its state is not copied. */
static int make_keyval(mh_error *error)
{
    int keyval;
    if (atomic_load(&registry.keyval) != MPI_KEYVAL_INVALID)
        return MPI_SUCCESS;
    MH_TRY(error, PMPI_Comm_create_keyval, (MPI_COMM_NULL_COPY_FN, delete_state, &keyval, NULL));
    atomic_store(&registry.keyval, keyval);
    return MPI_SUCCESS;
}

/* Under a lock that no callback takes: MPI libraries may call them with a lock of their attributes held. */
static int ensure_keyvals(mh_error *error)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    int code = watch_finalize(error);
    if (code == MPI_SUCCESS)
        code = make_keyval(error);
    pthread_mutex_unlock(&lock);
    return code;
}

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
    *state = attribute;
    remember(comm, *state, seen);
    return MPI_SUCCESS;
}

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
    else if (error->code == MPI_SUCCESS && ensure_keyvals(error) == MPI_SUCCESS)
        mh_settings_from_environment(&settings, error);
    int code = mh_settings_agree(&settings, MPI_ERR_ARG, channel->comm, error);
    if (code == MPI_SUCCESS && state)
        state->settings = settings;
    return code;
}

static bool attach(mh_comm_state *state, mh_error *error)
{
    insert(state);
    return mh_check_mpi(error, PMPI_Comm_set_attr(state->user_comm, registry.keyval, state), "MPI_Comm_set_attr") ==
           MPI_SUCCESS;
}

/* Free a state that is inserted, and whose communicator may have it as an attribute. */
static void detach(mh_comm_state *state, bool attached)
{
    MPI_Comm comm = state->user_comm;
    if (!attached || PMPI_Comm_delete_attr(comm, registry.keyval) != MPI_SUCCESS)
        delete_state(comm, registry.keyval, state, NULL);
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
    if (ensure_keyvals(&ignored) != MPI_SUCCESS) {
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
