# shellcheck shell=bash
# What measurements of several launches share, to be sourced: launches of two processes, and order statistics of the
# numbers on standard input, one a line, which fail without numbers. Sets $source_dir, the script's folder; $tests; and
# $scratch, a folder that goes when the script ends.
#
# Environment: AWK (default: awk), MPIEXEC, MPIEXEC_FLAGS
set -u -o pipefail
export LC_ALL=C

source_dir=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
awk=${AWK:-awk}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
# If there are processors enough, each process has one for itself.
pin=()
[ "$(nproc)" -lt 2 ] || pin=(--bind-to core)

# PROGRAM [ARGUMENT]...
launch() {
    # shellcheck disable=SC2086 # flags are words
    "${MPIEXEC:-mpiexec}" ${MPIEXEC_FLAGS-} "${pin[@]}" -n "${ranks:-2}" "$@" </dev/null
}

# FRACTION: the nearest-rank quantile.
quantile() {
    sort -g | $awk -v fraction="$1" '
        { number[NR] = $1 }
        END {
            if (!NR) exit 1
            n = NR * fraction
            print number[n == int(n) ? n : int(n) + 1]
        }'
}

# The lower one of an even count.
median() { quantile 0.5; }
