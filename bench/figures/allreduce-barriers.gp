eval page(1200, 560)
set title title
eval values("label")
names = list
eval values("size_bytes")
sizes = list
width = 0.85 / words(names)
set xtics ()
set for [s in sizes] xtics add (s place(sizes, s))
set xrange [0.4:words(sizes) + 0.6]
set xlabel "message size (bytes)"
set ylabel "latency: mean of means (µs)"
set yrange [0:*]
set key outside right top vertical
shift(i) = (i - (words(names) + 1) / 2.0) * width
at(i) = strcol("label") eq word(names, i) ? place(sizes, strcol("size_bytes")) + shift(i) : NaN
plot for [i = 1:words(names)] $table using (at(i)):(column("avg_us")):(width * 0.92) with boxes \
    fs pattern (i > 10 ? 1 : 3) lc rgb color(i) title word(names, i)
