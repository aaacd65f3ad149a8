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

int words_cut(char *line, char **words, int max_words)
{
    int count = 0;
    while (line += strspn(line, blanks), *line != '\0' && *line != '#') {
        char *to = line, quote = '\0';
        if (count == max_words)
            return WORDS_TOO_MANY;
        words[count++] = line;
        for (; *line != '\0' && (quote != '\0' || (*line != '#' && strchr(blanks, *line) == NULL)); line++)
            if (!turns_quote(&quote, *line))
                *to++ = *line;
        if (quote != '\0')
            return WORDS_OPEN_QUOTE;
        if (*line == '#')
            *line = '\0';
        line += *line != '\0';
        *to = '\0';
    }
    return count;
}
