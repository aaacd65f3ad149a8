#!/usr/bin/env bash
# Runs sub-test astray of mpix_test, whose last rank does not come to a call, and looks on: the others wait, can be
# interrupted, and nothing is left. To be run in the build directory.
#
# Environment: as for program.sh; MPIX_TEST_QUICK, MPIX_TEST_ONLY
. "$(dirname "$0")/program.sh"

! uses_simulator || skip_all "simulated processes cannot be killed"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

now_ms() {
    local now=${EPOCHREALTIME/[.,]/}
    echo $((now / 1000))
}

wait_for() {    # COMMAND...: until it succeeds; false after the time limit
    local end=$(($(now_ms) + tap_limit_s * 1000))
    until "$@"; do
        [ "$(now_ms)" -lt $end ] || return 1
        sleep 0.05
    done
}

all_wait() { [ -s "$folder/waiting.0" ] && [ -s "$folder/waiting.1" ]; }
pid_of() { cat "$folder/waiting.$1"; }
# A process that has ended, but that nobody has asked about, does no harm.
is_gone() { [ ! -e "/proc/$1" ] || grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null; }
all_gone() { is_gone "$job" && is_gone "$(pid_of 0)" && is_gone "$(pid_of 1)"; }
handled() { [ -e "$folder/handled" ]; }
segments() { find /dev/shm -maxdepth 1 -name 'mpix_harmonize.*' 2>/dev/null | wc -l; }

start() {       # HOW CALLS: run the program and wait until both ranks are about to make the last call
    rm -f "$folder"/*
    # The flags are a list of words.
    # shellcheck disable=SC2086
    env MPIX_TEST_FOLDER="$folder" MPIX_TEST_ASTRAY="$1" MPIX_TEST_CALLS="$2" \
        timeout -k 5 "$tap_limit_s" $launcher ${MPIEXEC_FLAGS:-} -n 2 $program astray \
        </dev/null >"$folder/output" 2>&1 &
    job=$!
    wait_for all_wait || complain "the processes never came to the call"
}

complain() { complaints+="$1"$'\n'; }

finish() {      # NAME SINCE_MS: wait until all have ended
    local took_ms
    tap_again=$(tap_make "$1")
    if wait_for all_gone; then
        took_ms=$(($(now_ms) - $2))
        [ $took_ms -ge 0 ] || took_ms=0
    else
        complain "processes are left"
        took_ms=$((tap_limit_s * 1000))
        kill -KILL "$(pid_of 0)" "$(pid_of 1)" 2>/dev/null
    fi
    wait $job
    [ -e "$folder/released" ] && complain "a process was released although the other one never came"
    [ "$(segments)" -le "$segments_before" ] || complain "a segment of shared memory is left"
    [ -z "$complaints" ] || complain "$(head -n 20 "$folder/output")"
    tap_expect_empty "$1 (all gone after $((took_ms / 1000)).$(printf %03d $((took_ms % 1000))) s)" "$complaints"
}

check() {       # HOW CALLS [SIGNAL]: who waits for a rank that is gone ends with it, or else by the signal
    local when="in a later call" since_ms name
    [ "$2" -gt 0 ] || when="in the first call"
    name="a rank is gone by $1 while the other waits $when"
    [ $# -eq 2 ] || name="a rank never comes $when; SIGUSR1 is handled, SIG$3 ends the one that waits"
    tap_selects "$name" || return 0
    complaints=
    start "$1" "$2"
    since_ms=$(($(now_ms) + 500))
    if [ $# -eq 3 ]; then
        sleep 1
        kill -USR1 "$(pid_of 0)"
        wait_for handled || complain "the handler of a signal did not run"
        is_gone "$(pid_of 0)" && complain "the process did not wait"
        since_ms=$(now_ms)
        kill "-$3" "$(pid_of 0)"
    fi
    finish "$name" "$since_ms"
}

segments_before=$(segments)
quick check never 0 INT
check never 0 TERM
check exit 0
quick check kill 0
check never 5 INT
quick check never 5 TERM
quick check exit 5
check kill 5
tap_done
