/* SPDX-License-Identifier: BSD-3-Clause */
#include "words.h"

#include <stdbool.h>
#include <string.h>

static const char blanks[] = " \t\r\n\v\f";

/* Takes in a character. Returns whether it is a quote that begins or ends here. */
static bool turns_quote(char *quote, char character)
{
    bool begins = *quote == '\0' && (character == '\'' || character == '"');
    if (!begins && character != *quote)
        return false;
    if (begins)
        *quote = character;
    else
        *quote = '\0';
    return true;
}

/* Ends the line where a comment begins. Returns false where a quote has no end. */
static bool cut_comment(char *line)
{
    char quote = '\0';
    for (; *line != '\0'; line++) {
        if (quote == '\0' && *line == '#') {
            *line = '\0';
            return true;
        }
        turns_quote(&quote, *line);
    }
    return quote == '\0';
}

/* Ends a word, and takes its quotes out. Returns where the line goes on. */
static char *end_word(char *word)
{
    char *from = word, quote = '\0';
    for (; *from != '\0' && (quote != '\0' || strchr(blanks, *from) == NULL); from++)
        if (!turns_quote(&quote, *from))
            *word++ = *from;
    char *rest = *from != '\0' ? from + 1 : from;
    *word = '\0';
    return rest;
}

int words_cut(char *line, char **words, int max_words)
{
    int count = 0;
    if (!cut_comment(line))
        return WORDS_OPEN_QUOTE;
    while (line += strspn(line, blanks), *line != '\0') {
        if (count == max_words)
            return WORDS_TOO_MANY;
        words[count++] = line;
        line = end_word(line);
    }
    return count;
}
