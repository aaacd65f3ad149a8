# The house that watches programs.
# What programs are to load must be a shared object, for an MPI library whose handles and names are known.
AS_CASE([$enable_shared/$mh_mpi_library],
  [yes/MPICH*|yes/Open\ MPI*|yes/standard\ ABI*], [mh_preload=yes], [mh_preload=no])
AM_CONDITIONAL([WITH_PRELOAD], [test $mh_preload = yes])

# Only mpix_trace_convert needs OTF2, for one of its formats. Debian's has no otf2-config, others may lack the module.
# Where a prefix is named, no other one is taken.
AC_ARG_WITH([otf2],
  [AS_HELP_STRING([--with-otf2@<:@=PREFIX@:>@],
    [mpix_trace_convert writes OTF2, by the library in PREFIX, or --without-otf2 (default: if it is found)])],
  [], [with_otf2=auto])
have_otf2=no
AS_CASE([$with_otf2],
  [no], [],
  [auto|yes], [
    PKG_CHECK_MODULES([OTF2], [otf2 >= 3.0], [have_otf2=yes], [have_otf2=no])
    mh_otf2_path=$PATH],
  [
    mh_otf2_path=$with_otf2/bin
    mh_otf2_modules=$with_otf2/lib/pkgconfig:$with_otf2/lib64/pkgconfig:$PKG_CONFIG_PATH
    mh_otf2_pkg_config="env PKG_CONFIG_PATH=$mh_otf2_modules $PKG_CONFIG"
    AS_CASE([`$mh_otf2_pkg_config --variable=pcfiledir otf2 2>/dev/null`], [$with_otf2/*], [
      OTF2_CFLAGS=`$mh_otf2_pkg_config --cflags otf2`
      OTF2_LIBS=`$mh_otf2_pkg_config --libs otf2`
      have_otf2=yes
    ])
  ])
AS_IF([test "$with_otf2" != no && test $have_otf2 = no], [
  AC_PATH_PROG([OTF2_CONFIG], [otf2-config], [], [$mh_otf2_path])
  AS_IF([test -n "$OTF2_CONFIG"], [
    OTF2_CFLAGS=`$OTF2_CONFIG --cflags`
    OTF2_LIBS="`$OTF2_CONFIG --ldflags` `$OTF2_CONFIG --libs`"
    have_otf2=yes
  ])
])
AS_IF([test $have_otf2 = yes], [
  AC_MSG_CHECKING([whether programs link with OTF2])
  mh_saved_cflags=$CFLAGS
  mh_saved_libs=$LIBS
  CFLAGS="$CFLAGS $OTF2_CFLAGS"
  LIBS="$OTF2_LIBS $LIBS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <otf2/otf2.h>]],
    [[OTF2_Archive_SetSerialCollectiveCallbacks(0); OTF2_GlobalDefWriter_WriteComm(0, 0, 0, 0, 0, 0);]])],
    [], [have_otf2=no])
  CFLAGS=$mh_saved_cflags
  LIBS=$mh_saved_libs
  AC_MSG_RESULT([$have_otf2])
])
AS_IF([test $have_otf2 = no], [
  OTF2_CFLAGS=
  OTF2_LIBS=
  AS_CASE([$with_otf2], [auto|no], [], [AC_MSG_ERROR([
  --with-otf2: no OTF2 library 3.0 or newer that links (Debian package: libopen-trace-format2-dev).
  Name its prefix: ./configure --with-otf2=PREFIX; config.log has the details.])])
])
AM_CONDITIONAL([HAVE_OTF2], [test $have_otf2 = yes])
AS_IF([test $have_otf2 = yes], [OTF2_CFLAGS="$OTF2_CFLAGS -DMH_WITH_OTF2"])

# Only the tools that read traces need libdw, for the lines of call sites.
AC_ARG_WITH([libdw],
  [AS_HELP_STRING([--without-libdw],
    [traces name call sites by functions alone (default: by lines, if libdw is found)])],
  [], [with_libdw=auto])
have_libdw=no
AS_IF([test "$with_libdw" != no], [PKG_CHECK_MODULES([LIBDW], [libdw], [have_libdw=yes], [have_libdw=no])])
AS_IF([test "$with_libdw" = yes && test $have_libdw = no],
  [AC_MSG_ERROR([--with-libdw: no libdw of elfutils (Debian package: libdw-dev)])])
AS_IF([test $have_libdw = yes], [LIBDW_CFLAGS="$LIBDW_CFLAGS -DMH_WITH_LIBDW"])

AS_IF([test $have_otf2 = yes], [mh_otf2=yes],
  [test "$with_otf2" = no], [mh_otf2="no, as --without-otf2 says"],
  [mh_otf2="no, for want of the OTF2 library (Debian package: libopen-trace-format2-dev)"])
AS_IF([test $mh_preload = no], [mh_preload="no, for want of a shared library, or of MPICH or Open MPI"])
AS_IF([test $have_libdw = yes], [mh_libdw=yes], [test "$with_libdw" = no], [mh_libdw="no, as --without-libdw says"],
  [mh_libdw="no, for want of libdw (Debian package: libdw-dev)"])
AS_IF([test "$mh_trace" = yes], [mh_houses_summary="$mh_houses_summary
  Preload, trace:  $mh_preload
  OTF2 traces:     $mh_otf2
  Lines in traces: $mh_libdw"])
