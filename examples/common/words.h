/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * words.h - lines of files that say what a command line says.
 */
#ifndef WORDS_H
#define WORDS_H

/* Why a line cannot be cut. */
enum { WORDS_TOO_MANY = -1, WORDS_OPEN_QUOTE = -2 };

/*
 * words_cut - cut a line into words at blanks. Blanks and # in single or double quotes are part of a word. Any other #
 * begins a comment.
 *
 * line    is changed, and the words point into it
 * words   out: at most so many
 *
 * Returns how many words there are, or a negative number.
 */
int words_cut(char *line, char **words, int max_words);

#endif /* WORDS_H */
