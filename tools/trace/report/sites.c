/* SPDX-License-Identifier: BSD-3-Clause */
/* sites.c - group collective calls by the place in the program and the communicator. */
#include "trace/report/sites.h"

#include "common/output.h"
#include "common/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A call, and what it is sorted by. */
typedef struct site_key {
    const trace_call *call;
    const char *place; /* NULL: only the address is known */
    uint64_t address;
    double enter_ns;
} site_key_t;

/* ---- The same site */

static site_key_t make_key(const trace *of, const trace_call *call)
{
    const trace_process *process = &of->processes[call->parts[0].rank];
    const trace_location *location = trace_find_location(of, call->parts[0].rank, call->parts[0].thread);
    site_key_t key = {.call = call, .address = location->events[call->parts[0].enter].value};
    const trace_site *site = trace_find_site(process, key.address);
    key.place = site && site->symbol[0] != '\0' ? site->symbol : NULL;
    key.enter_ns = location->global_ns[call->parts[0].enter];
    return key;
}

static int compare_place(const site_key_t *a, const site_key_t *b)
{
    if (a->place == b->place && a->place)
        return 0;
    if (a->place && b->place)
        return strcmp(a->place, b->place);
    if (a->place || b->place)
        return a->place ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

/* Communicators with the same ranks are one. Most calls are on the very same. */
static int compare_ranks(const trace_call *a, const trace_call *b)
{
    int order = a->count - b->count;
    if (a->lowest == b->lowest && a->context == b->context)
        return order;
    for (int i = 0; i < a->count && order == 0; i++)
        order = a->parts[i].rank - b->parts[i].rank;
    return order;
}

/* 0: of one site. */
static int compare_site(const site_key_t *a, const site_key_t *b)
{
    int order = (int)a->call->function - (int)b->call->function;
    if (order == 0)
        order = compare_place(a, b);
    return order != 0 ? order : compare_ranks(a->call, b->call);
}

static int compare_key(const void *left, const void *right)
{
    const site_key_t *a = left, *b = right;
    int order = compare_site(a, b);
    return order != 0 ? order : (a->enter_ns > b->enter_ns) - (a->enter_ns < b->enter_ns);
}

/* ---- A site */

/* Ranks and ranges of ranks, as many as there is room for. */
static void name_comm(site_t *site, const trace *of, const trace_call *call)
{
    bool is_world = call->count == of->size;
    for (int i = 0; i < call->count; i++)
        is_world = is_world && call->parts[i].rank == i;
    snprintf(site->comm, sizeof site->comm, "%s", is_world ? "world" : "");
    for (int from = 0, to; from < call->count && !is_world; from = to) {
        char part[32];
        int first = call->parts[from].rank, last = first;
        for (to = from + 1; to < call->count && call->parts[to].rank == last + 1; to++)
            last++;
        snprintf(part, sizeof part, first < last ? "%s%d-%d" : "%s%d", from > 0 ? "," : "", first, last);
        bool fits = strlen(site->comm) + strlen(part) + sizeof "..." <= sizeof site->comm;
        text_append(site->comm, sizeof site->comm, "%s", fits ? part : "...");
        if (!fits)
            return;
    }
}

static void take_arrivals(site_t *site, const trace *of, bool has_bounds)
{
    for (int64_t call = 0; call < site->arrivals.calls; call++)
        for (int rank = 0; rank < site->arrivals.ranks; rank++) {
            const struct trace_part *part = &site->calls[call]->parts[rank];
            const trace_location *location = trace_find_location(of, part->rank, part->thread);
            const trace_location *leaver = trace_find_location(of, part->rank, part->leave_thread);
            int64_t place = call * site->arrivals.ranks + rank;
            site->arrivals.enter_ns[place] = location->global_ns[part->enter] - of->zero_ns;
            site->arrivals.leave_ns[place] = leaver->global_ns[part->leave] - of->zero_ns;
            site->arrivals.wait_from_ns[place] = leaver->global_ns[part->wait] - of->zero_ns;
            site->arrivals.bound_ns[place] =
                has_bounds ? trace_bound_ns(&of->processes[part->rank], location->events[part->enter].time_ns) : NAN;
        }
}

static bool fill(site_t *site, const trace *of, const site_key_t *keys, size_t count, bool has_bounds)
{
    char address[32];
    const trace_call *call = keys[0].call;
    snprintf(address, sizeof address, "0x%" PRIx64, keys[0].address);
    site->function = of->names[call->function];
    site->place = strdup(keys[0].place ? keys[0].place : address);
    site->calls = calloc(count, sizeof site->calls[0]);
    if (!site->place || !site->calls || !arrivals_alloc(&site->arrivals, call->count, (int64_t)count))
        return false;
    for (size_t i = 0; i < count; i++)
        site->calls[i] = keys[i].call;
    name_comm(site, of, call);
    take_arrivals(site, of, has_bounds);
    return arrivals_summarize(&site->arrivals, &site->summary);
}

static int compare_wait(const void *left, const void *right)
{
    double a = ((const site_t *)left)->summary.wait_ns, b = ((const site_t *)right)->summary.wait_ns;
    return (a < b) - (a > b);
}

bool sites_find(sites_t *sites, const trace *of, const trace_matches *matches, bool has_bounds)
{
    size_t count = 0;
    site_key_t *keys = calloc(matches->call_count + 1, sizeof keys[0]);
    *sites = (sites_t){.list = calloc(matches->call_count + 1, sizeof sites->list[0])};
    bool good = keys && sites->list;
    for (size_t i = 0; i < matches->call_count && good; i++)
        if (matches->calls[i].count > 0)
            keys[count++] = make_key(of, &matches->calls[i]);
    if (good)
        qsort(keys, count, sizeof keys[0], compare_key);
    for (size_t from = 0, to; from < count && good; from = to) {
        for (to = from + 1; to < count && compare_site(&keys[from], &keys[to]) == 0;)
            to++;
        good = fill(&sites->list[sites->count++], of, keys + from, to - from, has_bounds);
    }
    if (good)
        qsort(sites->list, (size_t)sites->count, sizeof sites->list[0], compare_wait);
    free(keys);
    return good;
}

void sites_free(sites_t *sites)
{
    for (int i = 0; i < sites->count; i++) {
        free(sites->list[i].place);
        free(sites->list[i].calls);
        arrivals_free(&sites->list[i].arrivals);
    }
    free(sites->list);
    *sites = (sites_t){0};
}
