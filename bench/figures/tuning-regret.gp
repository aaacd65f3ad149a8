eval page(900, 560)
set title title
set xlabel "message size (bytes)"
set logscale x 2
set format x "%.0b%B"
set xtics 4, 8
eval key_below
set ylabel "slower than the fastest algorithm (%)"
set yrange [0:*]
ways = "'after a barrier' 'by the mean over ranks' harmonized 'harmonized for arrivals' 'with its arrivals'"
at(i) = strcol("way") eq word(ways, i) ? column("size_bytes") * (1 + (i - 3) * 0.06) : NaN
plot for [i = 1:5] $table using (at(i)):(column("lost_percent")) with points pt 5 + i ps 1.4 lc rgb color(i) \
    title word(ways, i)
