/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gnuplot.h - running gnuplot.
 *
 * A script goes to gnuplot through a temporary file on its standard input, with the data in it, and the picture comes
 * from its standard output: no shell and no gnuplot string ever sees a file name. This program copies it to the user's
 * file, as gnuplot does not notice if a picture cannot be written.
 */
#ifndef GNUPLOT_H
#define GNUPLOT_H

#include <stdio.h>

/*
 * gnuplot_run - run a script, without the user's own settings.
 *
 * script              a temporary file, read from its beginning
 * picture_descriptor  the file for the picture; -1: there is none
 *
 * Returns 0, ECHILD if gnuplot failed or drew nothing, or the error of starting it or of writing the picture.
 */
int gnuplot_run(FILE *script, int picture_descriptor);

#endif /* GNUPLOT_H */
