eval map_begin
width = 450 + 80 * columns
height = 230 + 36 * rows
eval page(width, height)
set xrange [0.5:columns + 0.5]
set yrange [0.5:rows + 0.5]
set palette defined (0 "#F7F7F7", 1 "#FDDBC7", 2 "#F4A582", 3 "#B2182B")
set cbrange [0:3]
set cbtics ("1" 0, "2" 1, "4" 2, "8 and more" 3)
set cblabel "time / time of the fastest algorithm"
set lmargin at screen 260.0 / width
set rmargin at screen 1 - 170.0 / width
set tmargin at screen 1 - 90.0 / height
set bmargin at screen 120.0 / height
set title title offset 0, 1
set label 1 "from the last arrival to the last exit (µs)   ★: the fastest algorithm of an operation" \
    at screen 20.0 / width, graph 1 offset character 0, 0.8 left font cell_font . " bold"
eval "plot " . map_cells . ", " . column_names \
    . ", $table using (0.5):(is('line') ? column('y') : NaN):(columns):(0) with vectors nohead lw 2 lc rgb '#444444'"
