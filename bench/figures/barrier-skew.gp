eval page(900, 560)
set title title
eval values("ranks")
ranks = list
set xtics ()
set for [r in ranks] xtics add (r place(ranks, r))
set xrange [0.4:words(ranks) + 0.6]
set xlabel "processes"
set ylabel "exit skew: from the first to the last process to leave (µs)"
set logscale y
set format y "%g"
set key outside bottom center horizontal maxcols 3 height 1
at(scheme, shift) = strcol("release") eq scheme ? place(ranks, strcol("ranks")) + shift : NaN
us(name) = (column(name) < 1 ? 1 : column(name)) / 1000
schemes = "barrier harmonize"
functions = "MPI_Barrier MPIX_Harmonize"
plot for [i = 1:2] $table using (at(word(schemes, i), 0.2 * i - 0.3)):(us("p50_ns")):(us("p50_ns")):(us("p99_ns")) \
        with yerrorbars lw 3 pt 7 ps 1.2 lc rgb color(3 - i) title word(functions, i) . ": median, bar to 99 %", \
    for [i = 1:2] $table using (at(word(schemes, i), 0.2 * i - 0.3)):(us("p90_ns")) \
        with points pt 9 ps 1 lc rgb color(3 - i) title "90 %", \
    for [i = 1:2] $table using (at(word(schemes, i), 0.2 * i - 0.3)):(us("max_ns")) \
        with points pt 2 ps 1 lc rgb color(3 - i) title "maximum"
