eval page(1400, 560)
eval values("algorithm")
names = list
eval values("operation")
operations = list
eval pairs("operation", "algorithm")
in_panel = list
x_column = "size_bytes"; y_column = "ratio"; by = "algorithm"; panel_by = "operation"
set multiplot layout 1, 3 title title
eval sizes_below
eval panel_keys
set ylabel "latency after a barrier / harmonized"
set logscale y 2
set format y "%g"
set yrange [*<0.5:2<*]
set arrow from graph 0, first 1 to graph 1, first 1 nohead lw 1.5 lc rgb "#444444"
do for [panel in "bcast reduce allreduce"] {
    set title panel
    eval place(operations, panel) > 0 ? draw_curves : draw_nothing
}
unset multiplot
