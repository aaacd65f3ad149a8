/* SPDX-License-Identifier: BSD-3-Clause */
/* quote.c - texts as comma-separated values and JSON want them. */
#include "quote.h"

#include <string.h>

void quote_csv(FILE *file, const char *text)
{
    if (text[0] != '#' && strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

/* The bytes of the character that a text begins with in UTF-8, 0 where it is none. */
static int utf8_bytes(const unsigned char *text)
{
    static const struct {
        unsigned char first, last; /* the first byte */
        unsigned char least, most; /* the second byte */
        int bytes;
    } forms[] = {{0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                 {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
                 {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    enum { FORMS = sizeof(forms) / sizeof(forms[0]) };
    int form = 0;

    while (form < FORMS && (text[0] < forms[form].first || text[0] > forms[form].last))
        form++;
    if (form == FORMS)
        return 0;
    for (int i = 1; i < forms[form].bytes; i++)
        if (text[i] < (i == 1 ? forms[form].least : 0x80) || text[i] > (i == 1 ? forms[form].most : 0xbf))
            return 0;
    return forms[form].bytes;
}

void quote_json(FILE *file, const char *text)
{
    const unsigned char *next = (const unsigned char *)text;
    fputc('"', file);
    while (*next != '\0') {
        int bytes = utf8_bytes(next);
        if (*next == '"' || *next == '\\')
            fprintf(file, "\\%c", *next);
        else if (*next < ' ' || *next == 0x7f)
            fprintf(file, "\\u%04x", *next);
        else if (bytes == 0)
            fputs("\\ufffd", file); /* the character for what is none */
        else
            fwrite(next, 1, (size_t)bytes, file);
        next += bytes > 0 ? bytes : 1;
    }
    fputc('"', file);
}
