# The house that measures and decides.
# Not by the version: some libraries have these functions before all of MPI 4. The examples measure them where they
# exist.
AC_MSG_CHECKING([for persistent collective operations])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]], [[MPI_Request request;
int empty = 0;
MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, &request);
MPI_Allreduce_init(&empty, &empty, 0, MPI_INT, MPI_SUM, MPI_COMM_SELF, MPI_INFO_NULL, &request);
MPI_Neighbor_alltoall_init(&empty, 0, MPI_INT, &empty, 0, MPI_INT, MPI_COMM_SELF, MPI_INFO_NULL, &request);]])],
  [AC_MSG_RESULT([yes])
   SUITE_CPPFLAGS=-DSUITE_HAS_PERSISTENT=1],
  [AC_MSG_RESULT([no])
   SUITE_CPPFLAGS=-DSUITE_HAS_PERSISTENT=0])
AC_MSG_CHECKING([for partitioned communication])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]], [[MPI_Request request;
int empty = 0;
MPI_Psend_init(&empty, 1, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, MPI_INFO_NULL, &request);
MPI_Precv_init(&empty, 1, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, MPI_INFO_NULL, &request);
MPI_Pready(0, request);]])],
  [AC_MSG_RESULT([yes])
   SUITE_CPPFLAGS="$SUITE_CPPFLAGS -DSUITE_HAS_PARTITIONED=1"],
  [AC_MSG_RESULT([no])
   SUITE_CPPFLAGS="$SUITE_CPPFLAGS -DSUITE_HAS_PARTITIONED=0"])
AC_MSG_CHECKING([for sessions])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]], [[MPI_Session session;
MPI_Group group;
MPI_Comm comm;
MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
MPI_Comm_create_from_group(group, "", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
MPI_Session_finalize(&session);]])],
  [AC_MSG_RESULT([yes])
   SUITE_CPPFLAGS="$SUITE_CPPFLAGS -DSUITE_HAS_SESSIONS=1"],
  [AC_MSG_RESULT([no])
   SUITE_CPPFLAGS="$SUITE_CPPFLAGS -DSUITE_HAS_SESSIONS=0"])
AC_SUBST([SUITE_CPPFLAGS])
AS_IF([test "$mh_bench" = yes],
  [AC_CONFIG_FILES([bin/mpix_figures:bench/figures/mpix_figures.in], [chmod +x bin/mpix_figures])])
