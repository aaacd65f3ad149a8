# shellcheck shell=bash
# Order statistics of the numbers on standard input, one a line, to be sourced. Without numbers both fail.
#
# Environment: AWK (default: awk)

# FRACTION: the nearest-rank quantile.
quantile() {
    sort -g | "${AWK:-awk}" -v fraction="$1" '
        { number[NR] = $1 }
        END {
            if (!NR) exit 1
            n = NR * fraction
            print number[n == int(n) ? n : int(n) + 1]
        }'
}

# The lower one of an even count.
median() { quantile 0.5; }
