eval page(900, 560)
set title title
eval values("ranks")
eval ranks_below
eval values("sync")
names = list
x_column = "ranks"; y_column = "value"; by = "sync"
set logscale y
if (name eq "sync-duration") {
    panel_by = "what"; panel = "median"
    set ylabel "duration of a synchronization (ms)"
    set format y "%g"
} else {
    kinds = "error bound"
    kind_titles = "'error, median of launches' 'stated bound'"
    kind = "what"
    set ylabel "maximum error of a rank (ns)"
    set format y "%.0f"
}
eval key_below
eval draw_curves . ", $table using (strcol('what') eq 'launch' ? column('ranks') : NaN):(column('value')) " \
    . "with points pt 6 ps 0.6 lc rgb '#999999' title 'single launches'"
