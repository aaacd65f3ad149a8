/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text.h - texts in arrays of a fixed length.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

/*
 * text_append - print to the end of a text, as far as there is room.
 *
 * text         ends with a zero, before and after
 * text_bytes   the length of its array
 */
void text_append(char *text, size_t text_bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif /* TEXT_H */
