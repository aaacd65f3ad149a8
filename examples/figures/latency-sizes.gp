eval page(1400, 560)
eval operations_in_panels
kinds = "harmonize barrier"
kind_titles = "harmonized 'after a barrier'"
x_column = "size_bytes"; y_column = "avg_ns"; kind = "release"; scale = 0.001
set multiplot layout 1, 3 title title
eval sizes_below
eval panel_keys
set ylabel "latency: mean of means (µs)"
set logscale y
eval draw_operations
unset multiplot
