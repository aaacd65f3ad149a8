#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# How all tools behave alike: what they answer to --help, --version and a bad option, what they do where standard output
# is full, closed, or a pipe that nobody reads, and files have no room, and that an option means one thing in all.
. "$(dirname "$0")/../../test/programs/run.sh"
give_way
past_libtool

# Each tool, the ranks that it needs (- for none by itself), its options that name a file to be written, and what makes
# it print results in a moment.
all_tools() {
    cat <<END
mpix_bench|1|output raw|bcast -m 4,8 -i 3 -x 0
mpix_osu|1|output raw|bcast -m 4,8 -i 3 -x 0
mpix_skew|2|output raw|-i 10 -x 1
mpix_clock list|1|output raw|--reads 100
mpix_clock drift|2|output raw|--duration-s 0.1 --interval-s 0.02 --clocks monotonic
mpix_clock check|2|output raw|--sync none --ages-s 0
mpix_campaign|-||-o $scratch/campaign --launches 1 -- cat $scratch/bench.json
mpix_compare|-|output|$scratch/bench.json $scratch/bench.json
mpix_report|-|output|$scratch/bench.json
mpix_tune|-||
mpix_trace_check|-|output|$scratch/trace
mpix_trace_convert|-|output|--format csv $scratch/trace
mpix_trace_report|-|output page write-arrivals|$scratch/trace
mpix_figures|-||list
mpix_preload|-||
mpix_trace|-||
END
}

# Leaves in words the path of a tool and what is part of its name.
find_tool() {       # TOOL
    read -r -a words <<<"$1"
    words[0]=$(path_of "${words[0]}")
    [ -x "${words[0]}" ] && { [ "$1" != mpix_figures ] || command -v python3 >/dev/null; }
}

# TOOL [OPTION]...: by itself.
by_itself() {
    command="$*"
    find_tool "$1"
    capture "${words[@]}" "${@:2}"
}

check_answers() {   # TOOL
    for option in -h --help; do
        by_itself "$1" $option
        expect_status 0
        [ "$(grep -c "^Usage: .*${1%% *}" "$scratch/out")" -eq 1 ] || complain "the usage is not printed once"
        [ ! -s "$scratch/err" ] || complain "help writes to standard error"
    done
    for option in -v --version; do
        by_itself "$1" $option
        expect_status 0
        grep -qx "$1 [^ ].*" "$scratch/out" || complain "no version"
        [ "$(wc -l <"$scratch/out")" -eq 1 ] || complain "not one line"
    done
}

# A line of several writes may have lines of other processes within. Each write to this socket is one message.
in_one_write() {    # COMMAND...
    "$python" -c 'if 1:
        import socket, subprocess, sys
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        status = subprocess.call(sys.argv[1:], stderr=far, stdin=subprocess.DEVNULL, timeout=60)
        near.setblocking(False)
        try:
            sys.stderr.buffer.write(near.recv(4096))
        except BlockingIOError: # nothing was said
            pass
        sys.exit(status)' "$@"
}

check_bad_option() { # TOOL
    command="$1 --no-such-option"
    find_tool "$1"
    $one_write "${words[@]}" --no-such-option >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    expect_status 2
    grep -qxE "$1: (option --no-such-option is|unknown option) .*\(see --help\)" "$scratch/err" ||
        complain "not one line that says so"
    [ ! -s "$scratch/out" ] || complain "a refusal prints to standard output"
}

# RANKS COMMAND...: without a launcher if one rank is enough.
start() {
    local launcher=()
    # shellcheck disable=SC2206
    case $1 in - | 1) ;; *) launcher=("${MPIEXEC:-mpiexec}" ${MPIEXEC_FLAGS-} -n "$1" "${yielding[@]}") ;; esac
    capture "${launcher[@]}" "${@:2}"
}

# RANKS COMMAND...: to an output that cannot be written.
lose_output() {
    command="${*:2} ($1 ranks, standard output is $output)"
    # The shell of each rank has its own standard output, which is not the launcher's.
    case $output in
    full) to='exec "$@" >/dev/full' ;;
    closed) to='exec "$@" >&-' ;;
    # What is there when the reader has gone.
    pipe) to='exec 3> >(:); wait $!; "$@" >&3 3>&-; exit $?' ;;
    esac
    start "$1" bash -c "$to" bash "${@:2}"
    # A program that is ended by the pipe has done its part, too.
    if [ "$output" = pipe ]; then
        [ "$status" -ne 0 ] || complain "exit status is 0"
    else
        expect_lost "standard output"
    fi
}

check_lost_output() { # TOOL RANKS OPTION...
    find_tool "$1"
    for output in full closed pipe; do
        lose_output - "${words[@]}" --help
        [ $# -eq 2 ] || lose_output "$2" "${words[@]}" "${@:3}"
    done
}

# TOOL RANKS FILES OPTION...: a device that is full in the place of each file.
check_lost_files() {
    local option
    find_tool "$1"
    for option in $3; do
        command="$1 ${*:4} --$option /dev/full ($2 ranks)"
        start "$2" "${words[@]}" "${@:4}" "--$option" /dev/full
        expect_lost 'write /dev/full: No space left on device'
    done
}

# TOOL RANKS FILES OPTION...: one file for two of the outputs, by two names.
check_same_files() {
    local option own=$scratch/own.svg same=$scratch/same.svg
    find_tool "$1"
    program=${1%% *}
    for option in ${3#output }; do
        for other in "$scratch/./own.svg" "$same"; do
            command="$1 ${*:4} --output $own --$option $other"
            start "$2" "${words[@]}" "${@:4}" --output "$own" "--$option" "$other"
            expect_refusal "give another file than to --output"
            echo earlier >"$own"
            ln -sf "$own" "$same"
        done
        [ "$(cat "$own")" = earlier ] || complain "the earlier results are lost"
        rm "$own"
    done
}

# TOOL RANKS FILES OPTION...: nothing is measured or written if one of the outputs cannot be.
check_absent_folders() {
    local option outputs earlier=$scratch/earlier.svg
    find_tool "$1"
    program=${1%% *}
    echo earlier >"$earlier"
    for option in $3; do
        outputs=("--$option" "$scratch/absent/own.svg")
        [ "$option" = output ] || outputs+=(--output "$earlier")
        command="$1 ${*:4} ${outputs[*]} ($2 ranks)"
        start "$2" "${words[@]}" "${@:4}" "${outputs[@]}"
        expect_refusal "give a file that can be written"
    done
    [ "$(cat "$earlier")" = earlier ] || complain "the earlier results are lost"
}

# TOOL OPTION...: what an earlier run has written stays if this one is refused, as 1 rank is too few, or the library has
# no such clock.
check_kept_output() {
    local clock=auto
    [ "$1" != mpix_bench ] || clock=sundial
    echo earlier >"$scratch/earlier"
    MPIX_HARMONIZE_CLOCK=$clock by_itself "$@" --output "$scratch/earlier" --raw "$scratch/earlier.raw"
    [ "$status" -ne 0 ] || complain "exit status is 0"
    [ "$(cat "$scratch/earlier")" = earlier ] || complain "the earlier results are lost"
}

# TOOL [OPTION]...: it says once if two ranks share two processors, and not if each has one, or both have the same one.
# The processors of rank 0 and of rank 1 stand before and after the slash.
check_binding() {
    local line processors
    find_tool "$1"
    # shellcheck disable=SC2016 # the variables are those of the shell there
    echo 'case ${PMI_RANK-$OMPI_COMM_WORLD_RANK} in 0) list=${1%/*} ;; *) list=${1#*/} ;; esac
        shift; exec taskset -c "$list" "$@"' >"$scratch/place"
    program=${1%% *}
    for processors in "1 $two/$two" "0 ${two/,//}" "0 ${two#*,}/${two#*,}"; do
        command="$* on processors ${processors#* } (2 ranks)"
        launch 2 sh "$scratch/place" "${processors#* }" "${words[@]}" "${@:2}" >"$scratch/out" 2>"$scratch/err" \
            </dev/null
        status=$?
        [ "$(grep -c "^$1: ranks are not bound to cores" "$scratch/err")" = "${processors% *}" ] ||
            complain "not said ${processors% *} times"
    done
}
two=$(for processor in {0..1023}; do ! taskset -c "$processor" true || echo "$processor"; done 2>/dev/null |
    head -n 2 | paste -sd,)
no_two=
launches && [ "$two" != "${two#*,}" ] || no_two="it takes a launcher and two processors"

# TOOL: its options, one a line: NAME LETTER VALUE, - for none.
options_of() {
    by_itself "$1" --help
    grep -oE '^ {2,6}(-[a-zA-Z], )?--[a-z-]+( [A-Z]+)?' "$scratch/out" |
        sed -E 's/^ *--/- --/; s/^ *-([a-zA-Z]), /\1 /; s/^(.) --([a-z-]+) *(.*)/\2 \1 \3/; s/ $/ -/' |
        sed "s/\$/ $1/"
}

# In all tools a name has one letter, a letter one name, and a name one kind of value, or a list of such. What takes a
# time or a percentage ends in its unit, and its value is called by the unit. Lines of help fit a terminal.
check_options() {
    awk '
        BEGIN { split("S s MS ms US us NS ns PERCENT percent", units, " ")
                for (i = 1; i < 10; i += 2) unit_of[units[i]] = units[i + 1] }
        { tool = $4 " " $5; value = $3; unit = $1; sub(/.*-/, "", unit) }
        value == "DIR" || value == "OUT" { value = "FILE" }
        ($1 in letter) && letter[$1] != $2 { print tool ": --" $1 " has the letter " $2 ", elsewhere " letter[$1] }
        $2 != "-" && ($2 in name) && name[$2] != $1 { print tool ": -" $2 " is --" $1 ", elsewhere --" name[$2] }
        value == "LIST" { next }
        ($1 in kind) && kind[$1] != value { print tool ": --" $1 " takes " value ", elsewhere " kind[$1] }
        (value in unit_of) && unit != unit_of[value] { print tool ": --" $1 " does not end in the unit of " value }
        { letter[$1] = $2; name[$2] = $1; kind[$1] = value }' "$scratch/options"
}

# TOOL: what options_of has left
check_width() {
    [ "$1" = mpix_figures ] || awk 'length > 79 { print "longer than 79 columns: " $0 }' "$scratch/out"
}

find_tool mpix_bench && "${words[@]}" bcast -m 8 -i 3 -x 0 --format json >"$scratch/bench.json" 2>/dev/null </dev/null
make_trace=$build/trace/test/check_trace_report
[ ! -x "$make_trace" ] || "$make_trace" "$scratch/trace" 4 40 >/dev/null
one_write=
! "$python" -c '' 2>/dev/null || one_write=in_one_write
: >"$scratch/options"

# Of tools that begin MPI, which takes long, the quick check has one.
while IFS='|' read -r tool ranks files work <&3; do
    case $tool:$ranks in mpix_bench:* | *:-) tier=quick ;; *) tier= ;; esac
    if ! find_tool "$tool"; then
        tap_skip "$tool" "it is not built"
        continue
    fi
    $tier tap_check "$tool: --help and --version" check_answers "$tool"
    $tier tap_check "$tool: a bad option, told in one write" check_bad_option "$tool"
    # shellcheck disable=SC2086
    [ ! -c /dev/full ] || $tier tap_check "$tool: standard output full, closed, or not read" check_lost_output "$tool" \
        "$ranks" $work
    # shellcheck disable=SC2086
    [ ! -c /dev/full ] || [ -z "$files" ] || $tier tap_check "$tool: --${files// /, --} on a device that is full" \
        check_lost_files "$tool" "$ranks" "$files" $work
    # shellcheck disable=SC2086
    [ -z "$files" ] || $tier tap_check "$tool: --${files// /, --} in a folder that is absent" check_absent_folders \
        "$tool" "$ranks" "$files" $work
    # shellcheck disable=SC2086
    case $files in *" "*)
        $tier tap_check "$tool: one file for two outputs" check_same_files "$tool" "$ranks" "$files" $work ;;
    esac
    # shellcheck disable=SC2086
    case $tool:$ranks in mpix_bench:* | *:2)
        $tier tap_check "$tool: earlier results after a refusal" check_kept_output "$tool" $work ;;
    esac
    # shellcheck disable=SC2086
    case $tool in mpix_bench | mpix_skew | "mpix_clock check")
        tap_check_unless "$no_two" "$tool: ranks that are not bound" check_binding "$tool" $work ;;
    esac
    options_of "$tool" >>"$scratch/options"
    quick tap_check "$tool: lines of help" check_width "$tool"
done 3< <(all_tools)
quick tap_check "an option is the same in all tools" check_options
tap_done
