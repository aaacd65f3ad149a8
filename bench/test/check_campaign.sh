#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_campaign: its order, what it keeps, and what it does after a kill, a torn file, a failed command, a full disk.
#
# Commands in single quotes are for other shells:
# shellcheck disable=SC2016
# In the background of a shell without job control a test starts with SIGINT ignored, which no shell can undo.
if [ -z "${heeds_interrupts-}" ] && env --default-signal=INT true 2>/dev/null; then
    heeds_interrupts=yes exec env --default-signal=INT bash "$0" "$@"
fi

. "$(dirname "$0")/../../test/programs/run.sh"
past_libtool
need_tool mpix_campaign
export MPIX_HARMONIZE_TOLERANCE_NS=1000000000
root=$scratch

# Each test has a folder of its own, where the campaign is in c, and commands note in log that they ran.
fresh() {
    rm -rf "$root/test" && mkdir "$root/test"
    folder=$root/test/c log=$root/test/log
    export log
    : >"$log"
}

campaign() {        # [OPTION]...
    run alone mpix_campaign -o "$folder" "$@"
}

json_head test "row,,key,integer run,,figure,integer" >"$root/head"
export head=$root/head
# TEXT: results, of columns x and y.
cat >"$root/say" <<'END'
#!/bin/sh
printf '{"schema":"test","version":2,"columns":[{"name":"x","role":"key","type":"%s"},' "${type-number}"
printf '{"name":"y","role":"key","type":"text"}]}\n%s\n' "$1"
END
chmod +x "$root/say"
export PATH=$root:$PATH

# A command that notes its variant and prints a head and two lines of JSON, with a number that no other run has. DO:
# what else it does before.
noting() {          # NAME [DO]
    echo "$1: sh -c '${2-:}; echo $1 >>\"\$log\"; run=\$((\$(wc -l <\"\$log\"))); cat \"\$head\"; \
        for row in 1 2; do echo \"{\\\"row\\\":\$row,\\\"run\\\":\$run}\"; done'"
}

expect_runs() {     # LAUNCHES VARIANT...: all are done, and were launched in the order of the manifest
    local launches=$1 variant
    shift
    [ "$(grep -c '"status": "done"' "$folder/manifest.json")" -eq $((launches * $#)) ] || complain "not all are done"
    for variant in "$@"; do
        [ "$(find "$folder/$variant" -type f | wc -l)" -eq "$launches" ] || complain "other files in $variant"
        [ "$(sed 's/,"run":[0-9]*//' "$folder/$variant"/*.json | sort | uniq -c | tr -s ' \n' ' ')" = \
            " $launches {\"row\":1} $launches {\"row\":2} $launches $(cat "$head") " ] ||
            complain "other output of $variant"
    done
}

planned() {
    sed -n 's/^ *"variant": "\(.*\)",$/\1/p' "$folder/manifest.json"
}

check_order() {
    local seed orders=
    { noting A; noting B; noting C; } >"$root/file"
    for seed in 1 2 1; do
        fresh
        succeeds campaign --launches 4 --seed $seed "$root/file"
        expect_runs 4 A B C
        grep -q "seed: $seed," "$scratch/out" || complain "does not tell the seed"
        planned | cmp -s - "$log" || complain "another order than planned: $(planned | tr '\n' ' ')"
        orders="$orders$(tr -d '\n' <"$log") "
        awk '{ block = block $1 }
            NR % 3 == 0 { if (!(block ~ /A/ && block ~ /B/ && block ~ /C/)) print "block " block; block = "" }' "$log"
    done
    awk '$1 != $3 { print "the same seed, and another order" } $1 == $2 { print "another seed, and the same order" }' \
        <<<"$orders"
}

check_words() {
    cat >"$root/file" <<'END'
# A comment
*: type=text X=common Y='two words' sh -c 'say "{\"x\":\"$X\",\"y\":\"$Y\"}"'   # another
first:
second: X=own
third: Y="1" sh -c 'say "{\"x\":\"$Y.2\"}"'
END
    fresh
    succeeds campaign --launches 1 "$root/file"
    [ -z "$(own_messages)" ] || complain "words are complained about"
    [ "$(cat "$folder"/{first,second,third}/0000.json | grep -v schema | tr '\n' ' ')" = \
        '{"x":"common","y":"two words"} {"x":"own","y":"two words"} {"x":"1.2"} ' ] ||
        complain "other words: $(cat "$folder"/*/*)"
    fresh
    succeeds campaign --launches 2 -- X=1 sh -c 'say "{\"x\":$X}"' -- other: MPIX_HARMONIZE_SINC=hca3 say '{"x":2}' \
        -- say '{"x":3}'
    [ "$(own_messages)" = "mpix_campaign: unknown variable MPIX_HARMONIZE_SINC; did you mean MPIX_HARMONIZE_SYNC?" ] ||
        complain "not one line about the variable"
    [ "$(cat "$folder"/{A,other,C}/0001.json | grep -v schema | tr '\n' ' ')" = '{"x":1} {"x":2} {"x":3} ' ] ||
        complain "other commands"
}

# Real launches, of two algorithms where the library has them by these names.
check_real() {
    local launcher="${MPIEXEC:-mpiexec} ${MPIEXEC_FLAGS-} -n 2" variant
    fresh
    cat >"$root/file" <<END
*: $launcher $programs/mpix_bench reduce reduce+bcast -m 8,64 -i 20 -x 2 --format json
binomial: MPIR_CVAR_REDUCE_INTRA_ALGORITHM=binomial OMPI_MCA_coll_tuned_use_dynamic_rules=1
usual:
END
    succeeds campaign --launches 2 "$root/file"
    for variant in binomial usual; do
        [ "$(cat "$folder/$variant"/000[01].json | grep -c '^{"operation":"reduce\(+bcast\)*",')" -eq 8 ] ||
            complain "not 8 rows of $variant"
    done
}

# Remembers what is done.
keep_files() {
    rm -rf "$root/kept" && cp -r "$folder" "$root/kept"
}

expect_kept() {     # COUNT: so many files were there, and are as they were
    local files
    files=$(cd "$root/kept" && find . -path './*/*.json')
    [ "$(wc -l <<<"$files")" -eq "$1" ] || complain "not $1 launches were done: $files"
    for file in $files; do
        cmp -s "$root/kept/$file" "$folder/$file" || complain "$file has changed"
    done
}

# A launch of B kills the campaign when half a row is written, and what the campaign was doing must not go on.
check_kill() {
    fresh
    export folder
    local kill_once='touch $log.killed; echo "{\"row\":1,"; until grep -q row $folder/B/*.part; do :; done;'
    kill_once="$kill_once kill -KILL \$PPID; exec sleep 60"
    { noting A; noting B "if test \$(wc -l <\$log) -ge 3 -a ! -e \$log.killed; then $kill_once; fi"; } >"$root/file"
    { campaign --launches 4 --seed 3 "$root/file"; } 2>/dev/null # where the shell tells of the kill
    [ "$status" -eq 137 ] || complain "was not killed"
    cp "$log" "$log.before"
    keep_files
    [ "$(cat "$folder"/B/*.part)" = '{"row":1,' ] || complain "not killed while it wrote"
    succeeds campaign "$root/file"
    expect_runs 4 A B
    expect_kept "$(wc -l <"$log.before")"
    [ "$(wc -l <"$log")" -eq 8 ] || complain "a launch that was done is repeated"
    head -n "$(wc -l <"$log.before")" "$log" | cmp -s - "$log.before" || complain "another order after the kill"
    planned | cmp -s - "$log" || complain "another order than planned"
    campaign
    expect_status 0
    [ "$(wc -l <"$log")" -eq 8 ] || complain "a finished campaign is repeated"
    succeeds campaign --launches 5
    expect_runs 5 A B
    [ "$(wc -l <"$log")" -eq 10 ] || complain "not one block more"
}

# The processes of the launch, by a variable that all of them have.
marked() {
    grep -lsa "mark=$root" /proc/[0-9]*/environ | sed 's,/proc/\(.*\)/environ,\1,'
}

none_is_marked() { [ -z "$(marked)" ]; }
has_calls() { grep -qs ",valid," "$root/calls"; }

# Of a launcher, its helpers and two ranks, none outlives the campaign, though they print nothing that nobody reads.
check_real_kill() {
    local pid
    fresh
    command="mpix_campaign (killed)" status=
    # The flags are words, and there may be none.
    # shellcheck disable=SC2086
    "$programs/mpix_campaign" -o "$folder" --launches 1 -- mark="$root" "${MPIEXEC:-mpiexec}" ${MPIEXEC_FLAGS-} -n 2 \
        "$programs/mpix_bench" barrier -i 1000000000 --time-slice-s 120 --raw "$root/calls" \
        >"$scratch/out" 2>"$scratch/err" </dev/null &
    pid=$!
    comes_true has_calls || complain "the launch does not begin"
    [ "$(marked | wc -l)" -ge 3 ] || complain "the ranks are not to be seen"
    kill -KILL $pid
    { wait $pid; } 2>/dev/null
    comes_true none_is_marked && return
    complain "still there: $(marked | tr '\n' ' ')"
    marked | xargs kill -KILL
}

# COLUMNS LAUNCHES: what a campaign tells on a terminal of this width is in out.
campaign_on_terminal() {
    command="mpix_campaign on a terminal of $1 columns"
    script -qec "stty cols $1; '$programs/mpix_campaign' -o '$folder' --launches $2" "$scratch/typed" >/dev/null 2>&1 \
        </dev/null
    status=$?
    expect_status 0
    tr '\r' '\n' <"$scratch/typed" | tr -d '\033' | sed 's/^\[K//' >"$scratch/out"
}

# What is told on a terminal before each launch. By the manifest, the launch that is done took 62 minutes.
check_progress() {
    fresh
    noting A >"$root/file"
    campaign --launches 1 "$root/file"
    [ ! -s "$scratch/err" ] || complain "tells of progress where nobody looks"
    sed -i 's/"duration_ns": [0-9]*/"duration_ns": 3720000000000/' "$folder/manifest.json"
    campaign_on_terminal 200 3
    grep -qx '1 of 3 launches done, about 2 h 4 min left; A, launch 1' "$scratch/out" || complain "not what is done"
    grep -qx '2 of 3 launches done, about 31 min [0-9]* s left; A, launch 2' "$scratch/out" ||
        complain "not what is left"
    campaign_on_terminal 20 4
    grep -qx '3 of 4 launches don' "$scratch/out" || complain "more than a line"
}

# What good launches say may hold for all results, and is told once.
check_messages() {
    local line="mpix_bench: ranks are not bound to cores"
    fresh
    { noting A "echo \"$line\" >&2"; noting B "echo \"$line\" >&2"; } >"$root/file"
    succeeds campaign --launches 2 "$root/file"
    [ "$(grep -cF "$line" "$scratch/err")" = 1 ] || complain "what launches say is not told once"
    grep -q "^mpix_campaign: messages of a launch, .*/[AB]/0000.json.err:$" "$scratch/err" ||
        complain "no file is named"
}

check_torn() {
    local damage
    { noting A; noting B; } >"$root/file"
    for damage in 'truncate -s 17' 'sed -i 2d' 'truncate -s 0' 'rm'; do
        fresh
        campaign --launches 2 "$root/file"
        $damage "$folder/A/0001.json"
        campaign
        expect_status 0
        [ "$(own_messages | grep -c "A/0001.json.*measured again")" -eq 1 ] || complain "does not tell ($damage)"
        [ "$(own_messages | wc -l)" -eq 1 ] || complain "not one line ($damage)"
        expect_runs 2 A B
        [ "$(wc -l <"$log")" -eq 5 ] || complain "not one launch more ($damage)"
    done
    # What was in its place when the manifest was not yet.
    sed -i '0,/"status": "done"/s//"status": "pending"/' "$folder/manifest.json"
    campaign
    expect_runs 2 A B
    [ "$(wc -l <"$log")" -eq 5 ] || complain "a file that is whole is measured again"
}

expect_failure() {  # PART...: status 1, and messages that have them
    expect_status 1
    for part in "$@" "of 4 launches are done and kept in"; do
        grep -qF -e "$part" "$scratch/err" || complain "does not tell: $part"
    done
    grep -q '"status": "failed"' "$folder/manifest.json" || complain "the manifest does not tell"
}

fail() {            # PART OPTION...: a campaign of 4 launches, of which the first fails so
    fresh
    campaign --launches 4 "${@:2}"
    expect_failure "$1"
}

check_failures() {
    fresh
    { noting A; noting B 'if test -e $log.bad; then echo "the cause" >&2; exit 7; fi'; } >"$root/file"
    touch "$log.bad"
    campaign --launches 2 --retries 1 "$root/file"
    expect_failure "variant B, launch 0: the command failed with exit status 7" "  the cause" "B/0000.json.err"
    [ "$(grep -c 'variant B, launch 0' "$scratch/err")" -eq 2 ] || complain "not one retry"
    rm "$log.bad"
    succeeds campaign --launches 2 "$root/file"
    expect_runs 2 A B
}

# One that nobody waits for stays in the list of processes.
is_gone() { ! grep '^State:' "/proc/$1/status" 2>/dev/null | grep -qv '[ZX] ('; }

# The process that the command leaves behind does not heed the request to end.
check_group_ends() {
    rm -f "$root/left"
    fail "took longer than 0.3 s" --timeout-s 0.3 -- \
        sh -c 'sh -c "trap \"\" TERM; echo \$\$ >\$0; while :; do sleep 0.1; done" "$0" &
        while [ ! -s "$0" ]; do sleep 0.02; done; wait' "$root/left"
    comes_true is_gone "$(cat "$root/left")" || complain "a process of the command is still there"
}

# The campaign is stopped until the command has ended and the signal is there, too: what was measured is kept.
check_finished_is_kept() {
    fresh
    campaign --launches 2 -- sh -c 'say "{\"x\":1}"; kill -STOP $PPID
        setsid sh -c "while grep -q \"^State:.[^Z]\" /proc/$$/status; do sleep 0.1; done
            kill -TERM $PPID; kill -CONT $PPID" >"$0" 2>&1 &' /dev/null
    expect_status 143
    [ -e "$folder/A/0000.json" ] || complain "the launch that ended well is thrown away"
    grep -q '"status": "done"' "$folder/manifest.json" || complain "it is not done"
}

# As a terminal sends it, to the campaign alone.
check_interrupt() {
    local signal
    for signal in TERM:143 ${heeds_interrupts:+INT:130}; do
        fresh
        { noting A
            noting B 'if test ! -e $log.sent; then touch $log.sent; kill -'${signal%:*}' $PPID; sleep 60; fi'
        } >"$root/file"
        campaign --launches 2 "$root/file"
        expect_status "${signal#*:}"
        grep -q "interrupted by signal" "$scratch/err" || complain "does not tell"
        campaign
        expect_status 0
        expect_runs 2 A B
        [ "$(wc -l <"$log")" -eq 4 ] || complain "a launch that was done is repeated"
    done
}

# B writes for ever, until nothing more can be written. What was done before is kept, and when there is room again, only
# the others are launched.
check_no_room() {   # NARROW WIDEN WHY: commands that take room away and give it back, and what the system says
    fresh
    "$1"
    : >"$log"
    { noting A; noting B 'test -e $log.room || exec yes "{\"row\":1}"'; } >"$root/file"
    campaign --launches 2 --seed 4 "$root/file"
    expect_status 1
    grep -q "cannot write $folder/B/0000.json.part: $3" "$scratch/err" || complain "does not tell the file"
    own_messages | grep -q "1 of 4 launches are done and kept" || complain "does not tell what is kept"
    grep -q '"status": "failed"' "$folder/manifest.json" || complain "the manifest is not written"
    [ ! -e "$folder/B/0000.json" ] || complain "half a launch counts as one"
    keep_files
    "$2"
    touch "$log.room"
    campaign
    expect_status 0
    expect_runs 2 A B
    expect_kept 1
    [ "$(wc -l <"$log")" -eq 4 ] || complain "a launch that was done is repeated"
}

# Files of at most 64 KiB. Only this process and what it starts is limited.
narrow_files() { trap '' XFSZ && ulimit -S -f 64; }
widen_files() { ulimit -S -f "$(ulimit -H -f)"; }

# A file system of a few pages, in a namespace of its own. There the script is run once more.
narrow_disk() { mount -t tmpfs -o size=128k none "$root/test"; }
widen_disk() { mount -o remount,size=4m "$root/test"; }
if [ "${on_small_disk-}" = yes ]; then
    check_no_room narrow_disk widen_disk "No space left"
    umount "$root/test"
    exit
fi

quick tap_check "the order of launches" check_order
quick tap_check "names, variables, commands" check_words
quick tap_check_if launches "it takes a launcher" "launches of mpix_bench" check_real
tap_check_if launches "it takes a launcher" "no process outlives a campaign that is killed" check_real_kill
quick tap_check "after a kill, the others are launched" check_kill
quick tap_check "a torn file is measured again" check_torn
tap_check_if "command -v script" "there is no script (Debian package: bsdutils)" "progress on a terminal" check_progress
tap_check "what good launches say" check_messages
quick tap_check "commands that fail" check_failures
tap_check "all that a command started ends with it" check_group_ends
tap_check "a launch that ended is kept" check_finished_is_kept
tap_check "interruptions" check_interrupt
tap_check "a file that cannot grow" check_no_room narrow_files widen_files "File too large"
tap_check_if "${own_mounts[*]} mount -t tmpfs none /mnt" "it takes a user namespace, which is not allowed here" \
    "a full disk" "${own_mounts[@]}" env on_small_disk=yes bash "$0"
tap_done
