eval page(1300, 560)
eval values("age")
ages = list
eval values("sync")
names = list
set multiplot layout 1, words(ages) title title
eval panel_keys
set xlabel "duration of the synchronization (ms)"
set ylabel "maximum error of a rank (ns)"
set logscale xy
set format x "%g"
set format y "%.0f"
panel_by = "age"
do for [panel in ages] {
    set title panel . " s after the synchronization"
    plot for [i = 1:words(names)] $table using \
        (of_panel(0) && strcol("sync") eq word(names, i) ? column("took_ms") : NaN):(column("error_ns")) \
        with points pt 3 + i ps 1.2 lw 1.5 lc rgb color(i) title word(names, i)
}
unset multiplot
