#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs in which one rank is late, at a known place and for a known time, in each way that ranks may wait: the first
# sentence of mpix_trace_report names the rank, the place and what it costs. MH_SEED draws the iterations.
. "$(dirname "$0")/../../test/programs/run.sh"
need_tool mpix_trace_report
[ -x "$programs/mpix_trace" ] || skip_all "mpix_trace was not built"
"$python" -c pass >/dev/null 2>&1 || skip_all "there is no Python 3"

launcher=$("${MPIEXEC:-mpiexec}" --version 2>&1)
case $launcher in *OpenRTE* | *'Open MPI'* | *PRRTE*) mpi=openmpi ;; *) mpi=mpich ;; esac

# One process of Python judges all kinds, as each start of it takes a while.
coproc judges { cd "$scratch" && PYTHONDONTWRITEBYTECODE=1 exec "$python" "$here/check_planted.py" - 2>&1; }
# shellcheck disable=SC2154 # set by coproc
judges_id=$judges_PID
exec 7>&"${judges[1]}" 8<&"${judges[0]}"
eval "exec ${judges[1]}>&-"

# KIND STATE RANKS HOW
judge() {
    local line launch
    # shellcheck disable=SC2086
    launch=$(printf '%q ' "${MPIEXEC:-mpiexec}" ${MPIEXEC_FLAGS-} -n "$3" "$programs/mpix_trace" -o @TRACE@ \
        "$checks/planted")
    printf '%q ' "$programs/mpix_trace_report" "$launch" "$3" "$1" "$2" $((${MH_SEED:-1} % $3)) 30 \
        "${MH_SEED:-1}" "$4" >&7
    echo >&7
    while IFS= read -r line <&8; do
        [ "$line" != "done" ] || return 0
        printf '%s\n' "$line"
    done
    echo "check_planted.py ends"
}

# The programs run beside nothing else, or other ranks are late, too.
while IFS='|' read -r kind state lacks <&3; do
    reason=${lacks:+"this MPI library has no $lacks"}
    [ -n "$reason" ] || reason=$(sed -n "s/^$kind|$mpi|//p" "$here/planted_not_yet.txt")
    if [ -n "$reason" ]; then
        ! tap_selects "mpix_trace_report: planted in $kind" || tap_skip "mpix_trace_report: planted in $kind" "$reason"
        continue
    fi
    # The recorder sees what is between calls as time alone, so some ranks compute, and others sleep.
    case $kind in
    recv | allreduce | send_big | first | late_post | reduce) tier=quick how=compute ;;
    test* | *overlap* | *ssend* | in_call | begin | end) tier='' how=compute ;;
    *) tier='' how=sleep ;;
    esac
    $tier tap_check "mpix_trace_report: planted in $kind" judge "$kind" "$state" 2 $how
    # On few processors, four ranks sleep, too.
    case $kind in recv | waitall | tree | allreduce | overlap_iallreduce | bcast | gather)
        tap_check "mpix_trace_report: planted in $kind of 4 ranks" judge "$kind" "$state" 4 sleep ;;
    esac
done 3< <("$checks/planted")
exec 7>&-
wait "$judges_id" || tap_not_ok "mpix_trace_report: the process that judges" "it ends with $?"

# KIND|STATE of the table in the page, with [i]NAME[_init] for three kinds.
list_page() {
    awk -F ' *[|] *' '
        function list(kind) { print kind "|" ($3 == "any" ? "" : $3) }
        /^[|] others wait in / { is_within = 1; next }
        !/^[|]/ { is_within = 0 }
        !is_within || /^[|]-/ { next }
        {
            count = split($4, kinds, /[`, ]+/)
            for (i = 1; i <= count; i++) {
                has_forms = sub(/^\[i\]/, "", kinds[i]) && sub(/\[_init\]$/, "", kinds[i])
                if (kinds[i] != "")
                    list(kinds[i])
                if (has_forms) {
                    list("i" kinds[i])
                    list(kinds[i] "_init")
                }
            }
        }' "$top/trace/doc/tracing.md" | sort
}
check_page() { diff <(list_page) <("$checks/planted" | cut -d '|' -f 1-2 | sort); }
quick tap_check "trace/doc/tracing.md has all kinds, by their states" check_page
[ "$(tap_number)" -ge 40 ] || [ "${MPIX_TEST_QUICK-}" = yes ] || [ -n "${MPIX_TEST_ONLY-}" ] ||
    tap_not_ok "mpix_trace_report: number of kinds" "there are $(tap_number)"
tap_done
