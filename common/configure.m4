# What the houses share.
# The tools read and write JSON by it. The library does not need it.
PKG_CHECK_MODULES([JANSSON], [jansson >= 2.10], [have_jansson=yes], [have_jansson=no])
AM_CONDITIONAL([HAVE_JANSSON], [test $have_jansson = yes])
AS_IF([test $have_jansson = yes], [JANSSON_CFLAGS="$JANSSON_CFLAGS -DMH_WITH_JANSSON"])
AS_IF([test $have_jansson = no], [mh_houses_summary="$mh_houses_summary
  Reading tools:   no, for want of the Jansson library (Debian package: libjansson-dev)"])
