#!/bin/sh
# Generates configure and the Makefile.in files. Needed in a git checkout only.
set -eu
cd "$(dirname "$0")"

missing=
need() {    # COMMAND PACKAGE
    command -v "$1" >/dev/null 2>&1 || missing="$missing
  $1 (Debian package: $2)"
}
need autoreconf autoconf
need automake automake
need libtoolize libtool
need pkg-config pkg-config
if [ -n "$missing" ]; then
    echo "autogen.sh: these tools are missing:$missing" >&2
    exit 1
fi

# Makefile.am includes the houses that are there, each by itself, as configure decides which are built. None is without
# what they share.
for house in common bench trace; do
    [ ! -e common/common.am ] || [ ! -e $house/$house.am ] ||
        printf 'if WITH_%s\ninclude %s\nendif\n' "$(echo $house | tr a-z A-Z)" $house/$house.am
done >houses.am

# What an interruption leaves behind is not to look whole: Makefile.in is made last.
rm -f configure Makefile.in
# aclocal refuses a macro directory that does not exist, and git keeps no empty ones.
mkdir -p m4
autoreconf --force --install
