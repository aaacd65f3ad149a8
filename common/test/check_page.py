# SPDX-License-Identifier: BSD-3-Clause
"""Holds a page to its rules, its data to the results, and its charts to the data. Prints what is wrong.

    check_page.py PAGE [RESULTS]...

PAGE is what the program wrote, or what a browser made of it. The results, if any are given, are all that it shows.
"""
import html.parser
import json
import re
import sys
from collections import Counter

VOID = {"meta", "link", "input", "br", "hr", "img"}

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
    for name in ("html", "head", "body", "h1", "main", "style", "nav"):
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


def is_drawn(value):
    return isinstance(value, (int, float)) and (value == 0 or 1e-100 < abs(value) < 1e100)


def table_rows(table):
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def check_data(data, rows):
    """The tables for the script have all rows of the results, and no other values."""
    shown = [row for table in data["tables"] for row in table_rows(table)]
    for row in rows:
        if not any(all(other.get(name) == value for name, value in row.items()) for other in shown):
            complain(f"the data lacks {row}")
    for table in data["tables"]:
        complaints.extend(f"a row of {len(row)} values" for row in table["rows"] if len(row) != len(table["columns"]))


def check_charts(root, data):
    """After the script ran: each chart has a point for each value, and labels on its axes."""
    for place in root.all("div", "charts"):
        chart = data["charts"][int(place.attributes["data-chart"])]
        figures = list(place.all("figure"))
        if "table" not in chart or not figures:
            continue
        wanted = Counter(float(row[measure["column"]]) for row in table_rows(data["tables"][chart["table"]])
                         for measure in chart["measures"] if is_drawn(row.get(measure["column"]))
                         if all(is_drawn(row.get(chart[axis])) for axis in ("x", "y") if chart.get(axis))
                         and row.get(chart.get("without")) is None)
        nodes = [*place.all("path", "point"), *place.all("rect", "heat")]
        shown = Counter(float(node.attributes["data-value"]) for node in nodes if "data-value" in node.attributes)
        if chart.get("ignored"):
            wanted, shown = Counter(set(wanted)), Counter(set(shown))
        if wanted != shown:
            complain(f"{chart['title']}: shows {shown - wanted} more, lacks {wanted - shown}")
        for figure in figures:
            ticks = list(figure.all("path", "tick"))
            picture = next(figure.all("svg", "chart"))
            labels = [text.text for text in picture.all("text") if "title" not in text.classes()]
            has_ticks = ticks or chart.get("type") == "map"
            if len(labels) < 2 or not has_ticks or any(re.search("NaN|undefined|Infinity", text) for text in labels):
                complain(f"{chart['title']}: labels {labels}")
            if any(re.search("NaN|undefined|Infinity", str(node.attributes)) for node in picture.all()):
                complain(f"{chart['title']}: draws what is no number")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        root = Page(file.read()).root
    check_structure(root)
    check_tables(root)
    data = json.loads(next(node for node in root.all("script") if node.attributes.get("id") == "data").text)
    rows = []
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            rows += [row for row in map(json.loads, file) if "provenance" not in row]
    check_data(data, rows)
    if len(data["charts"]) != len(list(root.all("div", "charts"))):
        complain("not a place for each chart")
    check_charts(root, data)
    print("\n".join(complaints[:20]))


main()
