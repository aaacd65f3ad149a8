/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi_functions.h - the functions of MPI that the library calls, as lists of X(name, kind, communicator, parameters,
 * arguments). The kind says what other processes do when a call fails; the communicator is that whose errors a failed
 * call raises.
 */
#ifndef MPI_FUNCTIONS_H
#define MPI_FUNCTIONS_H

#include <mpi.h>

typedef MPI_Datatype type;
typedef MPI_Request *request;
typedef MPI_Status *status;

/* clang-format off */
#define PLAIN_FUNCTIONS(X) \
    X(Ibcast, FAULT_COLLECTIVE, c, (void *b, int n, type t, int r, MPI_Comm c, request q), (b, n, t, r, c, q)) \
    X(Reduce, FAULT_COLLECTIVE, c, (const void *s, void *r, int n, type t, MPI_Op o, int k, MPI_Comm c), \
      (s, r, n, t, o, k, c)) \
    X(Ireduce, FAULT_COLLECTIVE, c, (const void *s, void *r, int n, type t, MPI_Op o, int k, MPI_Comm c, request q), \
      (s, r, n, t, o, k, c, q)) \
    X(Allreduce, FAULT_COLLECTIVE, c, (const void *s, void *r, int n, type t, MPI_Op o, MPI_Comm c), \
      (s, r, n, t, o, c)) \
    X(Iallreduce, FAULT_COLLECTIVE, c, (const void *s, void *r, int n, type t, MPI_Op o, MPI_Comm c, request q), \
      (s, r, n, t, o, c, q)) \
    X(Allgather, FAULT_COLLECTIVE, c, (const void *s, int n, type t, void *r, int m, type u, MPI_Comm c), \
      (s, n, t, r, m, u, c)) \
    X(Comm_rank, FAULT_LOCAL, c, (MPI_Comm c, int *r), (c, r)) \
    X(Comm_size, FAULT_LOCAL, c, (MPI_Comm c, int *n), (c, n)) \
    X(Comm_test_inter, FAULT_LOCAL, c, (MPI_Comm c, int *f), (c, f)) \
    X(Comm_set_name, FAULT_LOCAL, c, (MPI_Comm c, const char *n), (c, n)) \
    X(Comm_set_errhandler, FAULT_LOCAL, c, (MPI_Comm c, MPI_Errhandler h), (c, h)) \
    X(Comm_get_errhandler, FAULT_LOCAL, MPI_COMM_NULL, (MPI_Comm c, MPI_Errhandler *h), (c, h)) \
    X(Errhandler_free, FAULT_LOCAL, MPI_COMM_NULL, (MPI_Errhandler *h), (h)) \
    X(Comm_get_attr, FAULT_LOCAL, c, (MPI_Comm c, int k, void *a, int *f), (c, k, a, f)) \
    X(Comm_set_attr, FAULT_LOCAL, c, (MPI_Comm c, int k, void *a), (c, k, a)) \
    X(Initialized, FAULT_LOCAL, MPI_COMM_NULL, (int *f), (f)) \
    X(Finalized, FAULT_LOCAL, MPI_COMM_NULL, (int *f), (f)) \
    X(Get_library_version, FAULT_LOCAL, MPI_COMM_NULL, (char *v, int *n), (v, n)) \
    X(Info_create, FAULT_LOCAL, MPI_COMM_NULL, (MPI_Info *i), (i)) \
    X(Info_set, FAULT_LOCAL, MPI_COMM_NULL, (MPI_Info i, const char *k, const char *v), (i, k, v)) \
    X(Info_get, FAULT_LOCAL, MPI_COMM_NULL, (MPI_Info i, const char *k, int n, char *v, int *f), (i, k, n, v, f)) \
    X(Info_get_nkeys, FAULT_LOCAL, MPI_COMM_NULL, (MPI_Info i, int *n), (i, n)) \
    X(Info_get_nthkey, FAULT_LOCAL, MPI_COMM_NULL, (MPI_Info i, int n, char *k), (i, n, k)) \
    X(Error_class, FAULT_LOCAL, MPI_COMM_NULL, (int e, int *c), (e, c)) \
    X(Error_string, FAULT_LOCAL, MPI_COMM_NULL, (int e, char *s, int *n), (e, s, n)) \
    X(Add_error_class, FAULT_LOCAL, MPI_COMM_NULL, (int *c), (c)) \
    X(Add_error_code, FAULT_LOCAL, MPI_COMM_NULL, (int c, int *e), (c, e)) \
    X(Add_error_string, FAULT_LOCAL, MPI_COMM_NULL, (int e, const char *s), (e, s)) \
    X(Iprobe, FAULT_MESSAGE, c, (int p, int g, MPI_Comm c, int *f, status s), (p, g, c, f, s)) \
    X(Send, FAULT_MESSAGE, c, (const void *b, int n, type t, int p, int g, MPI_Comm c), (b, n, t, p, g, c)) \
    X(Isend, FAULT_MESSAGE, c, (const void *b, int n, type t, int p, int g, MPI_Comm c, request q), \
      (b, n, t, p, g, c, q)) \
    X(Irecv, FAULT_MESSAGE, c, (void *b, int n, type t, int p, int g, MPI_Comm c, request q), (b, n, t, p, g, c, q)) \
    X(Wait, FAULT_MESSAGE, MPI_COMM_NULL, (request q, status s), (q, s)) \
    X(Test, FAULT_MESSAGE, MPI_COMM_NULL, (request q, int *f, status s), (q, f, s))

/* fault_injection.c does more with them. */
#define OTHER_FUNCTIONS(X) \
    X(Comm_split, FAULT_COLLECTIVE, c, (MPI_Comm c, int l, int k, MPI_Comm *d), (c, l, k, d)) \
    X(Comm_split_type, FAULT_COLLECTIVE, c, (MPI_Comm c, int t, int k, MPI_Info i, MPI_Comm *d), (c, t, k, i, d)) \
    X(Bcast, FAULT_COLLECTIVE, c, (void *b, int n, type t, int r, MPI_Comm c), (b, n, t, r, c)) \
    X(Comm_create_keyval, FAULT_LOCAL, MPI_COMM_NULL, \
      (MPI_Comm_copy_attr_function *c, MPI_Comm_delete_attr_function *d, int *k, void *x), (c, d, k, x)) \
    X(Comm_free, FAULT_LOCAL, *c, (MPI_Comm *c), (c))
/* clang-format on */

#endif
