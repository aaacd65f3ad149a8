/* SPDX-License-Identifier: BSD-3-Clause */
/* library.c - what the library says: whether it can use a clock, and which one it takes by itself. */
#include "list/list.h"

#include <mpix_harmonize.h>

#include <stdio.h>
#include <string.h>

/* Synchronizes the clocks of a fresh communicator by the base clock named. Returns what the library returned, and the
 * call that did. */
static int try_clock(const list_run_t *run, const char *name, world_t *fresh, const char **call)
{
    MPI_Info info;
    int code;

    *fresh = run->world;
    MPI_Comm_dup(run->world.comm, &fresh->comm);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_harmonize_clock", name);
    /* The cheapest way: only the choice of the clock is of interest. */
    MPI_Info_set(info, "mpix_harmonize_sync", "none");
    code = MPIX_Harmonize_set_info(fresh->comm, info);
    MPI_Info_free(&info);
    *call = "MPIX_Harmonize_set_info";
    if (code != MPI_SUCCESS)
        return code;
    *call = "MPIX_Clock_sync";
    return MPIX_Clock_sync(fresh->comm);
}

/* Of the library's message, "setting NAME: CLOCK cannot be used on RANK: REASON; allowed: ...", the middle. */
static void extract_reason(const char *message, char *reason, size_t reason_bytes)
{
    const char *begin = strstr(message, "cannot be used");
    const char *end = strstr(message, "; allowed");

    if (begin == NULL)
        begin = message;
    snprintf(reason, reason_bytes, "%.*s", (int)(end != NULL && end > begin ? end - begin : (long)strlen(begin)),
             begin);
}

void list_ask_about(const list_run_t *run, int clock, listing_t *listing)
{
    world_t fresh;
    char message[REASON_BYTES];
    const char *call;

    listing->usable = try_clock(run, machine_clocks[clock].name, &fresh, &call) == MPI_SUCCESS;
    if (!listing->usable) {
        world_statistic(&fresh, "mpix_harmonize_last_error", message, sizeof(message));
        extract_reason(message, listing->reason, sizeof(listing->reason));
    }
    MPI_Comm_free(&fresh.comm);
}

bool list_ask_for_choice(list_run_t *run)
{
    world_t fresh;
    const char *call;
    char name[64];
    int code = try_clock(run, "auto", &fresh, &call);
    bool good = world_agree(&run->world, code, call);

    if (good) {
        world_statistic(&fresh, "mpix_harmonize_clock_used", name, sizeof(name));
        world_statistic(&fresh, "mpix_harmonize_clock_reason", run->chosen_reason, sizeof(run->chosen_reason));
        for (run->chosen = 0; run->chosen < MACHINE_CLOCKS; run->chosen++) {
            if (strcmp(machine_clocks[run->chosen].name, name) == 0)
                break;
        }
    }
    MPI_Comm_free(&fresh.comm);
    return good;
}
