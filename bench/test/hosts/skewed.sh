# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-3-Clause
#
# What tests of hosts with skewed clocks begin with, to be sourced: the folder $scratch, and in it skewed_clocks.c, as
# stamp and as skewed.so, and skewed, a command that runs a program with the latter.
[ "${MPIX_TEST_BRIEF-}" != yes ] || skip_all "MPIX_TEST_BRIEF=yes"
# Hosts of the same name share /tmp here, so the recorder of another test would refuse to run on them.
exec 8>record.lock
flock -w 300 8 2>/dev/null
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
for part in "-shared -fPIC -o skewed.so" "-DSTAMP -o stamp"; do
    # shellcheck disable=SC2086
    (cd "$scratch" && ${CC:-gcc} -O2 $part "$source_dir/skewed_clocks.c" -lm) >"$scratch/log" 2>&1 ||
        skip_all "clocks cannot be compiled: $(tail -n 1 "$scratch/log")"
done
# Launchers preload something, too, so the shell on the host adds to it.
# shellcheck disable=SC2016
printf '#!/bin/sh\nLD_PRELOAD=%s${LD_PRELOAD:+:$LD_PRELOAD} exec "$@"\n' "$scratch/skewed.so" >"$scratch/skewed"
chmod +x "$scratch/skewed"
command -v "$python" >/dev/null || skip_all "it takes python3"
