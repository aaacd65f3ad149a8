/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * paged_text.h - a file that a program maps into memory and reads as a text, as MPICH reads its selection tree. The
 * text ends where the rest of the last page is 0, so the file must not fill its last page.
 */
#ifndef PAGED_TEXT_H
#define PAGED_TEXT_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* All sizes of pages are multiples of it. */
enum { SMALLEST_PAGE_BYTES = 4096 };

/* paged_text_write - write the lines of a text, and an empty one if the file would fill its last page. */
static inline bool paged_text_write(FILE *file, const char *text)
{
    bool fills_page = (strlen(text) + 1) % SMALLEST_PAGE_BYTES == 0;
    return fprintf(file, "%s\n%s", text, fills_page ? "\n" : "") > 0;
}

#endif
