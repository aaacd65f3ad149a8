# SPDX-License-Identifier: BSD-3-Clause
#
# The cells of a heat map and what stands beside them, or with what=tell, sentences about them. draw.sh puts the
# functions that read the data before this.

value("avg_ns") == "" { next }
{
    group = value("release") == "harmonize" ? 3 : value("source") == "own" ? 2 : 1
    label = group == 3 ? "run " value("run") : pretty(value(group == 2 ? "barrier" : "source"))
    row = value("algorithm")
    if (is_new("row " row)) rows[++row_count] = row
    if (is_new(group label)) columns[group, ++column_count[group]] = label
    for (p = 1; p <= 2; p++) if (value(metric[p]) != "") fill(p, value(metric[p]) / 1000)
}
function fill(panel, us) {
    panels = at_least(panels, panel)
    cell[panel, row, group, label] = us
    if (group == 3) { sum[panel, row] += us; runs[panel, row]++ }
    take(panel SUBSEP row SUBSEP (group == 3), us)
}
function base(panel, row) {
    return runs[panel, row] ? sum[panel, row] / runs[panel, row] : min[panel, row, 0]
}
function times(panel, row, harmonized,    part) {
    part = panel SUBSEP row SUBSEP harmonized
    return min[part] > 0 ? sprintf("%.2f", max[part] / min[part]) : "-"
}
# Columns of barriers that no row is told from the harmonized ones by.
function harmless(    group, c, i, p, us, ratio, found, bad, seen) {
    for (group = 1; group <= 2; group++)
        for (c = 1; c <= column_count[group]; c++) {
            bad = seen = 0
            for (i = 1; i <= row_count; i++)
                for (p = 1; p <= panels; p++) {
                    us = cell[p, rows[i], group, columns[group, c]]
                    if (us == "" || !runs[p, rows[i]]) continue
                    ratio = us / base(p, rows[i]); seen = 1
                    if (ratio < 0.95 || ratio > 1.05) bad = 1
                }
            if (seen && !bad) found = found (found ? "; " : "") (group == 1 ? "MPI: " : "") columns[group, c]
        }
    return found ? found : "none"
}
function put(kind, panel, x, y, log2, text) {
    printf "%s,%s,%s,%s,%s,%s\n", kind, panel, x, y, log2, text
}
function put_cell(panel, x, y, us, log2) {
    put("cell", panel, x, y, sprintf("%.4f", log2),
        sprintf(us < 10 ? "%.2f" : us < 100 ? "%.1f" : "%.0f", us) \
            (log2 > 3 ? " ▲" : log2 < -3 ? " ▼" : ""))
}
function put_panel(panel,    i, y, group, c, x, us) {
    for (i = 1; i <= row_count; i++) {
        row = rows[i]; y = row_count + 1 - i; x = 0
        put("row", panel, "", y, "", pretty(row))
        put("barriers", panel, "", y, "", times(panel, row, 0))
        put("harmonized", panel, "", y, "", times(panel, row, 1))
        harmonized += runs[panel, row]
        for (group = 1; group <= 3; group++)
            for (c = 1; c <= column_count[group]; c++) {
                x++
                us = cell[panel, row, group, columns[group, c]]
                if (us != "") put_cell(panel, x, y, us, log(us / base(panel, row)) / log(2))
            }
    }
    put("base", panel, "", "", "", harmonized ? "harmonized" : "minimum of the row")
}
BEGIN {
    metric[1] = "avg_ns"; metric[2] = "makespan_ns"
    metric_name[1] = "mean of means"; metric_name[2] = "makespan"
    heading[1] = "MPI_Barrier"; heading[2] = "mpix_bench"; heading[3] = "MPIX_Harmonize"
    wide[1] = "algorithms of "; wide[2] = "barriers of "
}
END {
    if (what == "tell") {
        for (p = 1; p <= panels; p++)
            for (i = 1; i <= row_count; i++) {
                row = rows[i]
                printf "%s, %s: %.2f to %.2f us after barriers (%s times), ", pretty(row), metric_name[p],
                    min[p, row, 0], max[p, row, 0], times(p, row, 0)
                if (!runs[p, row]) { print "harmonized without a valid sample."; continue }
                printf "%.2f to %.2f us harmonized (%s times in %d runs).\n", min[p, row, 1], max[p, row, 1],
                    times(p, row, 1), runs[p, row]
            }
        print "Barriers after which each latency is within 5 % of the harmonized one: " harmless() "."
        exit
    }
    print "kind,panel,x,y,log2,text"
    for (group = 1; group <= 3; group++) {
        if (!column_count[group]) continue
        put("heading", "", x + (column_count[group] + 1) / 2, "", "", \
            (column_count[group] > 2 ? wide[group] : "") heading[group])
        for (c = 1; c <= column_count[group]; c++) put("column", "", ++x, "", "", columns[group, c])
        if (group < 3) put("line", "", x + 0.5, "", "", "")
    }
    put("harmless", "", "", "", "", harmless())
    for (p = 1; p <= panels; p++) put_panel(p)
}
