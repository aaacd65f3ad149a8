#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpix_report: pages of results that are known; that they show these values, load nothing and can be read without
# seeing. In Chromium, if there is one: no errors, the same values after its script ran, pointer, zoom, sorting, and
# paper. check_results.sh has a page of real results, check_golden.sh what is refused.
. "$(dirname "$0")/../../test/programs/run.sh"
. "$top/common/test/page.sh"

need_tool mpix_report

# ---- Results

mkdir -p "$scratch/known/launches" "$scratch/campaign/a" "$scratch/campaign/b"

run='"ranks":"2","nodes":"1","host":"here","mpi_library":"Some MPI 1","date":"2026-11-29T12:00:00Z"'
# OPERATION RELEASE FACTOR [NAME]: rows as mpix_bench writes them, of known values.
write_bench() {
    json_head mpix-bench "$bench_columns missed,,figure,integer" \
        '"program":"mpix_bench 1","command":"'"${4-mpix_bench}"'","seed":"7",'"$run"
    for size in 0 1 64 4096 1048576; do
        OPERATION=$1 awk -v release="$2" -v factor="$3" -v size=$size 'BEGIN {
            ns = factor * (700 + size / 4)
            printf "{\"operation\":\"%s\",\"release\":\"%s\",\"ranks\":2,\"root\":null,\"run_time\":\"global\",",
                ENVIRON["OPERATION"], release
            printf "\"size_bytes\":%d,\"valid\":100,\"missed\":0,\"median_ns\":%.1f,", size, ns
            printf "\"median_low_ns\":%.0f,\"median_high_ns\":%.0f}\n", ns * 0.98, ns * 1.03 }'
    done
}

hostile='<script>alert(1)</script>&amp;\" onload=x \u2028 µ'
write_known() {
    write_bench bcast harmonize 1 "$hostile" >"$scratch/known/harmonize.json"
    write_bench bcast barrier 1.5 >"$scratch/known/barrier.json"
    write_bench "$hostile" barrier 1.5 >"$scratch/known/hostile.json"
    for launch in 1 2 3; do
        write_bench allreduce harmonize 1.$launch >"$scratch/known/launches/$launch.json"
        write_bench allreduce harmonize 1.$launch >"$scratch/campaign/a/00$launch.json"
        write_bench allreduce harmonize 2.$launch >"$scratch/campaign/b/00$launch.json"
    done
    ratios="ratio,,figure,number ratio_low,,figure,number ratio_high,,figure,number verdict,,figure,text"
    cat >"$scratch/known/compare.json" <<END
$(json_head mpix-compare "operation,,key,text size_bytes,bytes,key,integer $ratios" '"base":"one","variant":"other"')
{"operation":"bcast","size_bytes":8,"ratio":1.2,"ratio_low":1.1,"ratio_high":1.3,"verdict":"slower"}
{"operation":"bcast","size_bytes":64,"ratio":1.01,"ratio_low":0.98,"ratio_high":1.04,"verdict":"same"}
{"operation":"bcast","size_bytes":512,"ratio":0.5,"ratio_low":null,"ratio_high":null,"verdict":"undecided"}
END
    cat >"$scratch/known/guidelines.json" <<END
$(json_head mpix-compare "operation,,key,text size_bytes,bytes,key,integer base_operation,,key,text $ratios")
{"size_bytes":8,"operation":"x","base_operation":"y","ratio":2,"ratio_low":1,"ratio_high":3,"verdict":"violated"}
{"size_bytes":64,"operation":"x","base_operation":"y","ratio":0.9,"ratio_low":0.8,"ratio_high":1,"verdict":"kept"}
{"size_bytes":64,"operation":"x","base_operation":null,"ratio":0.7,"ratio_low":0.6,"ratio_high":0.8,"verdict":"kept"}
END
    # One launch of a is still to do, and b has an environment.
    write_manifest "$scratch/campaign" 3 a b
    sed -i 's|"seed": 3|"seed": 42|; s|"name": "b", "command": \["true"\]|&, "environment": {"ALGORITHM": "<ring>"}|
        s|\("file": "a/003.json", "status": \)"done"|\1"pending"|' "$scratch/campaign/manifest.json"
}
write_known

# ---- Pages

report() {          # OPTION|FILE...: into $page
    rm -f "$page"
    succeeds run alone mpix_report "$@" -o "$page"
    [ ! -s "$scratch/err" ] || complain "says something"
}

check_known() {
    report "$scratch/known/harmonize.json" "$scratch/known/hostile.json" --title 'All & <everything>'
    expect_page "$scratch/known/harmonize.json" "$scratch/known/hostile.json"
    grep -qF '<h1>All &amp; &lt;everything&gt;</h1>' "$page" || complain "not its title"
    grep -qF '&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;&quot; onload=x' "$page" ||
        complain "does not show the text with markup in it"
    [ "$(grep -ci '<script' "$page")" -eq 2 ] || complain "a text became markup"
    run alone mpix_report "$scratch/known/harmonize.json" "$scratch/known/hostile.json" --title 'All & <everything>'
    cmp -s "$page" "$scratch/out" || complain "standard output is not what --output has"
}

check_titles() {
    report "$scratch/known/barrier.json"
    grep -qF '<h1>Run times of MPI operations: bcast; 2 ranks on here; Some MPI 1; 2026-11-29</h1>' "$page" ||
        complain "the title does not say what was measured"
    # On another day, with more ranks, another operation.
    sed 's/2026-11-29/2026-11-30/; s/"ranks":"2","nodes":"1"/"ranks":"3","nodes":"1"/; s/"bcast"/"reduce"/' \
        "$scratch/known/barrier.json" >"$scratch/later.json"
    report "$scratch/known/barrier.json" "$scratch/later.json"
    grep -qF '<h1>Run times of MPI operations: bcast, reduce; Some MPI 1</h1>' "$page" ||
        complain "the title says what not all have"
    report "$scratch/known/barrier.json" "$scratch/known/compare.json"
    grep -qF '<h1>Results: bcast</h1>' "$page" || complain "not a title of two kinds"
}

# Each two of three ranks: a cell for each, and no curves.
write_matrix() {
    json_head mpix-bench "operation,,key,text rank,,key,integer partner,,key,integer size_bytes,bytes,key,integer \
median_ns,ns,figure,number latency_ns,ns,figure,number"
    printf '{"operation":"latency","rank":%d,"partner":%d,"size_bytes":8,"median_ns":%d,"latency_ns":%d}\n' \
        0 1 1000 500 0 2 3000 1500 1 2 3200 1600
}

check_map() {
    write_matrix >"$scratch/matrix.json"
    report "$scratch/matrix.json"
    expect_page "$scratch/matrix.json"
    [ "$(grep -o '"type":"map"' "$page" | wc -l)" -eq 1 ] || complain "not one map"
    report "$scratch/known/barrier.json"
    ! grep -q '"type":"map"' "$page" || complain "a map without ranks"
}

check_map_reader() {
    write_matrix >"$scratch/matrix.json"
    report "$scratch/matrix.json"
    expect_reader svg.chart table "median " 'cells 3' 'deeper true' 'tip first rank: 0|second rank: 1|latency: 500 ns' \
        'zoomed true' <<'END'
const cells = [...chart.querySelectorAll(".heat")], depth = (i) => Number(cells[i].getAttribute("fill-opacity"));
say("cells", cells.length);
say("deeper", depth(0) < depth(1) && depth(1) < depth(2));
point_at(cells[0]);
const width = cells[0].getBoundingClientRect().width;
for (let i = 0; i < 4; i++) wheel(cells[0], true);
say("zoomed", chart.querySelector(".heat").getBoundingClientRect().width > width);
END
    browse "$page" --dump-dom
    cp "$scratch/browsed" "$page"
    expect_page "$scratch/matrix.json"
}

check_verdicts() {
    report "$scratch/known/compare.json" "$scratch/known/guidelines.json"
    expect_page "$scratch/known/compare.json" "$scratch/known/guidelines.json"
    grep -q '"reference":1' "$page" || complain "no line at 1"
    grep -q '<p>other in relation to one</p>' "$page" || complain "does not say what is compared"
}

# The median of launches and how far they are apart: 1.1, 1.2 and 2.1, 2.2, 2.3 times 700 ns at size 0.
check_campaign() {
    local text
    report "$scratch/campaign"
    expect_page
    for text in ',0,null,2,805.0,770.0,840.0,' ',0,null,3,1540.0,1470.0,1610.0,' 'seed 42' \
        'Launches without results: 1' '&lt;ring&gt;' '1540.0,1610.0]'; do
        grep -qF "$text" "$page" || complain "does not have: $text"
    done
    grep -n 'class="verdict"\|^<section' "$page" | head -n 2 | grep -q 'class="verdict">' ||
        complain "the verdict does not come first"
    grep 'class="verdict"' "$page" | grep -q 'b .* a' || complain "the verdict does not name the variants"
}

check_directory() {
    report "$scratch/known/launches"
    expect_page
    grep -qF ',3,840.0,770.0,910.0,' "$page" || complain "not the median of three launches"
    grep -qF 'each file counts as a launch' "$page" || complain "does not say what counts as a launch"
    # As shells complete it.
    report "$scratch/known/launches/"
    grep -qF '<dt>variant</dt> <dd>launches</dd>' "$page" || complain "does not name the variant after the directory"
    # Without the figure whose median is shown.
    cp -r "$scratch/known/launches" "$scratch/other"
    sed -i 's/"median_ns"/"other_ns"/' "$scratch"/other/*.json
    report "$scratch/other"
    expect_page "$scratch"/other/*.json
}

# Of numbers that no chart can have, the table has all, the charts none. It takes no time, which is what timeout checks.
check_extremes() {
    local size=1 median
    {
        sed -n '1s/"integer"/"number"/gp' "$scratch/known/barrier.json"
        for median in 1e308 -1e308 1e-320 5e-324 1e99 1e-99 -7 0 700; do
            printf '{"operation":"bcast","run_time":"local","size_bytes":%d,"median_ns":%s,' $size $median
            printf '"median_low_ns":-1e308,"median_high_ns":1e308}\n'
            size=$((2 * size))
        done
        printf '{"operation":"near","run_time":"local","size_bytes":%d,"median_ns":%d}\n' 1 10000000000000000 \
            2 10000000000000002
        printf '{"operation":"wide","run_time":"local","size_bytes":%s,"median_ns":1}\n' 1 1e308 1e-320
    } >"$scratch/extreme.json"
    command="mpix_report extreme.json"
    timeout 60 "$programs/mpix_report" "$scratch/extreme.json" -o "$page" 2>"$scratch/err"
    status=$?
    expect_status 0
    ! grep -qiE '[^a-z](nan|inf)[ ,)"<]' "$page" || complain "shows what is no number"
    [ -z "$browser" ] || { browse "$page" --dump-dom && cp "$scratch/browsed" "$page" && expect_page; }
    mkdir -p "$scratch/extremes"
    cp "$scratch/extreme.json" "$scratch/extremes/1.json"
    cp "$scratch/extreme.json" "$scratch/extremes/2.json"
    timeout 60 "$programs/mpix_report" "$scratch/extremes" -o "$page" 2>"$scratch/err"
    status=$?
    expect_status 0
}

# Of skews from 1 to 1000 ns, those of half of the calls are at most 500 ns. Invalid calls, of a second, do not count.
check_distribution() {
    local text
    {
        json_head mpix-skew-raw "release,,key,text call,,key,integer skew_ns,ns,figure,number valid,,figure,integer"
        awk 'BEGIN {
            form = "{\"release\":\"%s\",\"call\":%d,\"skew_ns\":%d,\"valid\":%d}\n"
            for (i = 0; i < 1000; i++) printf form form, "barrier", 2 * i, 1000 - i, 1, "barrier", 2 * i + 1, 1e9, 0
            for (i = 0; i < 5; i++) printf form, "harmonize", i, 0, 1
        }'
    } >"$scratch/skews.json"
    report "$scratch/skews.json"
    expect_page
    for text in '["barrier",500.0,0.4995]' '["barrier",999.0,0.999]' '["harmonize",0.0,0.999]'; do
        grep -qF "$text" "$page" || complain "does not have: $text"
    done
    [ "$(grep -oE '\["(barrier|harmonize)",[^]]*' "$page" | wc -l)" -eq 400 ] || complain "not 200 shares of each"
    ! grep -q 1000000000 "$page" || complain "counts invalid calls"
    [ -z "$browser" ] || { browse "$page" --dump-dom && cp "$scratch/browsed" "$page" && expect_page; }
}

# Launches of sizes that are equal but for rounding are those of two things.
check_labels() {
    local launch size
    mkdir -p "$scratch/close"
    for launch in 1 2; do
        for size in 1024128 1024256; do
            printf '{"operation":"bcast","run_time":"local","size_bytes":%d,"median_ns":%d}\n' $size $size
        done | cat <(head -n 1 "$scratch/known/barrier.json") - >"$scratch/close/$launch.json"
    done
    report "$scratch/close"
    for size in 1024128 1024256; do
        grep -qF ",$size,null,2,$size.0,$size.0,$size.0," "$page" || complain "no point of $size bytes"
    done
}

# ---- What a reader does

# A page with a script behind its own, which does what a reader does, and writes into the page what it sees then.
check_browser() {   # RESULTS...
    report "$@"
    browse "$page" --dump-dom
    cp "$scratch/browsed" "$page"
    expect_page "$@"
}

check_reader() {
    report "$scratch/known/harmonize.json" "$scratch/known/barrier.json"
    expect_reader svg.chart table "median " \
        'tip harmonize|message size: 64|median run time: 716 ns (702 ns to 737 ns)' 'plain wheel true' 'zoomed true' \
        'reset true' 'sorted true' 'falling true' 'sorted back true' 'hidden true' 'folded true' 'unfolded true' \
        'folded again true' <<'END'
const nth = () => chart.querySelectorAll(".point")[2], place = nth().getAttribute("transform");
const reset = figure.querySelector(".reset");
point_at(nth());
wheel(nth(), false);
say("plain wheel", labels() === before);
for (let i = 0; i < 8; i++) wheel(nth(), true);
say("zoomed", labels() !== before && labels().length > 0 && !reset.hidden);
chart.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
say("reset", labels() === before && nth().getAttribute("transform") === place && reset.hidden);
sort();
say("falling", titles[column].getAttribute("aria-sort") === "descending");
click();
say("sorted back", String(values()) === String(falling.reverse()));
const series = chart.querySelectorAll(".series").length;
figure.querySelector(".legend button").click();
say("hidden", chart.querySelectorAll(".series").length === series - 1);
const more = document.querySelector(".table input"), first = table.querySelector(".more");
const isShown = () => getComputedStyle(first).display !== "none";
say("folded", !more || !isShown() && (more.click(), isShown()));
dispatchEvent(new Event("beforeprint"));
say("unfolded", document.querySelector("details.print").open);
dispatchEvent(new Event("afterprint"));
say("folded again", !document.querySelector("details.print").open);
END
}

check_paper() {
    report "$scratch/campaign" "$scratch/known/harmonize.json"
    browse "$page" --no-pdf-header-footer --print-to-pdf="$scratch/page.pdf"
    [ "$(head -c 5 "$scratch/page.pdf" 2>/dev/null)" = %PDF- ] || complain "there is no PDF"
    [ "$(wc -c <"$scratch/page.pdf")" -gt 10000 ] || complain "the PDF is empty"
}

# ---- Tests

if "$python" -c 'import html.parser' 2>/dev/null; then
    quick tap_check "mpix_report: known results, and texts that look like markup" check_known
    quick tap_check "mpix_report: titles say what was measured" check_titles
    quick tap_check "mpix_report: comparisons and guidelines" check_verdicts
    quick tap_check "mpix_report: a map of ranks" check_map
    quick tap_check "mpix_report: a campaign" check_campaign
    quick tap_check "mpix_report: a directory of launches" check_directory
    quick tap_check "mpix_report: numbers that are extreme" check_extremes
    quick tap_check "mpix_report: a distribution of single calls" check_distribution
    quick tap_check "mpix_report: sizes that are equal but for rounding" check_labels
else
    tap_skip "mpix_report: pages" "there is no Python 3"
fi
no_browser="there is no Chromium"
tap_check_if has_browser "$no_browser" "mpix_report: in a browser, its script changes no value" \
    check_browser "$scratch/known/harmonize.json"
tap_check_if has_browser "$no_browser" "mpix_report: in a browser, pointer, zoom, tables" check_reader
tap_check_if has_browser "$no_browser" "mpix_report: in a browser, a map of ranks" check_map_reader
tap_check_if has_browser "$no_browser" "mpix_report: in a browser, on paper" check_paper
tap_done
