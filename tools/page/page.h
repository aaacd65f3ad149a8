/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page.h - the page as a whole: a section for each kind of results, and for those of campaigns.
 */
#ifndef PAGE_H
#define PAGE_H

#include "page/read.h"

#include <stdio.h>

/* page_print - print all results. title: of the page. */
void page_print(FILE *file, const sources_t *sources, const char *title);

#endif
