/* SPDX-License-Identifier: BSD-3-Clause */
/* host.h - names, ids, and fresh ids, as numbers that can be compared across processes. No MPI. */
#ifndef MH_HOST_H
#define MH_HOST_H

#include <stdint.h>

/* FNV-1a, 64 bits. */
uint64_t mh_hash_text(const char *text);

enum { MH_HOST_NAME_BYTES = 256, MH_BOOT_ID_BYTES = 64 };

/* The name of this host, and its boot id; empty if there is none. */
void mh_host_name(char name[MH_HOST_NAME_BYTES]);
void mh_boot_id(char id[MH_BOOT_ID_BYTES]);

/* What the time namespace of this process adds to a clock, "monotonic" or "boottime", nanoseconds. */
int64_t mh_time_namespace_ns(const char *clock);

/* The same on all processes that run under one kernel, since it started. */
uint64_t mh_hash_boot(void);

/* The same on those of them for which the host has one name, too: containers may have names of their own. */
uint64_t mh_hash_host(void);

/* A number that is very likely different in each call of each process, on any machine, and never 0. */
uint64_t mh_fresh_number(void);

#endif
