/* SPDX-License-Identifier: BSD-3-Clause */
/* without_lines.c - in the place of lines.c where libdw is missing. */
#include "trace/lines.h"

void lines_name_sites(trace *of, const char *folder)
{
    (void)of;
    (void)folder;
}
