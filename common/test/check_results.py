# SPDX-License-Identifier: BSD-3-Clause
"""Compares files of results with their heads and with the columns that tools declare, and prints what differs.

check_results.py PAGE FILE...   PAGE: what the tools print with --help-columns, and common/doc/results.md
check_results.py PAGE --kinds FILE   FILE: bench/report/kinds.json, whose columns are to be there
check_results.py --examples PAGE prints the blocks of Python in the page, separated by lines of dashes
"""
import csv
import json
import re
import sys

TYPES = {"text": str, "integer": int, "number": (int, float)}
ENDS = {"ns": "_ns", "bytes": "bytes", "ppb": "_ppb", "MB/s": "mb_per_s", "%": "_percent", "1/s": "_per_s", "": ""}


def read_page(path):
    """The columns of each list, by schema: (name, role, meaning), of a manifest (key, type, unit, with)."""
    tables, name = {}, None
    for line in open(path):
        heading = re.match("## `(mpix-[a-z-]+)` ([0-9]+)$", line)
        if heading:
            name = heading[1] + " " + heading[2]
            tables[name] = []
        elif line.startswith("#"):
            name = None
        elif name and (column := re.match("- (key )?`([^`]+)`(?: \\(.*?\\))?: (.*)$", line)):
            tables[name].append((column[2], "key" if column[1] else "figure", column[3]))
        elif name and line.startswith("| `"):
            cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)[|]", line)[1:-1]]
            tables[name].append((cells[0].strip("`"), *cells[1:]))
    return tables


def check_head(tables, schema, columns):
    """All columns are in the page, in its order, as they are declared."""
    if schema not in tables:
        yield f"the schema {schema} is not in the page"
        return
    at, rows = 0, tables[schema]
    for name, unit, role, kind, doc in columns:
        if schema.startswith("mpix-compare") and at == 0 and name != rows[0][0] and role == "key":
            continue    # the keys of what is compared come first
        fits = [place for place, row in enumerate(rows) if row[1:] == (role, doc) and
                re.fullmatch(re.escape(row[0]).replace("pN_", r"p[0-9.]+_"), name)]
        if not fits or fits[0] < at:
            yield f"{name} is not in the page as the head declares it, or has another place there"
        else:
            at = fits[0]
        if unit not in ENDS or not name.endswith(ENDS[unit]) or (unit == "ns") != name.endswith("_ns"):
            yield f"{name} has the unit {unit}"
        if kind not in TYPES:
            yield f"{name} has the type {kind}"


def value_of_text(text, kind):
    if text == "":
        return None
    if kind == "integer" and re.fullmatch("-?[0-9]+", text):
        return int(text)
    return float(text) if kind == "number" and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text) else text


def check_rows(columns, rows):
    if not rows:
        yield "no rows"
    for row in rows:
        if list(row) != [column[0] for column in columns]:
            yield f"a row has {list(row)}"
            return
        for name, _, _, kind, _ in columns:
            value = row[name]
            if value is not None and (not isinstance(value, TYPES[kind]) or isinstance(value, bool)):
                yield f"{name} is no {kind}: {value!r}"


def read_json(lines):
    head = json.loads(lines[0])
    columns = [tuple(column[key] for key in ("name", "unit", "role", "type", "doc")) for column in head["columns"]]
    if list(head) != ["schema", "version", "columns", "provenance"]:
        raise ValueError(f"the first line has {list(head)}")
    if not all(isinstance(value, str) for value in head["provenance"].values()):
        raise ValueError("a value of the provenance is no text")
    return f"{head['schema']} {head['version']}", columns, [json.loads(line) for line in lines[1:]]


def read_csv(lines):
    schemas = [line.split(": ")[1].strip() for line in lines if line.startswith("# schema: ")]
    columns = [tuple(line.split(": ", 1)[1].strip().split(",", 4)) for line in lines if line.startswith("# column: ")]
    kinds = {column[0]: column[3] for column in columns}
    rows = [{name: value_of_text(text, kinds.get(name)) for name, text in row.items()}
            for row in csv.DictReader(line for line in lines if not line.startswith("#"))]
    return "".join(schemas), columns, rows


def flatten(value, path=""):
    """Each value with its path, as the page names it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flatten(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for inner in value:
            yield from flatten(inner, path + "[]")
    else:
        yield path, value


def check_manifest(rows, manifest):
    there = dict(flatten(manifest))
    for path, value in there.items():
        row = next((row for row in rows if re.fullmatch(re.escape(row[0]).replace(r"\.\*", r"\.\w+"), path)), None)
        if row is None or not isinstance(value, TYPES[row[1]]):
            yield f"{path} is not in the page, or no {row and row[1]}"
    for row in rows:
        if not row[3] and row[0] not in there:
            yield f"{row[0]} lacks"


def check_kinds(tables, kinds):
    """Tables and charts of mpix_report are of columns that a tool declares, or that mpix_report adds."""
    declared = {name.split()[0]: {row[0] for row in rows} for name, rows in tables.items()}
    for schema, kind in kinds.items():
        there = declared.get(schema, set()) | {"variant", "launch", "file"}
        if schema == "mpix-compare":
            there |= declared["mpix-bench"]
        named = set(kind.get("first", [])) | set(kind.get("distribution", {}).values())
        for chart in kind["charts"]:
            named |= {chart[key] for key in ("panel", "x", "note", "ignored") if key in chart}
            for measure in chart["measures"]:
                named |= {measure[key] for key in ("column", "low", "high") if key in measure}
        if "distribution" in kind:
            there.add("share")
        for name in sorted(named - there):
            yield f"{schema} has no column {name}"


def check_file(tables, path):
    text = open(path, newline="").read()
    lines = text.splitlines(keepends=True)
    if lines[0] == "{\n":
        yield from check_manifest(tables["mpix-campaign 1"], json.loads(text))
        return
    schema, columns, rows = (read_json if text.startswith("{") else read_csv)(lines)
    yield from check_head(tables, schema, columns)
    yield from check_rows(columns, rows)


def main(arguments):
    if arguments[0] == "--examples":
        print("\n----\n".join(re.findall("^```python\n(.*?)\n```$", open(arguments[1]).read(), re.M | re.S)))
        return
    tables = read_page(arguments[0])
    if arguments[1] == "--kinds":
        for problem in check_kinds(tables, json.load(open(arguments[2]))):
            print(f"{arguments[2]}: {problem}")
        return
    for path in arguments[1:]:
        try:
            for problem in check_file(tables, path):
                print(f"{path}: {problem}")
        except (OSError, ValueError, KeyError) as error:
            print(f"{path}: {error!r}")


main(sys.argv[1:])
