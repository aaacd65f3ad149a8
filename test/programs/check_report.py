# SPDX-License-Identifier: BSD-3-Clause
"""Holds a page of mpix_report to its rules, and its charts to the results. Prints what is wrong.

    check_report.py PAGE [RESULTS]...

PAGE is what the program wrote, or what a browser made of it. The results, if any are given, are all that it shows.
"""
import html.parser
import json
import math
import re
import sys
from collections import Counter

VOID = {"meta", "link", "input", "br", "hr", "img"}

# What a chart of each title shows of which rows: the column of the places, and those of the values and intervals.
CHARTS = {
    "Median run time": ("size_bytes", [("median_ns", "median_low_ns", "median_high_ns")]),
    "Ratio of run times B / A": ("size_bytes", [("ratio", "ratio_low", "ratio_high")]),
    "Time in relation to the bound": ("size_bytes", [("ratio", "ratio_low", "ratio_high")]),
    "Exit skew": ("release", [("p50_ns",), ("p90_ns",), ("p99_ns",), ("p99.9_ns",), ("max_ns",)]),
    "Time of a call": ("release", [("call_ns",)]),
    "Slack and time of a call": ("time_ns", [("slack_ns",), ("call_ns",)]),
    "Error since the synchronization": (
        "age_ns", [("p50_ns",), ("p99_ns",), ("max_ns",), ("half_width_ns",), ("bound_ns",)]),
    "Time of a synchronization": (None, [("took_ns",), ("call_ns",)]),
    "Slope by the length of the fit": ("window_ns", [("slope_ppb", "slope_min_ppb", "slope_max_ppb")]),
    "Distance from the line": ("window_ns", [("residual_rms_ns",), ("residual_max_ns",)]),
    "Cost and resolution of readings": ("clock", [("read_ns",), ("step_ns",), ("stated_ns",)]),
    "Bandwidth": ("size_bytes", [("global_mb_per_s",), ("barrier_mb_per_s",)]),
    "Duration": ("size_bytes", [("global_ns", "global_low_ns", "global_high_ns"), ("barrier_ns",), ("longest_ns",)]),
}
UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "%": 1, "": 1}

complaints = []


def complain(what):
    complaints.append(what)


class Node:
    def __init__(self, name, attributes, parent):
        self.name, self.attributes, self.parent = name, attributes, parent
        self.children, self.text = [], ""

    def all(self, name=None, klass=None):
        for child in self.children:
            if name in (None, child.name) and (klass is None or klass in child.classes()):
                yield child
            yield from child.all(name, klass)

    def classes(self):
        return self.attributes.get("class", "").split()

    def whole_text(self):
        return self.text + "".join(child.whole_text() for child in self.children)


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.root = self.node = Node("", {}, None)
        self.feed(text)
        self.close()
        if self.node is not self.root:
            complain(f"<{self.node.name}> is not closed")

    def handle_starttag(self, tag, attrs):
        self.node.children.append(Node(tag, dict(attrs), self.node))
        if tag not in VOID:
            self.node = self.node.children[-1]

    def handle_startendtag(self, tag, attrs):
        self.node.children.append(Node(tag, dict(attrs), self.node))

    def handle_endtag(self, tag):
        if tag != self.node.name:
            complain(f"line {self.getpos()[0]}: </{tag}> within <{self.node.name}>")
        elif self.node.parent is not None:
            self.node = self.node.parent

    def handle_data(self, data):
        self.node.text += data


def check_structure(root):
    ids = Counter(node.attributes["id"] for node in root.all() if "id" in node.attributes)
    complaints.extend(f"id {name} is there {count} times" for name, count in ids.items() if count > 1)
    for name in ("html", "head", "body", "h1", "main", "script", "style", "nav"):
        if len(list(root.all(name))) != 1:
            complain(f"not one <{name}>")
    if "lang" not in next(root.all("html")).attributes:
        complain("no language")
    for section in root.all("section"):
        if len(list(section.all("h2"))) != 1:
            complain("a section without a heading of its own")
    for node in root.all():
        for key in ("src", "href", "action", "data", "srcset"):
            value = node.attributes.get(key, "#")
            if not value.startswith("#") and value != "data:,":
                complain(f"<{node.name} {key}={value}> loads something")
            elif value.startswith("#") and len(value) > 1 and value[1:] not in ids:
                complain(f"there is no {value}")
        complaints.extend(f"<{node.name}> has {key}" for key in node.attributes if key.startswith("on"))
    for picture in root.all("svg", "chart"):
        if picture.attributes.get("role") != "img" or picture.attributes.get("aria-labelledby") not in ids:
            complain("a chart that screen readers cannot name")
    style = next(root.all("style")).text
    if re.search(r"url\(|@import", style):
        complain("the style sheet loads something")
    for wanted in ("@media print", "prefers-color-scheme: dark"):
        if wanted not in style:
            complain(f"the style sheet has no {wanted}")


def check_tables(root):
    for table in root.all("table"):
        if not next(table.all("caption")).whole_text().strip():
            complain("a table without a caption")
        head = list(next(table.all("thead")).all("th"))
        complaints.extend("a column without a scope" for cell in head if cell.attributes.get("scope") != "col")
        for row in next(table.all("tbody")).all("tr"):
            if len(row.children) != len(head) or row.children[0].attributes.get("scope") != "row":
                complain(f"a row of {len(row.children)} cells under {len(head)} titles: {row.whole_text()[:60]}")


def place_on(axis, value, picture):
    """Where a value has to be drawn."""
    change = {"linear": float, "log": math.log10, "log2": math.log2}[axis["data-scale"]]
    low, high = change(float(axis["data-min"])), change(float(axis["data-max"]))
    part = (change(value) - low) / (high - low)
    left, right, top, bottom = (float(picture[f"data-{side}"]) for side in ("left", "right", "top", "bottom"))
    return left + part * (right - left) if "horizontal" in axis["class"] else bottom - part * (bottom - top)


def check_ticks(axis, picture, title):
    texts = list(axis.all("text"))
    if not 2 <= len(texts) <= 12:
        complain(f"{title}: {len(texts)} labels on an axis")
    for text in texts:
        number, _, unit = text.text.partition(" ")
        value = float(number) * UNITS[unit]
        if value == 0 and axis.attributes["data-scale"] != "linear":
            continue
        is_horizontal = "horizontal" in axis.classes()
        at = float(text.attributes["x"]) if is_horizontal else float(text.attributes["y"]) - 4
        if abs(place_on(axis.attributes, value, picture.attributes) - at) > 0.2:
            complain(f"{title}: the label {text.text} is not at its place")


def read_points(figure, title):
    """What a chart shows, as (place, value, low, high); each has to be drawn where it belongs."""
    picture = next(figure.all("svg", "chart"))
    axes = {"horizontal" in axis.classes(): axis for axis in picture.all("g", "axis")}
    for axis in axes.values():
        check_ticks(axis, picture, title)
    points = []
    for node in picture.all("path", "point"):
        data = node.attributes
        if "data-value" not in data:
            continue
        value = float(data["data-value"])
        place = data["data-place"]
        at = [float(number) for number in re.findall(r"-?[\d.]+", data["transform"])]
        wanted = [(True, value)] if False not in axes else [(True, float(place)), (False, value)]
        for is_horizontal, number in wanted:
            axis = axes[is_horizontal].attributes
            if number == 0 and axis["data-scale"] != "linear":
                continue
            if abs(place_on(axis, number, picture.attributes) - at[not is_horizontal]) > 0.02:
                complain(f"{title}: {number} is not drawn at its place")
        if not any(child.name == "title" for child in node.children) and "aria-label" not in data:
            complain(f"{title}: a point without a title")
        bounds = [float(data[key]) if key in data else None for key in ("data-low", "data-high")]
        points.append((place, value, *bounds))
    return points, False in axes


def expected_points(rows, place_column, measures, has_curves):
    for row in rows:
        for value, *bounds in measures:
            if row.get(value) is None:
                continue
            ends = [row.get(bound) for bound in bounds] or [None, None]
            ends = [None, None] if None in ends else [float(end) for end in ends]
            place = float(row[place_column]) if has_curves else None
            yield place, float(row[value]), *ends


def fits(row, name):
    place_column, measures = CHARTS[name]
    if name in ("Ratio of run times B / A", "Time in relation to the bound"):
        return "ratio" in row and ("bound_operation" in row) == (name == "Time in relation to the bound")
    columns = [columns[0] for columns in measures] + [place_column] * (place_column is not None)
    return all(column in row for column in columns)


def check_charts(root, rows):
    shown = {}
    for figure in root.all("figure"):
        title = next(figure.all("figcaption")).text
        points, has_curves = read_points(figure, title)
        name = next((name for name in CHARTS if title == name or title.startswith(name + ": ")), None)
        if name is None:
            complain(f"a chart that is not known: {title}")
            continue
        shown.setdefault((name, has_curves), []).extend(
            (float(place) if has_curves else None, *point) for place, *point in points)
    for (name, has_curves), points in shown.items():
        place_column, measures = CHARTS[name]
        fitting = [row for row in rows if fits(row, name)]
        other = shown.get((name, not has_curves), [])
        wanted = Counter(expected_points(fitting, place_column, measures, has_curves))
        if place_column is None:    # the rows of several ages have one synchronization
            wanted = Counter(set(wanted))
        if other:   # operations of one size are not drawn as curves
            points = [(None, *point[1:]) for point in points + other]
            wanted = Counter((None, *point[1:]) for point in wanted.elements())
        for point, count in (Counter(points) - wanted).items():
            complain(f"{name}: shows {point} {count} times more than the results have it")
        for point, count in (wanted - Counter(points)).items():
            complain(f"{name}: lacks {point} {count} times")
    for row in rows:
        names = {name for name, (_, measures) in CHARTS.items()
                 if fits(row, name) and any(row[columns[0]] is not None for columns in measures)}
        if names and not names & {name for name, _ in shown}:
            complain(f"no chart of {row}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        root = Page(file.read()).root
    check_structure(root)
    check_tables(root)
    rows = []
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            rows += [row for row in map(json.loads, file) if "provenance" not in row]
    if rows:
        check_charts(root, rows)
    print("\n".join(complaints[:20]))


main()
