# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# OSU's options in osu_options.txt, to be sourced after run.sh. Sets $table, and makes $scratch/listed: the programs
# that this MPI library has.
table=$here/osu_options.txt

run alone mpix_osu --list
cut -d ' ' -f 1 "$scratch/out" | sort >"$scratch/listed"

# Whether the MPI library has those of MPI-4.
has_sessions() { grep -q 'SUITE_HAS_SESSIONS=1' "$build/Makefile"; }

# CLASS: its programs that this MPI library has
programs_of() {
    sed -n "s/^class $1 [^ ]*: //p" "$table" | tr ' ' '\n' | grep -Fx -f "$scratch/listed"
}

# CLASS: its lines of options
options_for() {
    awk -F'|' -v class="$1" '
        /^set / { split($0, part, ": ")
                  name = substr(part[1], 5)
                  count = split(part[2], members, " ")
                  for (i = 1; i <= count; i++) in_set[name, members[i]] = 1
                  next }
        /^(#|class|$)/ { next }
        { count = split($1, names, " ")
          for (i = 1; i <= count; i++)
              if (names[i] == class || (names[i] == "all" && class != "startup") ||
                  (names[i], class) in in_set) {
                  print
                  break
              } }' "$table"
}

# NAME EXAMPLE RESULT...: of examples that work, all at once
try_options() {
    local ranks=alone words pattern usual=(-m 8:8 -i 3 -x 0 --release barrier)
    read -r -a words <<<"$2"
    case $1:$3 in *lat*:works* | *bw*:works*) ranks=2 ;; esac
    case $3 in "works with sessions"*) ranks=${ranks/alone/1} ;; esac # Open MPI 5 asks its launcher
    case $1 in init | hello) usual=() ;; esac
    run $ranks mpix_osu "$1" "${usual[@]}" "${words[@]}"
    case $3 in
    works*)
        expect_status 0
        for pattern in "${@:3}"; do
            grep -qE -e "${pattern#*: }" "$scratch/out" || complain "no line has: ${pattern#*: }"
        done ;;
    *)
        expect_status 2
        [ ! -s "$scratch/out" ] || complain "a refusal prints nothing to stdout"
        expect_line "${3#*: }" ;;
    esac
}

# Examples that work and are of other letters are tried together. What is refused is tried by itself, and what ends a
# program or begins it otherwise.
check_class() {     # CLASS
    local names name letter example result letters number=0 trial patterns
    local tried=() examples=() results=()   # of each trial: its letters, options, and patterns in lines
    mapfile -t names < <(programs_of "$1")
    options_for "$1" >"$scratch/options"
    while IFS='|' read -r _ letter example result; do
        has_sessions || result=${result/#works with sessions:*/instead: no sessions (those of MPI-4), leave it out}
        trial=0
        case $letter:$result in
        -[hvI]:* | *:instead*) trial=${#tried[@]} ;;
        *) while [[ ${tried[trial]-} = *["${letter#-}!"]* ]]; do trial=$((trial + 1)); done ;;
        esac
        case $letter:$result in -[hvI]:* | *:instead*) letter=! ;; esac
        tried[trial]=${tried[trial]-}${letter#-}
        examples[trial]="${examples[trial]-} $example"
        results[trial]="${results[trial]-}$result"$'\n'
    done <"$scratch/options"
    # Each program has some of them.
    for ((number = 0; number < ${#tried[@]} || number < ${#names[@]}; number++)); do
        trial=$((number % ${#tried[@]}))
        name=${names[number % ${#names[@]}]}
        # With MPICH before 4.3, these refuse derived datatypes.
        [[ ! $name:${examples[trial]} =~ ^(allgather|gather|scatter)_persistent:.*\ -(D|-ddt) ]] ||
            name=alltoall_persistent
        mapfile -t patterns < <(printf '%s' "${results[trial]}")
        try_options "$name" "${examples[trial]}" "${patterns[@]}"
    done
    letters=$(sed -n "s/^class $1 \([^ :]*\): .*/\1/p" "$table" | head -n 1)
    for ((number = 0; number < ${#letters}; number++)); do
        grep -q "^[^|]*|-${letters:number:1}|" "$scratch/options" || echo "no example of -${letters:number:1}"
    done
}

# SEVERAL: yes for classes whose programs take several ranks, no for the others
check_classes() {
    local class classes several tier
    several=" $(sed -n 's/^set several: //p' "$table" | xargs) "
    mapfile -t classes < <(sed -n 's/^class \([a-z]*\) .*/\1/p' "$table" | uniq)
    for class in "${classes[@]}"; do
        case $several in *" $class "*) [ "$1" = yes ] || continue ;; *) [ "$1" = no ] || continue ;; esac
        case $class in rate | rooted | ireduction) tier=quick ;; *) tier= ;; esac
        if [ -z "$(programs_of "$class")" ]; then
            tap_skip "OSU's options of class $class" "the MPI library has none of its operations"
        else
            $tier tap_check "OSU's options of class $class" check_class "$class"
        fi
    done
}
