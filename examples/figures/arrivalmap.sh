# SPDX-License-Identifier: BSD-3-Clause
#
# What the maps of arrival patterns have in common: a row for each operation and algorithm, a column for each pattern.
# Times are from the last arrival to the last exit, means over runs. Sourced by figures.
plot=arrivalmap

# US ALGORITHMS: measures by measure_cell OPERATION ALGORITHM RUN PATTERNS, which the figure defines. The patterns are
# all shapes that need no number, with this magnitude in us; with --quick, two. ALGORITHMS OPERATION lists algorithms.
measure_map() {
    local operation algorithm run shape patterns=
    for shape in ascending last-late $(amount "descending first-late half-late bell exponential random" ""); do
        patterns+=,$shape:$1
    done
    for operation in reduce allreduce bcast alltoall; do
        for algorithm in $("$2" $operation); do
            for run in $(amount "1 2 3" 1); do
                progress "$operation $algorithm, run $run"
                measure_cell $operation "$algorithm" "$run" "${patterns#,}" || return
            done
        done
    done
}

# The cells, and the order of the algorithms with each pattern, and in how many runs it is the same.
table() { map_text table; }
tell() { map_text tell; }
