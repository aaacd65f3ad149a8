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
# eval pairs("COLUMN", "COLUMN"): likewise of both, with a | between them.
pairs(first, second) = sprintf("list = ''; stats $table using (note(strcol('%s') . '|' . strcol('%s'))) nooutput", \
    first, second)
values(name) = sprintf("list = ''; stats $table using (note(strcol('%s'))) nooutput", name)
place(list, s) = sum [i = 1:words(list)] (word(list, i) eq s ? i : 0)

# Under a chart, or under each panel of several.
key_below = "set key outside bottom center horizontal height 1"
panel_keys = "set key bmargin center horizontal maxcols 2 height 1"

sizes_below = "set xlabel 'message size (bytes)'; set logscale x 2; set format x '%.0b%B'; set xtics 4, 8"
# After eval values("ranks"). Before set multiplot.
ranks_below = "ranks = list; stats $table using (column('ranks')) nooutput; set xlabel 'processes'; " \
    . "set logscale x 2; set xrange [STATS_min * 0.8:STATS_max * 1.25]; " \
    . "set xtics (); set for [r in ranks] xtics add (r r + 0)"

# Curves over x_column of y_column times scale: a color for each of names, in the column by; a kind of line for each of
# kinds, in the column kind. If there is a panel, of the rows that have it in the column panel_by; in_panel holds the
# pairs of panels and names.
kinds = ""
kind_titles = ""
kind = ""
panel = ""
in_panel = ""
scale = 1
key_of(i) = in_panel eq "" || place(in_panel, panel . "|" . word(names, i)) > 0 ? word(names, i) : ""
of_panel(dummy) = panel eq "" || strcol(panel_by) eq panel
of_curve(i, k) = of_panel(0) && strcol(by) eq word(names, i) && (kinds eq "" || strcol(kind) eq word(kinds, k))
curves = "$table using (of_curve(i, k) ? column(x_column) : NaN):(column(y_column) * scale) " \
    . "with linespoints lw 2 ps 0.6 pt (k == 1 ? 7 : 6) lc rgb color(i) dt k notitle"
draw_curves = "plot for [k = 1:(kinds eq '' ? 1 : words(kinds))] for [i = 1:words(names)] " . curves \
    . ", for [i = 1:words(names)] NaN with linespoints lw 2 ps 0.6 pt 7 lc rgb color(i) title key_of(i)" \
    . ", for [k = 1:words(kinds)] NaN with lines lw 2 lc rgb '#444444' dt k title word(kind_titles, k)"
draw_nothing = "set label 9 'no valid samples' at graph 0.5, graph 0.5 center; plot [1:10] [1:10] 20 notitle; " \
    . "unset label 9"
# A panel for each operation, with a color for each algorithm. The former before set multiplot.
operations_in_panels = "eval values('algorithm'); names = list; eval values('operation'); operations = list; " \
    . "eval pairs('operation', 'algorithm'); in_panel = list; by = 'algorithm'; panel_by = 'operation'"
draw_operations = "do for [panel in 'bcast reduce allreduce'] { set title panel; " \
    . "eval place(operations, panel) > 0 ? draw_curves : draw_nothing }"

# Maps: cells with a color, log2, and a text, at x and y; in rows and columns that have names. A row of $table without a
# panel belongs to all. eval map_begin comes before eval page; map_cells, column_names and texts(WHICH, X, Y, HOW), HOW
# beginning with the font, after plot.
map_begin = "set border 0; unset grid; unset xtics; unset ytics; unset key; " \
    . "stats $table using (strcol('kind') eq 'column' ? column('x') : NaN) nooutput; columns = STATS_max; " \
    . "stats $table using (strcol('kind') eq 'row' ? column('y') : NaN) nooutput; rows = STATS_max"
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
