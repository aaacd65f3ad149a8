# bash                                                                       -*- shell-script -*-
# SPDX-License-Identifier: BSD-3-Clause
# Completion of the options of libmpix_harmonize's tools, after a launcher too:
#
#   complete -o bashdefault -o default -F _mpix_harmonize mpiexec
#
# What follows the functions here was made from the manual pages. _mpix_harmonize_options prints the options of a tool;
# one that takes a value has = behind it, and then the values that are known, separated by commas.

# Sets tool and first: the last of these tools on the line before the present word, and where its arguments begin.
_mpix_harmonize_find_tool() {
    local i name
    tool='' first=0
    for ((i = 0; i < COMP_CWORD; i++)); do
        name=${COMP_WORDS[i]##*/}
        case $name in
        mpix_osu*) tool=mpix_bench first=$((i + 1)) ;;
        # Without a suffix that configure gave to the programs.
        mpix_*) tool=${name%%[!a-z_]*} first=$((i + 1)) ;;
        esac
        # What follows these and their options is a program of its own.
        case $tool in mpix_preload | mpix_trace) break ;; esac
    done
}

# OPTION OPTIONS: sets values to what may follow the option; false if it takes no value.
_mpix_harmonize_find_values() {
    local option
    for option in $2; do
        case $option in "$1="*) values=${option#*=}; return 0 ;; esac
    done
    return 1
}

# OPTIONS: whether a program is named already, to which the present word belongs.
_mpix_harmonize_has_program() {
    local i values
    for ((i = first; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        -*) ! _mpix_harmonize_find_values "${COMP_WORDS[i]}" "$1" || i=$((i + 1)) ;;
        =) i=$((i + 1)) ;;
        *) return 0 ;;
        esac
    done
    return 1
}

_mpix_harmonize() {
    local tool first options values word=${COMP_WORDS[COMP_CWORD]} before=$((COMP_CWORD - 1))
    COMPREPLY=()
    _mpix_harmonize_find_tool
    [ "$first" -gt 0 ] || return 0
    options=$(_mpix_harmonize_options "$tool")
    case $tool in mpix_preload | mpix_trace) ! _mpix_harmonize_has_program "$options" || return 0 ;; esac
    # bash takes = for a word of its own.
    [ "$word" != = ] || word=''
    [ "${COMP_WORDS[before]}" != = ] || before=$((before - 1))
    [ "${COMP_WORDS[COMP_CWORD]}" != = ] || before=$((COMP_CWORD - 1))
    if _mpix_harmonize_find_values "${COMP_WORDS[before]}" "$options"; then
        mapfile -t COMPREPLY < <(compgen -W "${values//,/ }" -- "$word")
    elif [ "${word:0:1}" = - ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(sed 's/=[^ ]*//' <<<"$options" | sort -u)" -- "$word")
    elif [ "$tool" = mpix_preload ] || [ "$tool" = mpix_trace ]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$word")
    elif [ "$tool" = mpix_clock ] && [ "$first" -eq "$COMP_CWORD" ]; then
        mapfile -t COMPREPLY < <(compgen -W "list drift check record" -- "$word")
    fi
}

