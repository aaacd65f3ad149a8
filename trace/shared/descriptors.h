/* SPDX-License-Identifier: BSD-3-Clause */
/* descriptors.h - files that are written in a program, which may close each descriptor and open another file there. */
#ifndef INTERPOSE_DESCRIPTORS_H
#define INTERPOSE_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

/* Which file a descriptor is of. Zeros: of none. */
typedef struct {
    int64_t device, inode;
} interpose_file;
interpose_file mh_file_of(int descriptor);
bool mh_is_of_file(int descriptor, interpose_file file);

/* As open does, but never 0, 1 or 2: where the program has closed these, what it prints would go into the file. */
int mh_open_file(const char *path, int flags);

/* A socket of this host for messages, of a random name, and a message without a meaning to it, if it is there. */
int mh_socket(int64_t name);
void mh_send_to_socket(int64_t name);

/* Write a text whole, if that can be. Returns 0 or an errno. Where the kernel also sends a signal, which would end most
 * programs, it is taken: nobody reads any more, or the file would be larger than the program may make it. */
int mh_interpose_write(int descriptor, const char *text);
void mh_interpose_take_signal(int number); /* the same, where it is blocked */

/* The standard error with which the program began; set by the launcher and the front, which tells the back. */
extern interpose_file mh_standard_error;

/* Write to standard error, at once, so that no launcher mixes lines of processes. Nothing is written where the program
 * has closed it, or opened another file there. */
void mh_interpose_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void mh_interpose_print_text(const char *text);

#endif
