/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/convert/calls.h"

#include "common/room.h"

#include <stdlib.h>

size_t *calls_find(const trace_location *location)
{
    size_t *calls = malloc(room_bytes((int64_t)location->count + 1, sizeof(*calls)));
    size_t innermost = CALL_NONE;
    for (size_t i = 0; calls != NULL && i < location->count; i++) {
        const trace_event *event = &location->events[i];
        calls[i] = innermost; /* of an ENTER, as long as its call is open: the call around it */
        if (event->kind == TRACE_ENTER) {
            innermost = i;
        } else if (event->kind == TRACE_LEAVE && innermost != CALL_NONE &&
                   location->events[innermost].id == event->id) {
            size_t outer = calls[innermost];
            calls[innermost] = i;
            innermost = outer;
        } else if (event->kind == TRACE_LEAVE) {
            calls[i] = CALL_NONE;
        }
    }
    while (innermost != CALL_NONE) {
        size_t outer = calls[innermost];
        calls[innermost] = CALL_NONE;
        innermost = outer;
    }
    return calls;
}
