/* SPDX-License-Identifier: BSD-3-Clause */
/* text.h - texts in arrays of fixed size. */
#ifndef TEXT_H
#define TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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

/* text_letter_bytes - how many bytes at the beginning of a text are one letter in UTF-8; 0: they are none. */
static inline int text_letter_bytes(const char *text)
{
    const unsigned char *byte = (const unsigned char *)text;
    int bytes = byte[0] < 0x80 ? 1 : byte[0] < 0xC2 ? 0 : byte[0] < 0xE0 ? 2 : byte[0] < 0xF0 ? 3 : 4;
    bool is_control = byte[0] < ' ' || byte[0] == 0x7F || (byte[0] == 0xC2 && byte[1] < 0xA0);
    for (int i = 1; i < bytes; i++)
        if (byte[i] < 0x80 || byte[i] > 0xBF)
            return 0;
    return is_control || byte[0] > 0xF4 ? 0 : bytes;
}

/* text_letters - how many letters a text has; a byte that is none counts as one. */
static inline int text_letters(const char *text)
{
    int letters = 0;
    for (int bytes; *text != '\0'; text += bytes > 0 ? bytes : 1, letters++)
        bytes = text_letter_bytes(text);
    return letters;
}

/* text_after - the rest of a text after so many letters. */
static inline char *text_after(char *text, int letters)
{
    for (int bytes; letters > 0 && *text != '\0'; text += bytes > 0 ? bytes : 1, letters--)
        bytes = text_letter_bytes(text);
    return text;
}

/* text_shorten - put three dots in place of the middle of a text that has more letters than are allowed, at least 5. */
static inline void text_shorten(char *text, int allowed)
{
    static const char dots[] = "...";
    const int letters = text_letters(text), kept = allowed - (int)sizeof dots + 1;
    if (letters <= allowed)
        return;
    char *middle = text_after(text, kept / 2);
    const char *end = text_after(text, letters - (kept - kept / 2));
    memmove(middle + sizeof dots - 1, end, strlen(end) + 1);
    memcpy(middle, dots, sizeof dots - 1);
}

/*
 * text_clean - blanks in place of what is no letter in a text: control characters, which may command a terminal, also
 * those above 127, and bytes that are not UTF-8. kept: control characters that stay. For all texts from files.
 */
static inline void text_clean(char *text, const char *kept)
{
    while (*text != '\0') {
        int bytes = text_letter_bytes(text);
        if (bytes == 0 && !strchr(kept, *text))
            *text = ' ';
        text += bytes > 0 ? bytes : 1;
    }
}

/* text_one_line - the same for a text that is to be one line. */
static inline void text_one_line(char *text)
{
    text_clean(text, "");
}

/* text_duration - a duration for people, in seconds, minutes or hours. Returns text. */
enum { TEXT_DURATION_BYTES = 64 };
static inline const char *text_duration(int64_t ns, char text[TEXT_DURATION_BYTES])
{
    long long seconds = (long long)(ns / 1000000000);
    if (seconds >= 3600)
        snprintf(text, TEXT_DURATION_BYTES, "%lld h %lld min", seconds / 3600, seconds % 3600 / 60);
    else if (seconds >= 60)
        snprintf(text, TEXT_DURATION_BYTES, "%lld min %lld s", seconds / 60, seconds % 60);
    else
        snprintf(text, TEXT_DURATION_BYTES, "%lld s", seconds);
    return text;
}

#endif
