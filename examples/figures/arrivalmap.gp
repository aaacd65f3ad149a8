set border 0
unset grid
unset xtics
unset ytics
unset key
stats $table using (strcol("kind") eq "column" ? column("x") : NaN) nooutput
columns = STATS_max
stats $table using (strcol("kind") eq "row" ? column("y") : NaN) nooutput
rows = STATS_max
width = 420 + 80 * columns
height = 230 + 36 * rows
eval page(width, height)
set xrange [0.5:columns + 0.5]
set yrange [0.5:rows + 0.5]
set palette defined (0 "#F7F7F7", 1 "#FDDBC7", 2 "#F4A582", 3 "#B2182B")
set cbrange [0:3]
set cbtics ("1" 0, "2" 1, "4" 2, "8 and more" 3)
set cblabel "time / the least of the column"
set lmargin at screen 230.0 / width
set rmargin at screen 1 - 170.0 / width
set tmargin at screen 1 - 90.0 / height
set bmargin at screen 120.0 / height
cell_font = sprintf(",%g", points(10.5))
set title title offset 0, 1
set label 1 "from the last arrival to the last exit (µs)   ★: the least of an operation" at graph 0, 1 \
    offset character 0, 0.8 left font cell_font . " bold"
is(what) = strcol("kind") eq what
shade(log2) = log2 > 3 ? 3 : log2
plot $table using (is("cell") ? column("x") : NaN):(column("y")):(column("x") - 0.5):(column("x") + 0.5): \
        (column("y") - 0.5):(column("y") + 0.5):(shade(column("log2"))) \
        with boxxyerror fs solid 1 border lc rgb "#ffffff" fc palette, \
    $table using (is("cell") && column("log2") < 2.3 ? column("x") : NaN):(column("y")):(strcol("text")) \
        with labels font cell_font tc rgb "#000000", \
    $table using (is("cell") && column("log2") >= 2.3 ? column("x") : NaN):(column("y")):(strcol("text")) \
        with labels font cell_font tc rgb "#ffffff", \
    $table using (is("row") ? 0.5 : NaN):(column("y")):(strcol("text")) \
        with labels right offset character -1, 0 font cell_font, \
    $table using (is("column") ? column("x") : NaN):(0.5):(strcol("text")) \
        with labels right rotate by 35 offset character 0.5, -0.7 font cell_font
