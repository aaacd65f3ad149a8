#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs a command on a host that with_hosts.sh made, in the caller's directory and environment. To a launcher of MPI
# programs it stands in for ssh: flags before the host are ignored, and the words of the command are a line of shell.
#
# Usage: on_host.sh [-FLAG]... HOST COMMAND...
set -u

while [[ ${1-} == -* ]]; do shift; done
if [ $# -lt 2 ]; then
    echo "usage: on_host.sh [-FLAG]... HOST COMMAND..." >&2
    exit 2
fi
host=$1
shift

: "${MH_HOSTS_DIR:?there are no hosts: run this by with_hosts.sh}"
if ! read -r pid <"$MH_HOSTS_DIR/$host"; then
    echo "on_host.sh: there is no host $host" >&2
    exit 1
fi
# The directory is looked up again in the host, because the caller's belongs to another mount namespace.
# shellcheck disable=SC2016 # the shell in the host expands it
exec nsenter --target "$pid" --net --mount --uts --ipc --pid --time -- \
    bash -c 'cd "$0" && eval "$1"' "$PWD" "$*"
