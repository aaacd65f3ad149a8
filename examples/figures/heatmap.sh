# SPDX-License-Identifier: BSD-3-Clause
#
# What the heat maps have in common: a row for each reduction, a column for each barrier before it, and harmonized runs.
plot=heatmap

# The cells and all that is written beside them, and what they come to. Both for the mean of means and for
# the makespan. Ratios are those to the mean of the harmonized runs of the row.
table() { map_text table; }
tell() { map_text tell; }
