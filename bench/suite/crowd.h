/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * crowd.h - why a run takes long on a node with more processes than processors: one line on standard error, while the
 * run may still be getting ready, so by a signal.
 */
#ifndef CROWD_H
#define CROWD_H

/*
 * crowd_watch - after some seconds, look whether the processors are crowded, and say so. On one rank.
 *
 * program   who speaks
 */
void crowd_watch(const char *program);

/* crowd_leave - all is measured: nothing is said from now on. */
void crowd_leave(void);

#endif
