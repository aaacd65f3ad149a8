eval map_begin
# eval text_of("KIND", PANEL): list is what rows of this kind say.
text_of(what, p) = sprintf("list = ''; stats $table using (strcol('kind') eq '%s' && strcol('panel') eq '%s' ? " \
    . "note(strcol('text')) : 0) nooutput", what, p)
eval text_of("harmless", "")
harmless = word(list, 1)
array base[2]
do for [i = 1:2] {
    eval text_of("base", "" . i)
    base[i] = words(list) > 0 ? word(list, 1) : ""
}
panels = base[2] eq "" ? 1 : 2
row_pixels = rows < 4 ? 144 / rows : 36
top = 92
between = 70
bottom = 136
height = top + bottom + panels * rows * row_pixels + (panels - 1) * between
width = 480 + 72 * columns
eval page(width, height)
margin_of(pixels) = 1 - pixels / real(height)

set xrange [0.5:columns + 2.8]
set yrange [0.5:rows + 0.5]
set palette defined (-3 "#2166AC", -1.5 "#92C5DE", 0 "#F7F7F7", 1.5 "#F4A582", 3 "#B2182B")
set cbrange [-3:3]
set cbtics ("1/8 ▼" -3, "1/4" -2, "1/2" -1, "1" 0, "2" 1, "4" 2, "8 ▲" 3)
small = sprintf(",%g", points(9.5))
set lmargin at screen 150.0 / width
set rmargin at screen 1 - 175.0 / width
set multiplot title title
do for [p = 1:panels] {
    panel = "" . p
    begin = top + (p - 1) * (rows * row_pixels + between)
    set tmargin at screen margin_of(begin)
    set bmargin at screen margin_of(begin + rows * row_pixels)
    unset label
    set label 1 (p == 1 ? "mean of means (µs)" : "makespan: first start to last end (µs)") \
        at graph 0, 1 offset character 0, (p == 1 ? 2.1 : 0.8) left font cell_font . " bold"
    set label 2 "max / min" at columns + 1.7, rows + 0.5 offset character 0, 1.7 center font small
    set label 3 "barriers" at columns + 1.1, rows + 0.5 offset character 0, 0.7 center font small
    set label 4 "harmonized" at columns + 2.3, rows + 0.5 offset character 0, 0.7 center font small
    if (p == panels) {
        set label 5 "Each latency is within 5 % of the harmonized one after: " . harmless \
            . ".   ▲ ▼: off the scale" at screen 0.02, screen 16.0 / height left font cell_font
    }
    set label 6 "reduction" at 0.5, rows + 0.5 offset character -1, 0.7 right font small
    set cblabel "reported / " . base[p]
    eval "plot " . map_cells . ", " . (p == panels ? column_names : "NaN notitle") . ", " \
        . texts("is('heading') && p == 1", x, "rows + 0.5", "small center offset character 0, 0.7") . ", " \
        . texts("is('barriers')", "columns + 1.1", y, "cell_font tc rgb '#B2182B'") . ", " \
        . texts("is('harmonized')", "columns + 2.3", y, "cell_font tc rgb '#006400'") . ", " \
        . "$table using (is('line') ? column('x') : NaN):(0.5):(0):(rows) with vectors nohead lw 2 lc rgb '#444444'"
}
unset multiplot
