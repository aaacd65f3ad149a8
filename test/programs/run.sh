# shellcheck shell=bash
# Running a program of the examples and looking at how it ended, to be sourced. Takes $programs and $checks, where
# the installed ones and those of the checks are, and $scratch; expect_status calls complain.

# RANKS PROGRAM [OPTION]...: runs it, by itself where RANKS is "alone". Leaves $status, and the output in out and err.
run() {
    ranks=$1 program=$2
    shift 2
    command="$program $* ($ranks ranks)"
    case $program in check_*) path=$checks/$program ;; *) path=$programs/$program ;; esac
    if [ "$ranks" = alone ]; then
        "$path" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    else
        # The flags are words, and there may be none.
        # shellcheck disable=SC2086
        timeout 120 "${MPIEXEC:-mpiexec}" ${MPIEXEC_FLAGS-} -n "$ranks" "$path" "$@" \
            >"$scratch/out" 2>"$scratch/err" </dev/null
    fi
    status=$?
}

expect_status() {
    [ "$status" -eq "$1" ] || complain "exit status is not $1"
}
