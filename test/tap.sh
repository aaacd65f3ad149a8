# TAP output for the test scripts, to be sourced.

tap_passed=0
tap_failed=0
tap_skipped=0

tap_number() {
    echo $((tap_passed + tap_failed + tap_skipped))
}

tap_ok() {          # NAME
    tap_passed=$((tap_passed + 1))
    echo "ok $(tap_number) - $1"
}

tap_not_ok() {      # NAME [OUTPUT]
    tap_failed=$((tap_failed + 1))
    echo "not ok $(tap_number) - $1"
    [ -z "${2-}" ] || printf '%s\n' "$2" | sed 's/^/#   /'
}

tap_skip() {        # NAME REASON
    tap_skipped=$((tap_skipped + 1))
    echo "ok $(tap_number) - $1 # SKIP $2"
}

# Passes when there is nothing to complain about.
tap_expect_empty() {    # NAME COMPLAINTS
    if [ -z "$2" ]; then tap_ok "$1"; else tap_not_ok "$1" "$2"; fi
}

tap_done() {
    echo "1..$(tap_number)"
    echo "$tap_passed passed, $tap_failed failed, $tap_skipped skipped"
    [ $tap_failed -eq 0 ]
    exit
}
