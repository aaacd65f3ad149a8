eval page(900, 560)
set title title
eval values("clock")
names = list
by = "clock"; x_column = "time_s"; y_column = "share"
set xlabel "time of the run (s)"
set ylabel "calls in an order that cannot be (%)"
set yrange [-3:103]
eval key_below
eval draw_curves
