#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Completion in bash: of each tool, all options that its help has and no others, and values that it takes.
. "$(dirname "$0")/../../test/programs/run.sh"
completions=$build/common/completions/mpix_harmonize
tools=$(basename -s .1 -- "$top"/*/doc/man/*.1)

commands_of() {     # TOOL: - if it has none
    case $1 in mpix_clock) echo list drift check record ;; *) echo - ;; esac
}

# WORD...: what bash offers for the last of these words, one a line. The shell has read nothing but the file.
complete_line() {
    bash --noprofile --norc -c '
        . "$0" && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && _mpix_harmonize && printf "%s\n" "${COMPREPLY[@]}"
        ' "$completions" "$@" | grep . | sort
}

# EXPECTED WORD...
expect_offer() {
    local expected=$1 offered
    shift
    offered=$(complete_line "$@" | tr '\n' ' ')
    [ "$offered" = "${expected:+$expected }" ] || echo "$*: offers '$offered', not '$expected'"
}

options_of() {      # TOOL: by its help, or those of its commands
    local command
    for command in $(commands_of "$1"); do
        # shellcheck disable=SC2086
        "$(path_of "$1")" ${command%-} --help </dev/null
    done | grep -oE '^ {2,6}(-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--.*' | sort -u
}

check_options() {   # TOOL
    local options
    options=$(options_of "$1" | tr '\n' ' ')
    [ -n "$options" ] || echo "no options in the help of $1"
    expect_offer "${options% }" "$1" --
    expect_offer "${options% }" mpiexec -n 2 "/some/where/$1.suffix" --
    expect_offer "--version" "$1" --vers
}

# TOOL: it takes all values that are offered, given at once.
check_values() {
    local line value command arguments=()
    [ "$1" != mpix_clock ] || return 0      # the values of one command are not those of another
    for line in $(bash --noprofile --norc -c '. "$0" && _mpix_harmonize_options "$1"' "$completions" "$1"); do
        for value in $(grep -o '=.*' <<<"$line" | tr '=,' '  '); do
            [ "$value/$formats" = json/csv ] || arguments+=("${line%%=*}" "$value")
        done
    done
    "$(path_of "$1")" "${arguments[@]}" --help 2>&1 >/dev/null </dev/null || echo "$1 refuses: ${arguments[*]}"
}

check_words() {
    expect_offer "csv" mpix_bench --format c
    expect_offer "csv" mpix_bench --format = c
    expect_offer "csv json table" mpix_bench --format =
    expect_offer "csv json table" mpiexec -n 2 mpix_osu allreduce -m 4 --format ''
    expect_offer "" mpix_bench --output ''
    expect_offer "csv otf2 perfetto" mpix_trace_convert --format ''
    expect_offer "global local" mpix_trace_convert --times ''
    expect_offer "" mpiexec --n
    expect_offer "check" mpiexec -n 2 mpix_clock c
    expect_offer "table" mpix_clock list --format t
    [ -x "$(path_of mpix_preload)" ] || return 0
    expect_offer "all world" mpix_preload --barriers-of ''
    expect_offer "" mpix_preload --barriers-of world ./program --
    expect_offer "--barriers-of" mpix_preload --quiet --b
    complete_line mpix_preload --quiet bas | grep -qx bash || echo "mpix_preload: does not offer a command"
}

check_names() {
    local name
    for name in $tools; do
        [ -x "$(path_of "$name")" ] || continue
        bash --noprofile --norc -c '. "$0"; complete -p "$1"' "$completions" "$name" 2>&1 |
            grep -q -- '-F _mpix_harmonize' || echo "$name is not completed"
    done
    bash --noprofile --norc -c 'COMP_WORDS=(mpix_bench.mpich); . "$0"; complete -p mpix_bench.mpich' "$completions" |
        grep -q -- '-F _mpix_harmonize' || echo "a tool with a suffix is not completed"
}

for tool in $tools; do
    name="$tool: its options"
    if [ ! -x "$(path_of "$tool")" ]; then
        tap_skip "$name" "it is not built"
    elif [ -z "$("$(path_of "$tool")" --help 2>/dev/null </dev/null)" ]; then
        tap_skip "$name" "it does not run by itself"
    else
        tap_check "$name" check_options "$tool"
        tap_check "$tool: values that it takes" check_values "$tool"
    fi
done
quick tap_check "values, files, programs, launchers" check_words
quick tap_check "names of tools" check_names
tap_done
