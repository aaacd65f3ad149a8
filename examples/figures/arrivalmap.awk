# SPDX-License-Identifier: BSD-3-Clause
#
# The cells of a map of arrival patterns, or with what=tell, sentences about them. draw.sh puts the functions that
# read the data before this.

value("from_last_ns") == "" { next }
{
    pattern = value("arrival"); sub(/:.*/, "", pattern)
    operation = value("operation"); row = operation SUBSEP value("algorithm")
    if (is_new("row " row)) { rows[++row_count] = row; operation_of[row] = operation }
    if (is_new("pattern " pattern)) patterns[++pattern_count] = pattern
    if (is_new("operation " operation)) operations[++operation_count] = operation
    if (is_new("run " value("run"))) runs[++run_count] = value("run")
    take(row SUBSEP pattern, value("from_last_ns"))
    one[row, pattern, value("run")] = value("from_last_ns")
}
function time_of(row, pattern, run,    key) {
    if (run != "") return one[row, pattern, run]
    key = row SUBSEP pattern
    return key in count ? sum[key] / count[key] : ""
}
# Algorithms by their times, joined by <. Those within 5 % of the first of them are joined by = and listed by
# name.
function order(operation, pattern, run,    i, j, k, n, list, names, text, first, size) {
    for (i = 1; i <= row_count; i++) {
        if (operation_of[rows[i]] != operation || time_of(rows[i], pattern, run) == "") continue
        for (j = ++n; j > 1 && time_of(list[j - 1], pattern, run) > time_of(rows[i], pattern, run); j--)
            list[j] = list[j - 1]
        list[j] = rows[i]
    }
    for (k = 1; k <= n; k++) {
        if (k > 1 && time_of(list[k], pattern, run) > 1.05 * first) {
            text = text joined(names, size) " < "; size = 0
        }
        if (size == 0) first = time_of(list[k], pattern, run)
        names[++size] = pretty(substr(list[k], index(list[k], SUBSEP) + 1))
        for (j = size; j > 1 && names[j - 1] > names[j]; j--) {
            other = names[j]; names[j] = names[j - 1]; names[j - 1] = other
        }
    }
    return text joined(names, size)
}
function joined(names, size,    k, text) {
    for (k = 1; k <= size; k++) text = text (k > 1 ? " = " : "") names[k]
    return text
}
function tell(    o, p, r, same, text) {
    for (o = 1; o <= operation_count; o++)
        for (p = 1; p <= pattern_count; p++) {
            text = order(operations[o], patterns[p], ""); same = 0
            for (r = 1; r <= run_count; r++) same += order(operations[o], patterns[p], runs[r]) == text
            printf "%s, %s: %s (in %d of %d runs)\n", operations[o], patterns[p], text, same, run_count
        }
}
END {
    if (what == "tell") { tell(); exit }
    print "kind,panel,x,y,log2,text"
    for (p = 1; p <= pattern_count; p++) printf "column,,%d,0,,%s\n", p, patterns[p]
    for (i = 1; i <= row_count; i++) {
        y = row_count + 1 - i; operation = operation_of[rows[i]]
        if (i > 1 && operation != operation_of[rows[i - 1]]) printf "line,,,%.1f,,\n", y + 0.5
        printf "row,,0,%d,,%s %s\n", y, operation, pretty(substr(rows[i], index(rows[i], SUBSEP) + 1))
        for (p = 1; p <= pattern_count; p++) {
            mine = time_of(rows[i], patterns[p], ""); least = ""
            if (mine == "") continue
            for (j = 1; j <= row_count; j++) {
                other = operation_of[rows[j]] == operation ? time_of(rows[j], patterns[p], "") : ""
                if (other != "" && (least == "" || other < least)) least = other
            }
            ratio = log(mine / at_least(least, 1)) / log(2)
            printf "cell,,%d,%d,%.4f,%.2f%s\n", p, y, ratio, mine / 1000, (mine == least ? " ★" : "")
        }
    }
}
