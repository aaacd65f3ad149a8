eval page(1300, 480)
array columns[3] = ["before_us", "one_offset_us", "converted_us"]
array clocks[3] = ["as captured", "with one offset", "converted"]
# Packets that waited for a processor are beyond the last one.
array ranges[3] = ["[*:*]", "[*:*]", "[0:200]"]
array units[3] = [1e6, 1, 1]
directions = "there back"
direction_titles = "'host 1 to host 2' 'host 2 to host 1'"
set multiplot layout 1, 3 title title
eval panel_keys
set xlabel "time of the run (s)"
do for [k = 1:3] {
    set title clocks[k]
    set ylabel "one-way delay (" . (units[k] == 1 ? "us" : "s") . ")"
    eval "set yrange " . ranges[k]
    plot for [i = 1:2] $table using (strcol("direction") eq word(directions, i) ? column("time_s") : NaN): \
        (column(columns[k]) / units[k]) with points pt 7 ps 0.2 lc rgb color(i) notitle, \
        for [i = 1:2] NaN with points pt 7 ps 0.6 lc rgb color(i) title word(direction_titles, i)
}
unset multiplot
