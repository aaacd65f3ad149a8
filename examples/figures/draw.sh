# SPDX-License-Identifier: BSD-3-Clause
#
# How figures read their data, and are drawn and described. Sourced by mpix_figures.

# The beginning of awk programs: columns by their names, value("name"), "" if there is none, and texts of
# several figures.
read_csv='
    function value(name) { return name in column ? $column[name] : "" }
    function pretty(name) {
        sub(/^ompi_/, "", name); gsub(/_/, " ", name)
        sub(/recursive ?doubling/, "recursive doubling", name); sub(/double ?ring/, "double ring", name)
        return name
    }
    # Keys are listed as they come.
    function take(key, number) {
        if (!(key in count)) { list[++n] = key; min[key] = max[key] = number }
        count[key]++; sum[key] += number
        if (number < min[key]) min[key] = number
        if (number > max[key]) max[key] = number
    }
    function is_new(text) { return !(text in known_texts) && (known_texts[text] = 1) }
    function error_ns() { return value("true_ns") != "" ? value("true_ns") : value("max_ns") }
    # Axes of logarithms have no 0.
    function at_least(number, min) { return number < min ? min : number }
    function barrier_label() {
        return value("release") == "harmonize" ? "harmonized" : value("release") != "barrier" ? value("release") : \
            value("source") == "own" ? pretty(value("barrier")) : "MPI: " pretty(value("source"))
    }
    /^#/ { next }
    !titles { for (i = 1; i <= NF; i++) column[$i] = i; titles = 1; next }'

data_note() {           # KEY: what a comment line of the data says
    sed -n "s/^# $1: //p" "$data" | head -n 1
}

# COLUMN: the rows that have a value there.
rows_with() {
    grep -v '^#' "$data" | head -n 1
    $awk -F, -v OFS=, -v name="$1" "$read_csv"'
        "algorithm" in column { $column["algorithm"] = pretty(value("algorithm")) }
        value(name) != ""' "$data"
}

# table|tell: of a map, the cells, or sentences about them.
map_text() {
    $awk -F, -v what="$1" "$read_csv$(<"$parts/$plot.awk")" "$data"
}

# KEYS: medians of the last column of CSV without titles on standard input, for each of the KEYS columns before it.
medians() {
    sort -t, -k1,"$1" -k$(($1 + 1)),$(($1 + 1))g | $awk -F, -v OFS=, '
        function finish() {
            if (n) print key, (list[int((n + 1) / 2)] + list[int(n / 2) + 1]) / 2
            n = 0
        }
        { figure = $NF; sub(/,[^,]*$/, "") }
        $0 != key { finish() }
        { key = $0; list[++n] = figure }
        END { finish() }'
}

# The figure's title, and where its data is from. Gnuplot would run what stands between backquotes in the data.
chart_title() {
    local ranks hosts quick
    ranks=$($awk -F, "$read_csv"'is_new(value("ranks")) { n++; ranks = value("ranks") }
        END { if (n == 1 && ranks != "") print ", " ranks " ranks" }' "$data")
    hosts=$(data_note hosts)
    quick=$(data_note quick)
    echo "$title\\n$(data_note library)$ranks${quick:+ (quick look)}${hosts:+\\n$hosts}" | tr -d '\140"'
}

# Any of its commands may fail: the caller heeds that by set -e.
write_script() {
    local rows
    rows=$(table)
    echo "# $figure_name: drawn by $program $version. gnuplot -e \"format = 'png'; file = 'chart.png'\" FILE"
    echo "name = \"$figure_name\""
    echo "title = \"$(chart_title)\""
    printf '$table << END_OF_TABLE\n%s\nEND_OF_TABLE\n' "$rows"
    cat "$parts/style.gp"
    if [[ $rows == *$'\n'* ]]; then
        cat "$parts/$plot.gp"
    else
        printf '%s\n' 'eval page(900, 560)' 'set title title' 'eval draw_nothing'
    fi
}

draw() {
    local format chart status script=$output_dir/$figure_name.gp
    # If draw itself stood in a condition, set -e would not be heeded.
    (
        set -e
        write_script
    ) >"$script"
    status=$?
    if [ $status -ne 0 ]; then
        complain "$figure_name: $script could not be made from $data"
        return $failed
    fi
    for format in ${formats//,/ }; do
        chart=$output_dir/$figure_name.$format
        # gnuplot does not notice that a chart cannot be written, so another program writes it.
        LC_ALL=C.UTF-8 gnuplot -e "format = '$format'; file = ''" "$script" 2>"$work/gnuplot" </dev/null |
            cat 2>"$work/written" >"$chart"
        case "${PIPESTATUS[*]}" in
        '0 0') [ -s "$chart" ] && charts+=("$chart") && continue ;;
        *' 0') ;;
        *) complain "$figure_name: cannot write $chart"; rm -f "$chart"; return $failed ;;
        esac
        complain "$figure_name: gnuplot failed on $script:"
        grep -v '^$' "$work/gnuplot" | tail -n 5 >&2
        return $failed
    done
}

describe() {
    echo "$title ($papers)"
    echo "What to look for: $look"
    [ -z "$(data_note quick)" ] || echo "Measured with --quick: the numbers mean little."
    if declare -F tell >/dev/null; then
        echo "Here:"
        tell | sed 's/^/  /'
    fi
}
