/* SPDX-License-Identifier: BSD-3-Clause */
/* ended.c - sentences about where ranks were when they were last seen: the states that a trace ends with. */
#include "trace/report/ended.h"

#include "common/cli/memory.h"
#include "common/cli/text.h"
#include "pure/units.h"
#include "trace/read/calls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 1024, RANKS_BYTES = 96, MAX_GROUPS = 12, MAX_NAMED = 3 };

/* Ranks, or threads of these, of which the same can be said. */
typedef struct {
    char *what; /* with a line end where it is to say since when */
    char ranks[RANKS_BYTES];
    int count, lowest, first, last; /* ranks; first: of those one after the other up to the last one */
    int64_t longest_ns;
} group;

typedef struct {
    const trace *of;
    group *list;
    size_t count;
} groups;

static const trace_now *main_thread(const trace_process *process)
{
    return process->now_count > 0 ? &process->now[0] : NULL;
}

static const char *name_of(const trace *of, const trace_now *now)
{
    return now->id < of->name_count ? of->names[now->id] : "a function";
}

static const trace_communicator *communicator_of(const trace_process *process, const trace_now *now)
{
    const bool is_known = now->comm < process->communicator_count && process->communicators[now->comm].size > 0;
    return is_known ? &process->communicators[now->comm] : NULL;
}

/* Without the time since when. */
static void say_state(char text[TEXT_BYTES], const trace *of, int rank)
{
    const trace_process *process = &of->processes[rank];
    const trace_now *now = main_thread(process);
    if (process->is_finished)
        text_append(text, TEXT_BYTES, "has called MPI_Finalize");
    else if (!now)
        text_append(text, TEXT_BYTES, "was not seen");
    else if (now->id == 0)
        text_append(text, TEXT_BYTES, "is in no call of MPI");
    else if (trace_is_recorder(name_of(of, now)))
        text_append(text, TEXT_BYTES, "is kept by mpix_trace (%s)", name_of(of, now));
    else
        text_append(text, TEXT_BYTES, "%s %s", now->polls > 0 ? "polls by" : "is in", name_of(of, now));
}

/* Without the address and the object. */
static void say_place(char text[TEXT_BYTES], const trace_process *process, const trace_now *now)
{
    const trace_site *site = trace_find_site(process, now->site);
    if (!site || site->symbol[0] == '\0')
        return;
    const char *caller = trace_site_caller(process, site);
    const int bytes = trace_place_bytes(site->symbol);
    text_append(text, TEXT_BYTES, " at %.*s", bytes, site->symbol);
    if (caller && bytes < caller - site->symbol)
        text_append(text, TEXT_BYTES, " from %.*s", trace_place_bytes(caller), caller);
}

/* Some of the ranks that are marked, and how the first of them is. */
static void say_others(char text[TEXT_BYTES], const trace *of, const bool *is_one)
{
    int count = 0, first = -1;
    for (int rank = 0; rank < of->size; rank++)
        if (is_one[rank] && count++ == 0)
            first = rank;
    if (count == 0)
        return;
    text_append(text, TEXT_BYTES, ", for rank%s", count > 1 ? "s" : "");
    for (int rank = first, said = 0; rank < of->size && said < MAX_NAMED; rank++)
        if (is_one[rank])
            text_append(text, TEXT_BYTES, "%s %d", said++ > 0 ? "," : "", rank);
    if (count > MAX_NAMED)
        text_append(text, TEXT_BYTES, " and %d others", count - MAX_NAMED);
    if (count == 1)
        text_append(text, TEXT_BYTES, ", which ");
    else
        text_append(text, TEXT_BYTES, "; rank %d ", first);
    say_state(text, of, first);
}

static bool is_of_requests(const char *function)
{
    return strstr(function, "_Wait") || strstr(function, "_Test") || strstr(function, "_Request_get");
}

static bool takes_any(const char *function)
{
    static const char *const names[] = {"MPI_Recv", "MPI_Probe", "MPI_Mprobe", "MPI_Iprobe", "MPI_Improbe"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(function, names[i], call_name_length(function)) == 0 &&
            call_name_length(function) == strlen(names[i]))
            return true;
    return strncmp(function, "MPI_Sendrecv", strlen("MPI_Sendrecv")) == 0;
}

/* Partners of requests that were begun, and were not seen to be complete. */
static void mark_pending(bool *is_one, const trace_process *process)
{
    call_requests requests;
    requests_find(&requests, process);
    for (const call_request *its = requests.list; its < requests.list + requests.count; its++) {
        const trace_event *event = &its->begun.at->events[its->begun.event];
        const int partner = its->done.at || its->kind == TRACE_COLLECTIVE ? -1 : trace_partner(process, event);
        if (partner >= 0)
            is_one[partner] = true;
    }
    requests_free(&requests);
}

/* Of those of a communicator, who is not in the same function on it. */
static void mark_absent(bool *is_one, const trace *of, const trace_communicator *its, const char *function)
{
    for (int place = 0; place < its->size; place++) {
        const int rank = its->ranks[place];
        const trace_now *now = rank >= 0 ? main_thread(&of->processes[rank]) : NULL;
        const trace_communicator *theirs = now ? communicator_of(&of->processes[rank], now) : NULL;
        const bool is_there = theirs && theirs->context == its->context && theirs->lowest == its->lowest &&
                              strcmp(name_of(of, now), function) == 0 && !of->processes[rank].is_finished;
        if (rank >= 0 && !is_there)
            is_one[rank] = true;
    }
}

static void say_partners(char text[TEXT_BYTES], const trace *of, const trace_process *process, const trace_now *now)
{
    const trace_communicator *its = communicator_of(process, now);
    const char *function = name_of(of, now);
    bool *is_one = zeros_or_exit((size_t)of->size, sizeof *is_one);
    if (its && now->partner >= 0 && now->partner < its->size && its->ranks[now->partner] >= 0)
        is_one[its->ranks[now->partner]] = true;
    else if (its && (takes_any(function) || now->request != 0))
        text_append(text, TEXT_BYTES, ", for any rank");
    else if (is_of_requests(function))
        mark_pending(is_one, process);
    else if (its)
        mark_absent(is_one, of, its, function);
    say_others(text, of, is_one);
    free(is_one);
}

/* ---- Groups */

static void add_rank(group *its, int rank)
{
    if (its->count++ > 0 && rank == its->last + 1) {
        its->last = rank;
        return;
    }
    if (its->count > 1 && its->last > its->first)
        text_append(its->ranks, sizeof its->ranks, " to %d", its->last);
    text_append(its->ranks, sizeof its->ranks, its->count > 1 ? ", %d" : "%d", rank);
    its->first = its->last = rank;
}

static void add(groups *all, int rank, int64_t since_ns, const char *what)
{
    size_t number = 0;
    while (number < all->count && strcmp(all->list[number].what, what) != 0)
        number++;
    if (number == all->count) {
        all->list = grow_or_exit(all->list, all->count, sizeof *all->list);
        all->list[all->count++] = (group){.what = or_exit(strdup(what)), .lowest = rank};
    }
    group *its = &all->list[number];
    add_rank(its, rank);
    its->longest_ns = since_ns > its->longest_ns ? since_ns : its->longest_ns;
}

static void add_process(groups *all, int rank)
{
    const trace_process *process = &all->of->processes[rank];
    char text[TEXT_BYTES] = "";
    say_state(text, all->of, rank);
    if (process->now_count == 0)
        add(all, rank, 0, text);
    for (size_t i = 0; i < process->now_count; i++) {
        const trace_now *now = &process->now[i];
        if (i > 0 && now->id == 0)
            continue;
        text[0] = '\0';
        if (i > 0)
            text_append(text, TEXT_BYTES, "thread %" PRIu32 " is in %s", now->thread, name_of(all->of, now));
        else
            say_state(text, all->of, rank);
        if (now->id != 0)
            say_place(text, process, now);
        text_append(text, TEXT_BYTES, "\n");
        if (now->id != 0)
            say_partners(text, all->of, process, now);
        add(all, rank, now->seen_ns - now->since_ns, text);
    }
}

static int by_time(const void *a, const void *b)
{
    const group *x = a, *y = b;
    const int64_t step_ns = 100 * MH_NS_PER_MS, x_steps = x->longest_ns / step_ns, y_steps = y->longest_ns / step_ns;
    return x_steps != y_steps ? (x_steps < y_steps ? 1 : -1) : x->lowest - y->lowest;
}

/* "Rank 0 is in" or "Ranks 0 to 2 are in": what is said of a rank begins with a verb, but for a thread. */
static void print_group(FILE *file, const group *its)
{
    static const char *const verbs[][2] = {{"is ", "are "}, {"polls ", "poll "}, {"has ", "have "}, {"was ", "were "}};
    const char *what = its->what, *since = strchr(what, '\n');
    fprintf(file, "Rank%s %s", its->count > 1 ? "s" : "", its->ranks);
    if (its->count > 1 && its->last > its->first)
        fprintf(file, " to %d", its->last);
    fprintf(file, "%s ", strncmp(what, "thread ", strlen("thread ")) == 0 ? "," : "");
    for (size_t i = 0; its->count > 1 && i < sizeof verbs / sizeof *verbs; i++)
        if (strncmp(what, verbs[i][0], strlen(verbs[i][0])) == 0) {
            fputs(verbs[i][1], file);
            what += strlen(verbs[i][0]);
            break;
        }
    if (since)
        fprintf(file, "%.*s since %s%.1f s%s.\n", (int)(since - what), what, its->count > 1 ? "up to " : "",
                (double)its->longest_ns * MH_S_PER_NS, since + 1);
    else
        fprintf(file, "%s.\n", what);
}

char *ended_say(const trace *of)
{
    groups all = {.of = of};
    char *text = NULL;
    size_t bytes;
    int64_t last_ns = 0; /* when a rank was last seen, after its first clock record */
    FILE *file = or_exit(open_memstream(&text, &bytes));
    bool is_any_seen = false;
    for (int rank = 0; rank < of->size; rank++)
        is_any_seen = is_any_seen || (of->processes[rank].now_count > 0 && !of->processes[rank].is_finished);
    for (int rank = 0; rank < of->size && is_any_seen; rank++) {
        const trace_process *process = &of->processes[rank];
        if (process->is_finished)
            continue;
        add_process(&all, rank);
        if (process->now_count > 0 && process->record_count > 0 &&
            process->now[0].seen_ns - process->records[0].pair.at_ns > last_ns)
            last_ns = process->now[0].seen_ns - process->records[0].pair.at_ns;
    }
    if (all.count > 0) {
        qsort(all.list, all.count, sizeof *all.list, by_time);
        fprintf(file,
                "The program was ended before MPI_Finalize, or still runs. Where its ranks were last seen, up to "
                "%.1f s after MPI_Init:\n",
                (double)last_ns * MH_S_PER_NS);
    }
    for (size_t i = 0; i < all.count && i < MAX_GROUPS; i++)
        print_group(file, &all.list[i]);
    if (all.count > MAX_GROUPS)
        fprintf(file, "%zu more groups of ranks were there for a shorter time.\n", all.count - MAX_GROUPS);
    for (size_t i = 0; i < all.count; i++)
        free(all.list[i].what);
    free(all.list);
    fclose(file);
    return or_exit(text);
}
