/* SPDX-License-Identifier: BSD-3-Clause */
/* text.h - texts in arrays of fixed size. */
#ifndef TEXT_H
#define TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* text_append - print to the end of a text, as far as there is room in its array of so many bytes. */
__attribute__((format(printf, 3, 4))) static inline void text_append(char *text, size_t text_bytes, const char *format,
                                                                     ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, text_bytes - used, format, arguments);
    va_end(arguments);
}

/* text_ends_in - whether a text ends in another one. */
static inline bool text_ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* text_one_line - blanks in place of the ends of lines, and other control characters, in a text. */
static inline void text_one_line(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ')
            *text = ' ';
}

#endif
