eval page(1200, 540)
eval values("clock")
names = list
set multiplot layout 1, 2 title title
eval panel_keys
set xlabel "time (s)"
set ylabel "offset minus the first (ns)"
do for [y_column in "offset_ns residual_ns"] {
    set title y_column eq "offset_ns" ? "Offset from rank 0" : "Residual from a straight line"
    # A rank is told from another by its course. The color is that of the clock.
    plot for [i = 1:words(names)] $table using \
        (strcol("clock") eq word(names, i) ? column("time_s") : NaN):(column(y_column)) \
        with points ps 0.4 pt 7 lc rgb color(i) title word(names, i)
    set ylabel "residual (ns)"
}
unset multiplot
