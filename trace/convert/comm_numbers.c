/* SPDX-License-Identifier: BSD-3-Clause */
/* comm_numbers.c - give the same number on all processes to the same communicator. */
#include "trace/convert/comm_numbers.h"

#include "common/cli/memory.h"

#include <stdio.h>

/* A communicator as a process sees it. */
typedef struct {
    const trace_communicator *seen;
    int rank;
    int *number; /* that it gets */
} sight;

static int compare_numbers(long long left, long long right)
{
    return (left > right) - (left < right);
}

/* 0 if both are of one communicator. */
static int compare_communicators(const trace_communicator *left, const trace_communicator *right)
{
    int order = compare_numbers(left->lowest, right->lowest);
    order = order != 0 ? order : compare_numbers(left->context, right->context);
    order = order != 0 ? order : compare_numbers(left->is_inter, right->is_inter);
    return order != 0 ? order : compare_numbers(left->size, right->size);
}

static int compare_sights(const void *left, const void *right)
{
    const sight *first = left, *second = right;
    int order = compare_communicators(first->seen, second->seen);
    return order != 0 ? order : compare_numbers(first->rank, second->rank);
}

/* All that are not predefined, and of this job. Returns how many there are. */
static size_t list_sights(communicators *found, sight *sights)
{
    size_t count = 0;
    for (int rank = 0; rank < found->of->size; rank++) {
        const trace_process *process = &found->of->processes[rank];
        int *numbers = or_exit(malloc(array_bytes((int64_t)process->communicator_count + 1, sizeof *numbers)));
        found->numbers[rank] = numbers;
        for (size_t id = 0; id < process->communicator_count; id++) {
            const trace_communicator *seen = &process->communicators[id];
            numbers[id] = id < COMMUNICATORS_PREDEFINED ? (int)id : COMMUNICATOR_UNKNOWN;
            if (id >= COMMUNICATORS_PREDEFINED && seen->size > 0 && seen->lowest >= 0 && !seen->is_foreign)
                sights[count++] = (sight){seen, rank, &numbers[id]};
        }
    }
    return count;
}

/* Which of the others is the local group of an intercommunicator: it holds this process, and lists it as remote. */
static int find_other_side(const sight *sights, size_t count, const sight *one)
{
    for (size_t i = 0; i < count; i++)
        if (sights[i].seen->is_inter && sights[i].seen->context == one->seen->context &&
            sights[i].rank == one->seen->ranks[0])
            for (int k = 0; k < sights[i].seen->size; k++)
                if (sights[i].seen->ranks[k] == one->rank)
                    return *sights[i].number;
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
        if (i == 0 || compare_communicators(sights[i - 1].seen, seen) != 0)
            found->list[found->count++] =
                (communicator){seen->is_inter, seen->size, seen->ranks, COMMUNICATOR_UNKNOWN, 0, 0};
        *sights[i].number = found->count - 1;
    }
}

static void join_sides(communicators *found, const sight *sights, size_t count)
{
    int common = 0;
    for (size_t i = 0; i < count; i++) {
        communicator *here = &found->list[*sights[i].number];
        if (here->is_inter && here->other_side == COMMUNICATOR_UNKNOWN)
            here->other_side = find_other_side(sights, count, &sights[i]);
    }
    for (int number = 0; number < found->count; number++) {
        communicator *here = &found->list[number];
        bool is_second = here->other_side != COMMUNICATOR_UNKNOWN && here->other_side < number;
        here->common = is_second ? found->list[here->other_side].common : common++;
        here->first_in_common = is_second ? found->list[here->other_side].size : 0;
    }
}

void communicators_find(communicators *found, const trace *of)
{
    size_t room = COMMUNICATORS_PREDEFINED;
    for (int rank = 0; rank < of->size; rank++)
        room += of->processes[rank].communicator_count;
    sight *sights = or_exit(malloc(array_bytes((int64_t)room, sizeof *sights)));
    *found = (communicators){.of = of,
                             .list = or_exit(calloc(room, sizeof *found->list)),
                             .world = or_exit(malloc(array_bytes(of->size, sizeof(int)))),
                             .numbers = or_exit(calloc((size_t)of->size, sizeof *found->numbers))};
    const size_t count = list_sights(found, sights);
    qsort(sights, count, sizeof *sights, compare_sights);
    number_sights(found, sights, count);
    join_sides(found, sights, count);
    free(sights);
}

void communicators_free(communicators *found)
{
    for (int rank = 0; rank < found->of->size; rank++)
        free(found->numbers[rank]);
    free(found->numbers);
    free(found->list);
    free(found->world);
}

const communicator *communicators_of(const communicators *found, int rank, uint32_t id)
{
    int number = COMMUNICATOR_UNKNOWN;
    if (id < COMMUNICATORS_PREDEFINED)
        number = (int)id;
    else if (id < found->of->processes[rank].communicator_count)
        number = found->numbers[rank][id];
    return number != COMMUNICATOR_UNKNOWN ? &found->list[number] : NULL;
}

int communicators_common(const communicators *found, int rank, uint32_t id)
{
    const communicator *its = communicators_of(found, rank, id);
    return its ? its->common : COMMUNICATOR_UNKNOWN;
}

int communicators_place(const communicators *found, int rank, const trace_event *event)
{
    const communicator *its = communicators_of(found, rank, event->id);
    return its && event->partner >= 0 ? event->partner + its->first_in_common : event->partner;
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
