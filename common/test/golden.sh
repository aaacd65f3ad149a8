# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests of what programs print, to be sourced. golden/TOOL/*.txt beside the script are transcripts: each shell command,
# as a line "$ COMMAND" and lines "> MORE", and below it what it prints, then "! LINE" for each line on standard error,
# then "[STATUS]" unless it is 0. A comment is a command, too. All commands of a transcript run in one folder, with what
# golden/TOOL/inputs.sh makes there. A transcript passes if the commands print the same again.
#
# Environment: MH_GOLDEN=write  writes the transcripts anew; look at the difference before committing it
. "$(dirname "$0")/../../test/programs/run.sh"
past_libtool

# What varies is replaced by a word of its kind.
golden_filter() {
    sed -E -e "s|$scratch|<scratch>|g; s|$build|<build>|g; s|$top|<sources>|g" \
        -e 's/(mpix_[a-z_]+) [0-9]+\.[0-9]+\.[0-9]+[^ "<]*/\1 <version>/g' \
        -e 's/20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z/<date>/g' \
        -e 's/(no object of JSON) \(.*\)$/\1 (<why>)/; s/(manifest\.json, line [0-9]+): .*/\1: <why>/' \
        -e '/^mpix_[a-z_]+( [a-z]+)?: (ranks are not bound to cores|the node was busy: )/d'
}

# RANKS TOOL [OPTION]...: for transcripts. Launchers have something to say, too, which is left out.
on() {
    local status
    launch "$1" "$(path_of "$2")" "${@:3}" 2>"$scratch/launched"
    status=$?
    grep -a '^mpix_' "$scratch/launched" >&2
    return $status
}

for golden_tool in "$programs"/mpix_*; do
    eval "${golden_tool##*/}() { limited $(tap_quote "$(path_of "${golden_tool##*/}")") \"\$@\"; }"
done

golden_run() {      # COMMAND
    eval "$1" >"$scratch/out" 2>"$scratch/err" </dev/null
    golden_status=$?
    golden_filter <"$scratch/out"
    golden_filter <"$scratch/err" | sed 's/^/! /'
    [ $golden_status -eq 0 ] || echo "[$golden_status]"
}

# TRANSCRIPT: the same with what is printed now. Commands have variables of their own, whose names must be others.
golden_replay() {
    local golden_lines golden_line golden_command
    set -o pipefail
    mapfile -t golden_lines <"$1"
    for ((golden_line = 0; golden_line < ${#golden_lines[@]}; golden_line++)); do
        case ${golden_lines[golden_line]} in '$ '*) ;; *) continue ;; esac
        # Before a comment comes an empty line.
        case $golden_line:${golden_lines[golden_line]} in 0:*) ;; *:'$ # '*) echo ;; esac
        golden_command=${golden_lines[golden_line]#? }
        echo "${golden_lines[golden_line]}"
        while [[ ${golden_lines[golden_line + 1]-} = '> '* ]]; do
            golden_line=$((golden_line + 1))
            golden_command+=$'\n'${golden_lines[golden_line]#? }
            echo "${golden_lines[golden_line]}"
        done
        golden_run "$golden_command"
    done
}

check_golden() {    # TRANSCRIPT
    golden_replay "$1" >"$scratch/printed"
    if [ "${MH_GOLDEN-}" = write ]; then
        cat "$scratch/printed" >"$1"
    else
        diff -u --label wanted --label printed "$1" "$scratch/printed"
    fi
}

# TOOL...: a test for each transcript in the folder of the tool
golden() {
    local tool transcript name
    for tool in "$@"; do
        "$programs/$tool" --version >/dev/null 2>&1 ||
            { tap_skip "$tool: what it prints" "it was not built"; continue; }
        mkdir -p "$scratch/golden/$tool" && cd "$scratch/golden/$tool" || exit
        # shellcheck disable=SC1090 # the path is not a constant
        [ ! -e "$here/golden/$tool/inputs.sh" ] || . "$here/golden/$tool/inputs.sh"
        for transcript in "$here/golden/$tool"/*.txt; do
            name=$(basename "$transcript" .txt)
            name="$tool: ${name//_/ }"
            if [ "$formats" = csv ] && grep -q '^\$.*json' "$transcript"; then
                tap_skip "$name" "there is no Jansson library"
            else
                tap_check "$name" check_golden "$transcript"
            fi
        done
    done
}
