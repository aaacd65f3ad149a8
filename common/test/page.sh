# shellcheck shell=bash
# $page, which a tool wrote: the rules that it keeps, and what a reader sees in Chromium. To be sourced after run.sh.
#
# Environment: CHROMIUM  the browser (default: chromium, or one of its other names)
page=$scratch/page.html
browser=$(command -v "${CHROMIUM:-chromium}" chromium-browser google-chrome chrome 2>/dev/null | head -n 1)
has_browser() { [ -n "$browser" ]; }

# RESULTS...: the page keeps the rules, and shows them.
expect_page() {
    expect_silence "$python" "$top/common/test/check_page.py" "$page" "$@"
}

browse() {          # FILE OPTION...: output in browsed
    command="chromium ${*:2} $1"
    limited "$browser" --headless=new --no-sandbox --disable-gpu --user-data-dir="$scratch/profile" \
        --virtual-time-budget=5000 --enable-logging=stderr --window-size=1200,900 "${@:2}" "file://$1" \
        >"$scratch/browsed" 2>"$scratch/err" </dev/null
    status=$?
    expect_status 0
    ! grep -E ':CONSOLE[:(]' "$scratch/err" || complain "errors on the console"
}

# CHART TABLE TITLE LINE...: what a reader sees who does what the script on standard input does with a chart, and with
# a table that has a column of this title.
expect_reader() {
    local line
    {
        sed '/^<\/body>/d; /^<\/html>/d' "$page"
        cat <<END
<pre id="seen"></pre><script>
const seen = [], say = (what, value) => seen.push(what + " " + value);
const chart = document.querySelector("$1"), figure = chart.closest("figure"), tip = figure.querySelector(".tip");
const labels = () => [...chart.querySelectorAll(":scope > text")].map((text) => text.textContent).join(" ");
const before = labels();
const at = (node) => { const box = node.getBoundingClientRect();
  return { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, bubbles: true, cancelable: true }; };
const point_at = (node) => { node.dispatchEvent(new PointerEvent("pointermove", at(node)));
  say("tip", !tip.hidden && tip.textContent.replace(/\\n/g, "|")); };
const wheel = (node, ctrlKey) => chart.dispatchEvent(new WheelEvent("wheel", { ...at(node), deltaY: -100, ctrlKey }));
const table = document.querySelector("$2"), titles = [...table.tHead.rows[0].cells];
const column = titles.findIndex((cell) => cell.textContent.startsWith("$3"));
const values = () => [...table.tBodies[0].rows].map((row) => Number(row.cells[column].dataset.value));
const falling = [...values()].sort((a, b) => b - a), click = () => titles[column].querySelector("button").click();
const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
  Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
const overlaps = () => [...document.querySelectorAll("svg.chart")].flatMap((picture) => {
  const texts = [...picture.querySelectorAll(":scope > text")];
  const boxes = texts.map((text) => text.getBoundingClientRect());
  return texts.filter((_, i) => boxes.some((box, k) => k < i && overlap(box, boxes[i]))).map((one) => one.textContent);
});
const sort = () => { click(); say("sorted", String(values()) === String(falling)); };
END
        cat
        echo 'document.getElementById("seen").textContent = seen.join("\n");'
        echo '</script></body></html>'
    } >"$scratch/reader.html"
    browse "$scratch/reader.html" --dump-dom
    sed -n '/<pre id="seen">/,/<\/pre>/p' "$scratch/browsed" | sed 's/<[^>]*>//g' >"$scratch/out"
    for line in "${@:4}"; do
        grep -q "^$line" "$scratch/out" || complain "a reader does not see: $line"
    done
}
