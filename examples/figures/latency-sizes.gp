eval page(1400, 560)
eval values("algorithm")
names = list
eval values("operation")
operations = list
eval pairs("operation", "algorithm")
in_panel = list
kinds = "harmonize barrier"
kind_titles = "harmonized 'after a barrier'"
x_column = "size_bytes"; y_column = "avg_ns"; by = "algorithm"; kind = "release"; panel_by = "operation"; scale = 0.001
set multiplot layout 1, 3 title title
eval sizes_below
eval panel_keys
set ylabel "latency: mean of means (µs)"
set logscale y
do for [panel in "bcast reduce allreduce"] {
    set title panel
    eval place(operations, panel) > 0 ? draw_curves : draw_nothing
}
unset multiplot
