eval page(1400, 560)
eval operations_in_panels
x_column = "size_bytes"; y_column = "ratio"
if (name eq "latency-sizes") {
    kinds = "harmonize barrier"
    kind_titles = "harmonized 'after a barrier'"
    y_column = "avg_ns"; kind = "release"; scale = 0.001
}
set multiplot layout 1, 3 title title
eval sizes_below
eval panel_keys
set logscale y
set ylabel "latency: mean of means (µs)"
if (name eq "latency-ratio") {
    set ylabel "latency after a barrier / harmonized"
    set logscale y 2
    set format y "%g"
    set yrange [*<0.5:2<*]
    set arrow from graph 0, first 1 to graph 1, first 1 nohead lw 1.5 lc rgb "#444444"
}
eval draw_operations
unset multiplot
