/* SPDX-License-Identifier: BSD-3-Clause */
/* without_otf2.c - in the place of otf2.c where the OTF2 library is missing. */
#include "trace/convert/conversion.h"

int convert_to_otf2(conversion *job)
{
    fprintf(stderr,
            "%s: option --format: \"otf2\" is not allowed, as this program was built without the OTF2 library (Debian "
            "package: libopen-trace-format2-dev)\n",
            job->program);
    return STATUS_BAD_OPTION;
}
