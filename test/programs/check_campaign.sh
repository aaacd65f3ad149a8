#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_campaign: its order, what it keeps, and what it does after a kill, a torn file, a failed command, a full disk.
#
# Environment: BUILDDIR       the build directory (default: .)
#              MPIEXEC        the launcher (default: mpiexec)
#              MPIEXEC_FLAGS  its flags before -n
#
# Most functions are called by tap_check only, by name; and commands in single quotes are for other shells:
# shellcheck disable=SC2317,SC2016
set -u
export LC_ALL=C

# In the background of a shell without job control a test starts with SIGINT ignored, which no shell can undo.
if [ -z "${heeds_interrupts-}" ] && env --default-signal=INT true 2>/dev/null; then
    heeds_interrupts=yes exec env --default-signal=INT bash "$0" "$@"
fi

. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/run.sh"
if [ ! -x "$programs/mpix_campaign" ]; then
    echo "1..0 # SKIP mpix_campaign is not built: there is no Jansson library"
    exit 0
fi
export MPIX_HARMONIZE_TOLERANCE_NS=1000000000 ASAN_OPTIONS="${ASAN_OPTIONS-detect_leaks=0}"
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

# A command that notes its variant and prints two lines of JSON. DO: what else it does before.
noting() {          # NAME [DO]
    echo "$1: sh -c '${2-:}; echo $1 >>\"\$log\"; echo \"{\\\"row\\\":1}\"; echo \"{\\\"row\\\":2}\"'"
}

expect_runs() {     # LAUNCHES VARIANT...: all are done, and were launched in the order of the manifest
    local launches=$1 variant
    shift
    [ "$(grep -c '"status": "done"' "$folder/manifest.json")" -eq $((launches * $#)) ] || complain "not all are done"
    for variant in "$@"; do
        [ "$(find "$folder/$variant" -type f | wc -l)" -eq "$launches" ] || complain "other files in $variant"
        [ "$(cat "$folder/$variant"/*.json | sort | uniq -c | awk '{ print $1 $2 }' | tr '\n' ' ')" = \
            "$launches{\"row\":1} $launches{\"row\":2} " ] || complain "other output of $variant"
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
        campaign -n 4 --seed $seed "$root/file"
        expect_status 0
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
*: X=common Y='two words' sh -c 'printf "{\"x\":\"%s\",\"y\":\"%s\"}" "$X" "$Y"'   # another
first:
second: X=own
third: Y="1" sh -c "printf '[%s]' $Y"
END
    fresh
    campaign -n 1 "$root/file"
    expect_status 0
    [ "$(cat "$folder"/{first,second,third}/0000.json)" = \
        '{"x":"common","y":"two words"}{"x":"own","y":"two words"}[1]' ] || complain "other words: $(cat "$folder"/*/*)"
    fresh
    campaign -n 2 -- X=1 sh -c 'echo "{\"x\":$X}"' -- other: sh -c 'echo "[1]"' -- sh -c 'echo "[2]"'
    expect_status 0
    [ "$(cat "$folder"/{A,other,C}/0001.json | tr '\n' ' ')" = '{"x":1} [1] [2] ' ] || complain "other commands"
}

# Real launches, of two algorithms where the library has them by these names.
check_real() {
    local launcher="${MPIEXEC:-mpiexec} ${MPIEXEC_FLAGS-} -n 2" variant
    fresh
    cat >"$root/file" <<END
*: $launcher $(cd "$programs" && pwd)/mpix_bench reduce reduce+bcast -m 8,64 -i 20 -x 2 --format json
binomial: MPIR_CVAR_REDUCE_INTRA_ALGORITHM=binomial OMPI_MCA_coll_tuned_use_dynamic_rules=1
usual:
END
    campaign -n 2 "$root/file"
    expect_status 0
    for variant in binomial usual; do
        [ "$(cat "$folder/$variant"/000[01].json | grep -c '^{"operation":"reduce\(+bcast\)*",')" -eq 8 ] ||
            complain "not 8 rows of $variant"
    done
}

# The first command kills the campaign, and what the campaign was doing must not go on.
check_kill() {
    fresh
    local kill_once='touch $log.killed; kill -KILL $PPID; exec sleep 60'
    { noting A; noting B "if test \$(wc -l <\$log) -ge 3 -a ! -e \$log.killed; then $kill_once; fi"; } >"$root/file"
    { campaign -n 4 --seed 3 "$root/file"; } 2>/dev/null # where the shell tells of the kill
    [ "$status" -eq 137 ] || complain "was not killed"
    cp "$log" "$log.before"
    [ "$(wc -l <"$log")" -ge 3 ] || complain "was killed too early"
    campaign "$root/file"
    expect_status 0
    expect_runs 4 A B
    [ "$(wc -l <"$log")" -eq 8 ] || complain "a launch that was done is repeated"
    head -n "$(wc -l <"$log.before")" "$log" | cmp -s - "$log.before" || complain "another order after the kill"
    planned | cmp -s - "$log" || complain "another order than planned"
    campaign
    expect_status 0
    [ "$(wc -l <"$log")" -eq 8 ] || complain "a finished campaign is repeated"
    campaign -n 5
    expect_status 0
    expect_runs 5 A B
    [ "$(wc -l <"$log")" -eq 10 ] || complain "not one block more"
}

check_torn() {
    local damage
    { noting A; noting B; } >"$root/file"
    for damage in 'truncate -s 17' 'sed -i 2d' 'truncate -s 0' 'rm'; do
        fresh
        campaign -n 2 "$root/file"
        $damage "$folder/A/0001.json"
        campaign
        expect_status 0
        [ "$(own_messages | grep -c "A/0001.json: .*measured again")" -eq 1 ] || complain "does not tell ($damage)"
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

check_failures() {
    fresh
    { noting A; noting B 'if test -e $log.bad; then echo "the cause" >&2; exit 7; fi'; } >"$root/file"
    touch "$log.bad"
    campaign -n 2 --retries 1 "$root/file"
    expect_failure "variant B, launch 0: the command failed with exit status 7" "  the cause" "B/0000.json.err"
    [ "$(grep -c 'variant B, launch 0' "$scratch/err")" -eq 2 ] || complain "not one retry"
    rm "$log.bad"
    campaign -n 2 "$root/file"
    expect_status 0
    expect_runs 2 A B
    fresh
    campaign -n 4 -- /nonexistent/mpiexec
    expect_failure 'cannot run "/nonexistent/mpiexec": No such file'
    fresh
    campaign -n 4 -- sh -c 'kill -SEGV $$'
    expect_failure "ended by signal 11"
    fresh
    campaign -n 4 -- echo "# a table"
    expect_failure "A/0000.json.part, is of no use: it is no JSON (--format json?)"
    fresh
    campaign -n 4 -- true
    expect_failure "it is empty"
    fresh
    campaign -n 4 --timeout-s 0.3 -- sh -c 'echo "{}"; sleep 60'
    expect_failure "took longer than --timeout-s 0.3"
}

# The process that the command leaves behind does not heed the request to end.
check_group_ends() {
    fresh
    rm -f "$root/left"
    campaign -n 1 --timeout-s 0.3 -- sh -c 'sh -c "trap \"\" TERM; echo \$\$ >\$0; while :; do sleep 0.1; done" "$0" &
        while [ ! -s "$0" ]; do sleep 0.02; done; wait' "$root/left"
    expect_failure_of_one "took longer than --timeout-s 0.3"
    # One that nobody waits for stays in the list of processes.
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        left=$(sed 's/.*) \(.\).*/\1/' "/proc/$(cat "$root/left")/stat" 2>/dev/null)
        case $left in "" | Z | X) return ;; esac
        sleep 0.1
    done
    complain "a process of the command is still there, in state $left"
}

expect_failure_of_one() {
    expect_status 1
    grep -qF -e "$1" "$scratch/err" || complain "does not tell: $1"
}

# The campaign is stopped until the command has ended and the signal is there, too: what was measured is kept.
check_finished_is_kept() {
    fresh
    campaign -n 2 -- sh -c 'echo "{}"; kill -STOP $PPID
        setsid sh -c "sleep 0.5; kill -TERM $PPID; kill -CONT $PPID" >"$0" 2>&1 &' /dev/null
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
        campaign -n 2 "$root/file"
        expect_status "${signal#*:}"
        grep -q "interrupted by signal" "$scratch/err" || complain "does not tell"
        campaign
        expect_status 0
        expect_runs 2 A B
        [ "$(wc -l <"$log")" -eq 4 ] || complain "a launch that was done is repeated"
    done
}

# COMMAND...: in a namespace of its own, where the folder of the test is a file system of few pages.
on_small_file_system() {
    unshare -Urm sh -c 'mount -t tmpfs -o size=128k none "$1" && shift && "$@"' sh "$root/test" "$@"
}

check_full_disk() {
    fresh
    printf '%s\n' "A: sh -c 'echo {}'" "B: sh -c 'yes [1] | head -c 262144'" >"$root/file"
    # What is done must still be there afterwards, so the first launch is of A.
    program=mpix_campaign command="mpix_campaign (full file system)"
    on_small_file_system sh -c '"$1" -o "$2" -n 1 --seed "$4" "$3"; echo "status $?"; cat "$2/manifest.json"
        find "$2" -name "*.json"' \
        sh "$programs/mpix_campaign" "$folder" "$root/file" 2 >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$(sed -n 's/^status //p' "$scratch/out")
    expect_status 1
    grep -q "cannot write .*/B/0000.json.part: No space left" "$scratch/err" || complain "does not tell the file"
    own_messages | grep -q "of 2 launches are done and kept" || complain "does not tell what is kept"
    grep -q '"schema": "mpix-campaign"' "$scratch/out" || complain "the manifest is lost"
}

check_refusals() {
    local part line
    while IFS='|' read -r part line; do
        fresh
        printf '%b\n' "$line" >"$root/file"
        campaign "$root/file"
        expect_refusal "$part"
        [ ! -e "$folder" ] || complain "makes a folder"
    done <<'END'
line 1|mpiexec true
line 2|A: true\nA: true
line 1|../A: true
line 1|-A: true
line 1|A..B: true
line 1|: true
line 2|A: true\nB: X=1
line 1|A: sh -c 'x
line 2|*: true\n*: false
UTF-8|A: \xff
a variant|# nothing
END
    fresh
    echo "A: echo {}" >"$root/file"
    while read -r part line; do
        # shellcheck disable=SC2086
        campaign $line
        expect_refusal "$part"
    done <<END
--launches $root/file -n 0
--seed $root/file --seed -1
FILE $root/file $root/file
FILE $root/file -- true
campaign
/nonexistent /nonexistent
no -- --
END
}

check_other_campaigns() {
    fresh
    campaign -n 2 --seed 5 -- echo '{}'
    expect_status 0
    campaign -n 2 -- echo '[]'
    expect_refusal 'variant "A" differs'
    campaign -n 2 -- echo '{}' -- echo '{}'
    expect_refusal 'variant "B" differs'
    campaign --seed 6 -- echo '{}'
    expect_refusal --seed
    campaign -n 1 -- echo '{}'
    expect_refusal --launches
    sed -i 's,A/0001,A/0007,' "$folder/manifest.json"
    campaign
    expect_refusal "not in its plan"
    echo '{"schema": "mpix-campaign", "version": 2}' >"$folder/manifest.json"
    campaign
    expect_refusal "no manifest of a campaign"
    echo '{"schema": "mpix-' >"$folder/manifest.json"
    campaign
    expect_refusal "no manifest of a campaign"
    rm "$folder/manifest.json"
    campaign -- echo '{}'
    expect_refusal "A/0000.json is there already"
    run alone mpix_campaign -o "$root/file/x" -- echo '{}'
    expect_refusal "cannot be used"
    run alone mpix_campaign -o "$root/lone" -n 1 -- \
        sh -c '"$0" -o "$1" >&2; echo "{}"' "$programs/mpix_campaign" "$root/lone"
    expect_status 0
    grep -q "another mpix_campaign is at work" "$root/lone/A/0000.json.err" || complain "two in one folder"
}

quick tap_check "the order of launches" check_order
quick tap_check "names, variables, commands" check_words
case $(basename "${MPIEXEC:-mpiexec}") in
smpirun) tap_skip "launches of mpix_bench" "the simulator starts its programs by itself" ;;
*) quick tap_check "launches of mpix_bench" check_real ;;
esac
quick tap_check "after a kill, the others are launched" check_kill
quick tap_check "a torn file is measured again" check_torn
quick tap_check "commands that fail" check_failures
tap_check "all that a command started ends with it" check_group_ends
tap_check "a launch that ended is kept" check_finished_is_kept
tap_check "interruptions" check_interrupt
tap_check "bad descriptions and options" check_refusals
tap_check "another campaign in the folder" check_other_campaigns
if mkdir "$root/test" 2>/dev/null; on_small_file_system true 2>/dev/null; then
    tap_check "a full disk" check_full_disk
else
    tap_skip "a full disk" "it takes a user namespace, which is not allowed here"
fi
tap_done
