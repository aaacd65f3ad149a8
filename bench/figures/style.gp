# What all charts of mpix_figures share. A chart follows it; what is written before both are name, title, and $table,
# in CSV.

if (!exists("format")) format = "svg"
if (!exists("file")) file = name . "." . format

# eval page(WIDTH, HEIGHT). Terminals differ in how large a point is.
page(w, h) = sprintf("set terminal %s noenhanced size %d, %d font 'DejaVu Sans,%g' background '#ffffff'", \
    format eq "png" ? "pngcairo" : "svg", w, h, points(10.5)) . "; if (file ne '') set output file"
points(size) = format eq "png" ? size : size * 4 / 3.0

set encoding utf8
set datafile separator comma
set datafile columnheaders
set datafile missing NaN
set border 3 lc rgb "#444444"
set grid lc rgb "#dddddd" lt 1 lw 0.7
set tics nomirror
set key Left reverse samplen 2.5 spacing 1.1

# Colors that those who do not see red and green tell apart, too.
array colors[10] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F", "#8C564B", \
    "#999933"]
color(i) = colors[(i - 1) % 10 + 1]

# eval values("COLUMN"): list is what stands in that column, each value once, as words. Before set multiplot.
note(s) = (strstrt(list, '"' . s . '"') > 0 ? 0 : (list = list . '"' . s . '" ', 0))
values(name) = sprintf("list = ''; stats $table using (note(strcol('%s'))) nooutput", name)

# Under a chart, or under each panel of several.
key_below = "set key outside bottom center horizontal height 1"
panel_keys = "set key bmargin center horizontal maxcols 2 height 1"

# Maps: cells with a color, log2, and a text, at x and y; in rows and columns that have names. A row of $table without a
# panel belongs to all. eval map_begin comes before eval page; map_cells, column_names and texts(WHICH, X, Y, HOW), HOW
# beginning with the font, after plot.
map_begin = "set border 0; unset grid; unset xtics; unset ytics; unset key; " \
    . "stats $table using (strcol('kind') eq 'column' ? column('x') : NaN) nooutput; columns = STATS_max; " \
    . "stats $table using (strcol('kind') eq 'row' ? column('y') : NaN) nooutput; rows = STATS_max"
panel = ""
is(what) = strcol("kind") eq what && (strcol("panel") eq "" || strcol("panel") eq panel)
cell_font = sprintf(",%g", points(10.5))
x = "column('x')"
y = "column('y')"
texts(which, at_x, at_y, how) = sprintf("$table using (%s ? %s : NaN):(%s):(strcol('text')) with labels font %s", \
    which, at_x, at_y, how)
map_cells = "$table using (is('cell') ? column('x') : NaN):(column('y')):(column('x') - 0.5):(column('x') + 0.5): " \
    . "(column('y') - 0.5):(column('y') + 0.5):(column('log2')) " \
    . "with boxxyerror fs solid 1 border lc rgb '#ffffff' fc palette, " \
    . texts("is('cell') && abs(column('log2')) < 2.3", x, y, "cell_font tc rgb '#000000'") . ", " \
    . texts("is('cell') && abs(column('log2')) >= 2.3", x, y, "cell_font tc rgb '#ffffff'") . ", " \
    . texts("is('row')", "0.5", y, "cell_font right offset character -1, 0")
column_names = texts("is('column')", x, "0.5", "cell_font right rotate by 35 offset character 0.5, -0.7")
