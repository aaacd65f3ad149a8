/* SPDX-License-Identifier: BSD-3-Clause */
/* without_perfetto.c - in the place of perfetto.c where the Jansson library is missing. */
#include "trace/convert/conversion.h"

int convert_to_perfetto(conversion *job)
{
    fprintf(stderr,
            "%s: option --format: \"perfetto\" is not allowed, as this program was built without the Jansson library "
            "(Debian package: libjansson-dev)\n",
            job->program);
    return STATUS_BAD_OPTION;
}
