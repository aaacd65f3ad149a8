#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_osu NAME with OSU's options, of programs that one process can run: the other part of check_osu.sh, which may run
# beside other tests.
. "$(dirname "$0")/../../test/programs/run.sh"
past_libtool
give_way
. "$here/osu_options.sh"
check_classes no
tap_done
