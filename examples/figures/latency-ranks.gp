eval page(1300, 800)
eval values("algorithm")
names = list
eval values("operation")
operations = list
eval pairs("operation", "algorithm")
in_panel = list
kinds = "harmonize barrier"
kind_titles = "harmonized 'after a barrier'"
x_column = "ranks"; by = "algorithm"; kind = "release"; panel_by = "operation"; scale = 0.001
eval values("ranks")
eval ranks_below
set multiplot layout 2, 3 title title
eval panel_keys
set logscale y
do for [y_column in "avg_ns max_mean_ns"] {
    set ylabel y_column eq "avg_ns" ? "mean of means (µs)" : "largest of the means (µs)"
    do for [panel in "bcast reduce allreduce"] {
        set title panel
        eval place(operations, panel) > 0 ? draw_curves : draw_nothing
    }
}
unset multiplot
