#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a test script beside others, or if it is in the list, when no other runs.
#
# Usage, in the build directory: in_turn.sh LIST SCRIPT
turn=--shared
for script in $1; do
    case $2 in */"$script") turn=--exclusive ;; esac
done
exec flock --close $turn in_turn.lock bash "$2"
