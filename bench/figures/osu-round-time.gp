eval page(900, 560)
set title title
eval sizes_below
eval key_below
set ylabel "latency: mean of means (µs)"
set logscale y
schemes = "barrier round-time harmonize"
titles = "'MPI_Barrier (OSU scheme)' Round-Time MPIX_Harmonize"
# Beside each other, so that bars do not hide bars.
at(i) = strcol("release") eq word(schemes, i) ? column("size_bytes") * (1 + (i - 2) * 0.04) : NaN
plot for [i = 1:3] $table using (at(i)):(column("mean_us")):(column("min_us")):(column("max_us")) \
    with yerrorlines lw 2 pt 5 + i lc rgb color(i) title word(titles, i)
