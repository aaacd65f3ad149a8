# SPDX-License-Identifier: BSD-3-Clause
#
# What the heat maps have in common: a row for each reduction, a column for each barrier before it, and harmonized runs.
plot=heatmap

# table|tell: the cells and all that is written beside them, or what they come to. Both for the mean of means and for
# the makespan. Ratios are those to the mean of the harmonized runs of the row.
heat_cells() {
    $awk -F, -v what="$1" "$read_csv$(<"$parts/heatmap.awk")" "$data"
}
table() { heat_cells table; }
tell() { heat_cells tell; }
