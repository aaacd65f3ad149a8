/* SPDX-License-Identifier: BSD-3-Clause */
/* communicators.c - communicators of many kinds, made, set and freed all the time. */
#include "soak.h"

#include <stdio.h>
#include <string.h>

soak_slot soak_slots[SOAK_SLOTS];

void soak_slots_begin(void)
{
    for (int i = 0; i < SOAK_SLOTS; i++) {
        pthread_mutex_init(&soak_slots[i].lock, NULL);
        soak_slots[i].comm = MPI_COMM_NULL;
    }
}

static void make_cart(MPI_Comm *comm)
{
    int periodic = 1;
    SOAK_TRY(MPI_Cart_create(MPI_COMM_WORLD, 1, &soak_ranks, &periodic, 0, comm));
}

static void make_comm(soak_slot *slot)
{
    switch (slot->kind) {
    case SOAK_WORLD:
        slot->comm = MPI_COMM_WORLD;
        break;
    case SOAK_SELF:
        slot->comm = MPI_COMM_SELF;
        break;
    case SOAK_DUP:
        SOAK_TRY(MPI_Comm_dup(MPI_COMM_WORLD, &slot->comm));
        break;
    case SOAK_PARITY:
        SOAK_TRY(MPI_Comm_split(MPI_COMM_WORLD, soak_rank % 2, 0, &slot->comm));
        break;
    case SOAK_REVERSED:
        SOAK_TRY(MPI_Comm_split(MPI_COMM_WORLD, 0, -soak_rank, &slot->comm));
        break;
    case SOAK_CART:
        make_cart(&slot->comm);
        break;
    }
}

static void learn_members(soak_slot *slot)
{
    MPI_Group world, group;
    int ranks[SOAK_MOST_RANKS];
    MPI_Comm_rank(slot->comm, &slot->rank);
    MPI_Comm_size(slot->comm, &slot->size);
    for (int i = 0; i < slot->size; i++)
        ranks[i] = i;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(slot->comm, &group);
    MPI_Group_translate_ranks(group, slot->size, ranks, world, slot->members);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

/* The first two slots have the communicators that are always there; half of the others hold most of the world. */
static soak_kind draw_kind(const soak_slot *slot, uint64_t *agreed)
{
    static const soak_kind kinds[] = {SOAK_DUP,      SOAK_DUP,  SOAK_DUP,    SOAK_REVERSED,
                                      SOAK_REVERSED, SOAK_CART, SOAK_PARITY, SOAK_PARITY};
    soak_kind drawn = kinds[soak_below(agreed, sizeof kinds / sizeof *kinds)];
    long place = slot - soak_slots;
    return place == 0 ? SOAK_WORLD : place == 1 ? SOAK_SELF : drawn;
}

void soak_slot_make(soak_slot *slot, uint64_t *agreed)
{
    soak_kind kind = draw_kind(slot, agreed);
    if (slot->is_made)
        return;
    slot->kind = kind;
    make_comm(slot);
    learn_members(slot);
    atomic_store(&slot->latest_ns, INT64_MIN);
    slot->is_made = slot->is_fresh = true;
    slot->settings[0] = '\0';
    soak_add(SOAK_COMMUNICATORS, slot->rank == 0);
}

void soak_slot_free(soak_slot *slot)
{
    if (!slot->is_made || slot->kind == SOAK_WORLD || slot->kind == SOAK_SELF)
        return;
    pthread_mutex_lock(&slot->lock);
    slot->is_ready = slot->is_made = false;
    pthread_mutex_unlock(&slot->lock);
    SOAK_TRY(MPI_Comm_free(&slot->comm));
}

void soak_slots_drain(void)
{
    for (int i = 0; i < SOAK_SLOTS; i++)
        soak_slot_free(&soak_slots[i]);
}

/* ---- Settings */

typedef struct choice {
    const char *name;
    const char *values[8];
} choice;

static const choice clock_choice = {
    "clock", {"simulated", "simulated", "simulated", "simulated", "auto", "monotonic_raw", "realtime", "monotonic"}};

static const choice choices[] = {
    {"sync",
     {"track/skampi/20+prop", "prop", "track/skampi/10", "hca3o/skampi/5", "hca3/5/skampi/5", "hca2/5/skampi/5",
      "jk/5/meanrtt/5", "none"}},
    {"barrier", {"auto", "shm", "tree", "collective", "dissemination", "dissemination", "shm", "auto"}},
    {"tolerance_ns", {"auto", "auto", "auto", "1", "300", "2000", "100000", "10000000"}},
    {"yield", {"auto", "auto", "auto", "auto", "auto", "auto", "always", "never"}},
    {"slack_min_ns", {"auto", "auto", "auto", "auto", "1000", "20000", "1000000", "5000000"}},
    {"resync_interval_ns", {"auto", "auto", "auto", "auto", "auto", "1000000", "20000000", "86400000000000"}},
    {"valid_fraction", {"auto", "auto", "auto", "auto", "0.5", "0.9", "0.99", "0.999"}},
};

static const char *draw_value(const choice *choice, uint64_t *agreed)
{
    return choice->values[soak_below(agreed, sizeof choice->values / sizeof *choice->values)];
}

static void add_setting(soak_slot *slot, MPI_Info info, const char *name, const char *value)
{
    char key[64];
    size_t used = strlen(slot->settings);
    snprintf(key, sizeof key, "mpix_harmonize_%s", name);
    SOAK_TRY(MPI_Info_set(info, key, value));
    snprintf(slot->settings + used, sizeof slot->settings - used, " %s=%s", name, value);
}

/* The clock is chosen once; what else is drawn changes now and then. */
void soak_slot_set(soak_slot *slot, uint64_t *agreed)
{
    MPI_Info info;
    bool is_new = slot->settings[0] == '\0';
    const char *clock = draw_value(&clock_choice, agreed);
    SOAK_TRY(MPI_Info_create(&info));
    if (is_new)
        add_setting(slot, info, "clock", clock);
    if (strlen(slot->settings) > 150)
        snprintf(slot->settings, sizeof slot->settings, " ...");
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        const char *value = draw_value(&choices[i], agreed);
        if (soak_one_in(agreed, is_new ? 2 : 4)) {
            add_setting(slot, info, choices[i].name, value);
            slot->is_fresh = true;
        }
    }
    SOAK_TRY(MPIX_Harmonize_set_info(slot->comm, info));
    MPI_Info_free(&info);
}
