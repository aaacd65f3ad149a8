eval page(1300, 480)
clock_titles = "'as captured' 'with one offset' 'converted'"
set multiplot layout 1, 3 title title
eval panel_keys
set xlabel "time of the run (s)"
set ylabel "one-way delay"
directions = "there back"
direction_titles = "'host 1 to host 2' 'host 2 to host 1'"
do for [k = 1:3] {
    clock = word("before_us one_offset_us converted_us", k)
    set title word(clock_titles, k)
    unit = word("1e6 1 1", k) + 0
    set ylabel word("'one-way delay (s)' 'one-way delay (us)' 'one-way delay (us)'", k)
    # Packets that waited for a processor are beyond.
    if (k == 3) { set yrange [0:200] } else { set yrange [*:*] }
    plot for [i = 1:2] $table using (strcol("direction") eq word(directions, i) ? column("time_s") : NaN): \
        (column(clock) / unit) with points pt 7 ps 0.2 lc rgb color(i) title word(direction_titles, i)
}
unset multiplot
