eval page(1300, 560)
eval values("age_ns")
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
panel_by = "age_ns"
# Some durations are below the digits shown.
at_least(number, least) = number < least ? least : number
error_ns(dummy) = at_least(column(strcol("true_ns") eq "" ? "max_ns" : "true_ns"), 1)
do for [panel in ages] {
    set title sprintf("%g s after the synchronization", panel / 1e9)
    plot for [i = 1:words(names)] $table using \
        (of_panel(0) && strcol("sync") eq word(names, i) ? at_least(column("took_ns") / 1e6, 0.001) : NaN): \
        (error_ns(0)) \
        with points pt 3 + i ps 1.2 lw 1.5 lc rgb color(i) title word(names, i)
}
unset multiplot
