# TAP output for the test scripts, to be sourced.
#
# Environment: MPIX_TEST_QUICK=yes  run only the tests that are marked as quick (./quickstart check)
#              MPIX_TEST_ONLY=NAME  run only the test of this name
#              MPIX_TEST_TIMEOUT=S  how many seconds what a test starts may take (default 300: a machine may
#                                   be slow, and do much else)

# In each process, Open MPI looks for networks by libfabric, which takes up to a second. It chooses ob1 here anyway.
export OMPI_MCA_btl=${OMPI_MCA_btl-^ofi} OMPI_MCA_pml=${OMPI_MCA_pml-ob1}
# Open MPI 5 connects spawned processes by a network, which need not reach this machine itself.
export OMPI_MCA_btl_tcp_if_include=${OMPI_MCA_btl_tcp_if_include-lo}
# The job server of make check is not open here.
unset MAKEFLAGS MFLAGS

tap_passed=0
tap_failed=0
tap_skipped=0
tap_tier=full
# How to repeat the present test in the build directory. Scripts set it if a shorter command than make check does.
tap_again=

tap_limit_s=${MPIX_TEST_TIMEOUT:-300}

tap_number() {
    echo $((tap_passed + tap_failed + tap_skipped))
}

tap_ok() {          # NAME
    tap_passed=$((tap_passed + 1))
    echo "ok $(tap_number) - $1"
}

tap_count_failure() {   # NAME
    tap_failed=$((tap_failed + 1))
    echo "not ok $(tap_number) - $1"
}

tap_not_ok() {      # NAME [OUTPUT]
    tap_count_failure "$1"
    [ -z "${2-}" ] || printf '%s\n' "$2" | sed 's/^/#   /'
    echo "# again: ${tap_again:-$(tap_make "$1")}"
}

tap_skip() {        # NAME REASON
    tap_skipped=$((tap_skipped + 1))
    echo "ok $(tap_number) - $1 # SKIP $2"
}

skip_all() {        # REASON: the script ends
    echo "1..0 # SKIP $1"
    exit 0
}

# TEXT: as one word of the shell
tap_quote() {
    case $1 in
    '' | *[!A-Za-z0-9_./:=+,@%-]*) printf "'%s'\n" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")" ;;
    *) printf '%s\n' "$1" ;;
    esac
}

# NAME: the command that repeats a test of this script
tap_make() {
    tap_script=$(printf '%s\n' "$0" | sed -E 's,.*/((bench|common|trace)/test/.*),\1,; t; s,.*/((doc|test)/.*),\1,')
    echo "make check TESTS=$tap_script${tap_selecting:+ MPIX_TEST_ONLY=$(tap_quote "$1")}"
}

# COMMAND...: runs what could hang. After the time limit, it is ended with all that it started.
limited() {
    tap_begin_s=${SECONDS:-$(date +%s)} # bash counts them
    timeout -k 10 "$tap_limit_s" "$@"
    tap_status=$?
    case $tap_status in 124 | 137)
        [ $((${SECONDS:-$(date +%s)} - tap_begin_s)) -lt "$tap_limit_s" ] ||
            echo "took longer than $tap_limit_s s, so it was ended" >&2 ;;
    esac
    return $tap_status
}

# COMMAND...: runs a test that belongs to the quick check.
quick() {
    tap_tier=quick
    "$@"
    tap_tier=full
}

# NAME: whether this test is to run. A script that asks this asks it for each of its tests.
tap_selects() {
    tap_selecting=yes
    if [ -n "${MPIX_TEST_ONLY-}" ]; then
        [ "$1" = "$MPIX_TEST_ONLY" ]
    else
        [ "${MPIX_TEST_QUICK-}" != yes ] || [ $tap_tier = quick ]
    fi
}

# Passes if there is nothing to complain about.
tap_expect_empty() {    # NAME COMPLAINTS
    if [ -z "$2" ]; then tap_ok "$1"; else tap_not_ok "$1" "$2"; fi
}

# PAGE: what links to its headings end in
tap_headings() {
    "${AWK:-awk}" '/^```/ { quoted = !quoted } !quoted && sub(/^#+ /, "")' "$1" | tr '[:upper:]' '[:lower:]' |
        sed 's/[^a-z0-9_ -]//g; s/ /-/g'
}

# PAGE...: complains about links that lead nowhere.
tap_lost_links() {
    for tap_page in "$@"; do
        grep -oE '\]\([^)]+\)' "$tap_page" | sed 's/^](//; s/)$//; /:\/\//d' |
            while IFS='#' read -r tap_path tap_heading; do
                tap_target=${tap_path:+$(dirname "$tap_page")/}${tap_path:-$tap_page}
                # A house may be missing as a whole.
                case $tap_target in
                */bench/*) [ -e "${tap_target%%/bench/*}/bench" ] || continue ;;
                */common/*) [ -e "${tap_target%%/common/*}/common" ] || continue ;;
                */trace/*) [ -e "${tap_target%%/trace/*}/trace" ] || continue ;;
                esac
                [ -e "$tap_target" ] || echo "$tap_page: there is no $tap_target"
                [ -z "$tap_heading" ] || tap_headings "$tap_target" | grep -qxF -e "$tap_heading" ||
                    echo "$tap_page: $tap_target has no #$tap_heading"
            done
    done
}

# TEXT: the reason in it why something cannot run here
tap_reason_of() {
    printf '%s\n' "$1" | sed -n 's/^skip: *//p' | head -n 1
}

# WITH_HOSTS: test/hosts/with_hosts.sh. Prints why there can be no hosts here, if so.
hosts_problem() {
    tap_output=$("$1" 2 true 2>&1 </dev/null)
    [ $? -ne 77 ] || tap_reason_of "$tap_output"
}

# NAME STATUS OUTPUT: of a program that says "skip: REASON", with status 0 or 77, where it cannot run
tap_program() {
    tap_reason=$(tap_reason_of "$3")
    case $2 in
    77) tap_skip "$1" "${tap_reason:-no reason given}" ;;
    0) if [ -n "$tap_reason" ]; then tap_skip "$1" "$tap_reason"; else tap_ok "$1"; fi ;;
    *) tap_not_ok "$1" "$3
exit status $2" ;;
    esac
}

# PREFIX: the tests of another script, whose TAP is on standard input, become tests of this one.
tap_relay() {
    tap_count=0 tap_planned=none
    while IFS= read -r tap_line; do
        case $tap_line in ok* | 'not ok'*) tap_count=$((tap_count + 1)) ;; esac
        tap_test=${tap_line#*ok * - }
        case $tap_line in
        ok*'# SKIP'*)       tap_skip "$1: ${tap_test%% # SKIP*}" "${tap_test#*# SKIP }" ;;
        ok*)                tap_ok "$1: $tap_test" ;;
        'not ok'*)          tap_count_failure "$1: $tap_test" ;;
        1..0*)              tap_planned=0 && tap_skip "$1" "${tap_line#*# SKIP }" ;;
        1..*)               tap_planned=${tap_line#1..} ;;
        'Bail out!'*)       echo "$tap_line" && exit 1 ;;
        '#'*)               echo "$tap_line" ;;
        *' passed, '*)      ;;
        *)                  echo "# $tap_line" ;;
        esac
    done
    [ $tap_count = "${tap_planned%% *}" ] || tap_not_ok "$1: ends" "it ran $tap_count tests of $tap_planned"
}

# NAME FUNCTION [ARGUMENT]...: a test that passes if the function prints nothing, if the test is to run at all. If a
# signal ends the function, it fails.
tap_check() {
    tap_selects "$1" || return 0
    tap_name=$1
    shift
    tap_complaints=$("$@" 2>&1)
    tap_status=$?
    [ $tap_status -lt 128 ] || tap_complaints="$tap_complaints (it ends with status $tap_status)"
    tap_expect_empty "$tap_name" "$tap_complaints"
}

# REASON NAME FUNCTION [ARGUMENT]...: the same, but it is skipped if there is a reason
tap_check_unless() {
    tap_selects "$2" || return 0
    tap_reason=$1
    shift
    if [ -z "$tap_reason" ]; then tap_check "$@"; else tap_skip "$1" "$tap_reason"; fi
}

# CONDITION REASON NAME FUNCTION [ARGUMENT]...: the same, but it is skipped for this reason if the condition, which is a
# command, fails. The condition of a test that is not to run is not tried.
tap_check_if() {
    tap_selects "$3" || return 0
    tap_condition=$1 tap_reason=$2
    shift 2
    # shellcheck disable=SC2086
    ! $tap_condition >/dev/null 2>&1 || tap_reason=
    tap_check_unless "$tap_reason" "$@"
}

tap_done() {
    echo "1..$(tap_number)"
    echo "$tap_passed passed, $tap_failed failed, $tap_skipped skipped"
    [ $tap_failed -eq 0 ]
    exit
}
