/* SPDX-License-Identifier: BSD-3-Clause */
#include "deadline/rendezvous.h"

#include "deadline/rendezvous_private.h"

#include <stddef.h>

/* In the order in which auto prefers them. */
static const mh_rendezvous_kind *const kinds[] = {&mh_rendezvous_collective};

enum { KINDS = sizeof kinds / sizeof *kinds };

const char *mh_rendezvous_choice(int place)
{
    if (place == 0)
        return "auto";
    return place <= KINDS ? kinds[place - 1]->name : NULL;
}

const mh_rendezvous_kind *mh_rendezvous_select(int choice)
{
    return kinds[choice == 0 ? 0 : choice - 1];
}

const char *mh_rendezvous_name(const mh_rendezvous_kind *kind)
{
    return kind->name;
}

int mh_rendezvous_report(const mh_rendezvous_kind *kind, const mh_channel *channel, const mh_report *mine,
                         mh_report *greatest, mh_error *error)
{
    return kind->report(channel, mine, greatest, error);
}

int mh_rendezvous_order(const mh_rendezvous_kind *kind, const mh_channel *channel, mh_order *order, mh_error *error)
{
    return kind->order(channel, order, error);
}
