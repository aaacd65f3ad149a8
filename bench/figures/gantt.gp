eval page(1300, 620)
eval values("rank")
ranks = list
# Clocks, the names of their panels.
clock_titles = "'local clocks, set at the start' 'a line from start to end' 'the global clock'"
array labels[16]
do for [i = 1:16] { labels[i] = "" }
label(row, time_s) = (labels[row + 1] = sprintf("%.1f", time_s), 0)
stats $table using (label(column("row"), column("time_s"))) nooutput
set multiplot layout 1, 3 title title
eval panel_keys
set xlabel "time since rank " . word(ranks, 1) . " came (us)"
set ylabel "time of the call in the run (s)"
set yrange [-0.7:15.7]
set ytics ()
do for [i = 1:16] { set ytics add (labels[i] eq "" ? " " : labels[i] i - 1) }
set style fill solid 0.85 noborder
thickness = 0.8 / words(ranks)
middle(i) = column("row") - 0.4 + thickness * (i - 0.5)
do for [k = 1:3] {
    clock = word("start linear global", k)
    set title word(clock_titles, k)
    plot for [i = 1:words(ranks)] $table using \
        (strcol("clock") eq clock && strcol("rank") eq word(ranks, i) ? column("enter_us") : NaN):(middle(i)): \
        (column("enter_us")):(column("leave_us")):(middle(i) - thickness / 2):(middle(i) + thickness / 2) \
        with boxxyerror lc rgb color(i) title "rank " . word(ranks, i)
    set ylabel " "
}
unset multiplot
