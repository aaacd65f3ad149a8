eval page(1000, 600)
set title title
eval values("label")
names = list
set xtics () rotate by 35 right
set for [i = 1:words(names)] xtics add (word(names, i) i)
set xrange [0.3:words(names) + 0.7]
set ylabel "from the first to the last process to start (ns)"
set logscale y
set format y "%.0f"
set boxwidth 0.5
set key bmargin center horizontal height 1
set xlabel "synchronization: barriers of mpix_bench, times, barriers of the MPI library"
at(dummy) = place(names, strcol("label"))
plot $table using (at(0)):(column("p25")):(column("p5")):(column("p95")):(column("p75")) \
        with candlesticks fs solid 0.35 lw 1.5 lc rgb color(1) \
        title "half of all calls, and nine in ten" whiskerbars 0.5, \
    $table using (at(0)):(column("p50")):(column("p50")):(column("p50")):(column("p50")) \
        with candlesticks lw 3 lc rgb "#000000" title "median"
