/* SPDX-License-Identifier: BSD-3-Clause */
/* communicators.c - give the same number on all processes to the same communicator. */
#include "trace/convert/communicators.h"

#include "common/room.h"

#include <stdio.h>
#include <stdlib.h>

/* A communicator as a process sees it. */
typedef struct {
    const trace_communicator *seen;
    int lowest; /* of its ranks */
    int rank;
    size_t id;
} sight;

static int compare_numbers(long long left, long long right)
{
    return (left > right) - (left < right);
}

/* 0 if both are of one communicator. */
static int compare_communicators(const sight *left, const sight *right)
{
    int order = compare_numbers(left->lowest, right->lowest);
    order = order != 0 ? order : compare_numbers(left->seen->context, right->seen->context);
    order = order != 0 ? order : compare_numbers(left->seen->is_inter, right->seen->is_inter);
    return order != 0 ? order : compare_numbers(left->seen->size, right->seen->size);
}

static int compare_sights(const void *left, const void *right)
{
    const sight *first = left, *second = right;
    int order = compare_communicators(first, second);
    return order != 0 ? order : compare_numbers(first->rank, second->rank);
}

/* Below 0: it has processes of another job, or is not known. */
static int lowest_rank(const trace_communicator *of)
{
    int lowest = of->size > 0 ? of->ranks[0] : -1;
    for (int i = 1; i < of->size; i++)
        lowest = of->ranks[i] < lowest ? of->ranks[i] : lowest;
    return lowest;
}

/* All that are not predefined, and of this job. sights: with room for all, or NULL. Returns how many there are. */
static size_t list_sights(const trace *of, sight *sights)
{
    size_t count = 0;
    for (int rank = 0; rank < of->size; rank++) {
        const trace_process *process = &of->processes[rank];
        for (size_t id = COMMUNICATORS_PREDEFINED; id < process->communicator_count; id++) {
            const trace_communicator *seen = &process->communicators[id];
            const int lowest = lowest_rank(seen);
            if (lowest >= 0 && sights)
                sights[count] = (sight){seen, lowest, rank, id};
            count += lowest >= 0;
        }
    }
    return count;
}

static bool has_room(communicators *found, size_t sight_count)
{
    const trace *of = found->of;
    found->list = calloc(sight_count + COMMUNICATORS_PREDEFINED, sizeof *found->list);
    found->world = malloc(room_bytes(of->size, sizeof(int)));
    found->numbers = calloc((size_t)of->size, sizeof *found->numbers);
    bool has_all = found->list && found->world && found->numbers;
    for (int rank = 0; has_all && rank < of->size; rank++) {
        size_t count = of->processes[rank].communicator_count;
        found->numbers[rank] = malloc(room_bytes((int64_t)count + 1, sizeof(int)));
        has_all = found->numbers[rank] != NULL;
        for (size_t id = 0; has_all && id < count; id++)
            found->numbers[rank][id] = id < COMMUNICATORS_PREDEFINED ? (int)id : COMMUNICATOR_UNKNOWN;
    }
    return has_all;
}

/* Which of the others is the local group of an intercommunicator: it holds this process, and lists it as remote. */
static int find_other_side(const communicators *found, const sight *sights, size_t count, const sight *one)
{
    for (size_t i = 0; i < count; i++)
        if (sights[i].seen->is_inter && sights[i].seen->context == one->seen->context &&
            sights[i].rank == one->seen->ranks[0])
            for (int k = 0; k < sights[i].seen->size; k++)
                if (sights[i].seen->ranks[k] == one->rank)
                    return found->numbers[sights[i].rank][sights[i].id];
    return COMMUNICATOR_UNKNOWN;
}

static void number_sights(communicators *found, const sight *sights, size_t count)
{
    for (int rank = 0; rank < found->of->size; rank++)
        found->world[rank] = rank;
    found->list[COMMUNICATOR_WORLD] = (communicator){false, found->of->size, found->world, COMMUNICATOR_UNKNOWN, 0, 0};
    found->list[COMMUNICATOR_SELF] = (communicator){false, 1, NULL, COMMUNICATOR_UNKNOWN, 0, 0};
    found->count = COMMUNICATORS_PREDEFINED;
    for (size_t i = 0; i < count; i++) {
        const trace_communicator *seen = sights[i].seen;
        if (i == 0 || compare_communicators(&sights[i - 1], &sights[i]) != 0)
            found->list[found->count++] =
                (communicator){seen->is_inter, seen->size, seen->ranks, COMMUNICATOR_UNKNOWN, 0, 0};
        found->numbers[sights[i].rank][sights[i].id] = found->count - 1;
    }
}

static void join_sides(communicators *found, const sight *sights, size_t count)
{
    int common = 0;
    for (size_t i = 0; i < count; i++) {
        communicator *here = &found->list[found->numbers[sights[i].rank][sights[i].id]];
        if (here->is_inter && here->other_side == COMMUNICATOR_UNKNOWN)
            here->other_side = find_other_side(found, sights, count, &sights[i]);
    }
    for (int number = 0; number < found->count; number++) {
        communicator *here = &found->list[number];
        bool is_second = here->other_side != COMMUNICATOR_UNKNOWN && here->other_side < number;
        here->common = is_second ? found->list[here->other_side].common : common++;
        here->first_in_common = is_second ? found->list[here->other_side].size : 0;
    }
}

bool communicators_find(communicators *found, const trace *of)
{
    size_t count = list_sights(of, NULL);
    sight *sights = malloc(room_bytes((int64_t)count + 1, sizeof *sights));
    *found = (communicators){.of = of};
    if (!sights || !has_room(found, count)) {
        free(sights);
        return false;
    }
    list_sights(of, sights);
    qsort(sights, count, sizeof *sights, compare_sights);
    number_sights(found, sights, count);
    join_sides(found, sights, count);
    free(sights);
    return true;
}

void communicators_free(communicators *found)
{
    for (int rank = 0; found->numbers && rank < found->of->size; rank++)
        free(found->numbers[rank]);
    free(found->numbers);
    free(found->list);
    free(found->world);
    *found = (communicators){0};
}

int communicators_number(const communicators *found, int rank, uint16_t id)
{
    if (id < COMMUNICATORS_PREDEFINED)
        return id;
    return id < found->of->processes[rank].communicator_count ? found->numbers[rank][id] : COMMUNICATOR_UNKNOWN;
}

int communicators_common(const communicators *found, int rank, uint16_t id)
{
    int number = communicators_number(found, rank, id);
    return number != COMMUNICATOR_UNKNOWN ? found->list[number].common : COMMUNICATOR_UNKNOWN;
}

int communicators_place(const communicators *found, int rank, const trace_event *event)
{
    int number = communicators_number(found, rank, event->id);
    bool is_place = number != COMMUNICATOR_UNKNOWN && event->partner >= 0;
    return is_place ? event->partner + found->list[number].first_in_common : event->partner;
}

const char *communicators_name(int number, char name[COMMUNICATOR_NAME_SIZE])
{
    if (number == COMMUNICATOR_WORLD)
        return "MPI_COMM_WORLD";
    if (number == COMMUNICATOR_SELF)
        return "MPI_COMM_SELF";
    snprintf(name, COMMUNICATOR_NAME_SIZE, number < 0 ? "unknown communicator" : "communicator %d", number);
    return name;
}
