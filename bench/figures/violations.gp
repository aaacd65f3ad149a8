eval page(900, 560)
set title title
eval values("clock")
names = list
titles = "'local clocks, set at the start' 'a line from start to end' 'the global clock'"
set xlabel "time of the run (s)"
set ylabel "calls in an order that cannot be (%)"
set yrange [-3:103]
eval key_below
# Means of each of 25 parts of the run.
stats $table using (column("enter_ns") / 1e9) nooutput
part_s = STATS_max / 25 * 1.0001
middle(dummy) = (floor(column("enter_ns") / 1e9 / part_s) + 0.5) * part_s
plot for [i = 1:words(names)] $table using (strcol("clock") eq word(names, i) ? middle(0) : NaN): \
    (100 * column("wrong")) smooth unique with linespoints lw 2 ps 0.6 pt 7 lc rgb color(i) title word(titles, i)
