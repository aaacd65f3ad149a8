eval page(1300, 800)
eval operations_in_panels
kinds = "harmonize barrier"
kind_titles = "harmonized 'after a barrier'"
x_column = "ranks"; kind = "release"; scale = 0.001
eval values("ranks")
eval ranks_below
set multiplot layout 2, 3 title title
eval panel_keys
set logscale y
do for [y_column in "avg_ns max_mean_ns"] {
    set ylabel y_column eq "avg_ns" ? "mean of means (µs)" : "largest of the means (µs)"
    eval draw_operations
}
unset multiplot
