/* SPDX-License-Identifier: BSD-3-Clause */
/* sites.c - group collective calls by the place in the program and the communicator. */
#include "trace/report/sites.h"

#include "common/cli/memory.h"
#include "common/cli/text.h"
#include "trace/waits/places.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A call, and what it is sorted by. */
typedef struct site_key {
    const trace_call *call;
    place place; /* of the first process */
    double enter_ns;
    int site;       /* its number */
    int64_t number; /* of the call at the site */
} site_key_t;

/* ---- The same site */

static site_key_t make_key(const trace_call *call)
{
    const trace_point enter = call->parts[0].enter;
    return (site_key_t){.call = call, .place = place_of(enter), .enter_ns = enter.at->global_ns[enter.event]};
}

/* Communicators with the same ranks are one. Most calls are on the very same. */
static int compare_ranks(const trace_call *a, const trace_call *b)
{
    int order = a->count - b->count;
    if (a->lowest == b->lowest && a->context == b->context)
        return order;
    for (int i = 0; i < a->count && order == 0; i++)
        order = a->parts[i].enter.at->rank - b->parts[i].enter.at->rank;
    return order;
}

/* 0: of one site. */
static int compare_site(const site_key_t *a, const site_key_t *b)
{
    int order = (int)a->call->function - (int)b->call->function;
    if (order == 0)
        order = place_compare(&a->place, &b->place);
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
        is_world = is_world && call->parts[i].enter.at->rank == i;
    snprintf(site->comm, sizeof site->comm, "%s", is_world ? "world" : "");
    for (int from = 0, to; from < call->count && !is_world; from = to) {
        char part[32];
        int first = call->parts[from].enter.at->rank, last = first;
        for (to = from + 1; to < call->count && call->parts[to].enter.at->rank == last + 1; to++)
            last++;
        snprintf(part, sizeof part, first < last ? "%s%d-%d" : "%s%d", from > 0 ? "," : "", first, last);
        bool fits = strlen(site->comm) + strlen(part) + sizeof "..." <= sizeof site->comm;
        text_append(site->comm, sizeof site->comm, "%s", fits ? part : "...");
        if (!fits)
            return;
    }
}

static void take_arrivals(site_t *site, const trace *of, const site_key_t *key)
{
    arrivals_t *to = &site->arrivals;
    for (int rank = 0; rank < to->ranks; rank++) {
        const trace_part *part = &key->call->parts[rank];
        const trace_process *process = part->enter.at->process;
        int64_t place = key->number * to->ranks + rank;
        to->enter_ns[place] = part->enter.at->global_ns[part->enter.event] - of->zero_ns;
        to->leave_ns[place] = part->leave.at->global_ns[part->leave.event] - of->zero_ns;
        to->wait_from_ns[place] = part->wait.at->global_ns[part->wait.event] - of->zero_ns;
        to->bound_ns[place] = trace_bound_ns(process, trace_time_ns(&part->enter));
    }
}

/* Without the arrivals. */
static site_t make_site(const trace *of, site_key_t *keys, size_t count, int number)
{
    char address[32];
    const trace_call *call = keys[0].call;
    snprintf(address, sizeof address, "0x%" PRIx64, keys[0].place.address);
    site_t site = {.function = of->names[call->function],
                   .place = or_exit(strdup(keys[0].place.text ? keys[0].place.text : address)),
                   .calls = or_exit(calloc(count, sizeof site.calls[0])),
                   .arrivals = arrivals_alloc(call->count, (int64_t)count)};
    for (size_t i = 0; i < count; i++) {
        site.calls[i] = keys[i].call;
        keys[i].site = number;
        keys[i].number = (int64_t)i;
    }
    name_comm(&site, of, call);
    return site;
}

static int compare_wait(const void *left, const void *right)
{
    double a = ((const site_t *)left)->summary.wait_ns, b = ((const site_t *)right)->summary.wait_ns;
    return (a < b) - (a > b);
}

void sites_find(sites_t *sites, const trace *of, const trace_matches *matches)
{
    size_t count = 0;
    site_key_t *keys = or_exit(calloc(matches->call_count + 1, sizeof keys[0]));
    *sites = (sites_t){.list = or_exit(calloc(matches->call_count + 1, sizeof sites->list[0]))};
    for (size_t i = 0; i < matches->call_count; i++)
        if (matches->calls[i].first_group == 0)
            keys[count++] = make_key(&matches->calls[i]);
    qsort(keys, count, sizeof keys[0], compare_key);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && compare_site(&keys[from], &keys[to]) == 0;)
            to++;
        sites->list[sites->count] = make_site(of, keys + from, to - from, sites->count);
        sites->count++;
    }
    for (size_t i = 0; i < count; i++)
        take_arrivals(&sites->list[keys[i].site], of, &keys[i]);
    for (int i = 0; i < sites->count; i++)
        sites->list[i].summary = arrivals_summarize(&sites->list[i].arrivals);
    qsort(sites->list, (size_t)sites->count, sizeof sites->list[0], compare_wait);
    free(keys);
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
