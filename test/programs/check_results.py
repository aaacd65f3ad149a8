# SPDX-License-Identifier: BSD-3-Clause
"""Compares files of results with the tables in doc/results.md, column by column, and prints what differs.

check_results.py PAGE FILE...    where a raw file is raw:SCHEMA:FILE
check_results.py --examples PAGE prints the blocks of Python in the page, separated by lines of dashes
"""
import csv
import json
import re
import sys


class Column:
    def __init__(self, cells):
        self.name, type_text, self.unit, self.condition = [cell.strip("` ") for cell in cells[:4]]
        self.type = type_text.split()[0]
        self.may_lack = type_text.endswith(" or null")
        pattern = re.escape(self.name).replace("N", r"[0-9]+(\.[0-9]+)?") if self.name[1:2] == "N" else re.escape(
            self.name).replace(r"\.\*", r"\.[A-Za-z0-9_]+")
        self.pattern = re.compile(pattern + "$")
        self.is_optional = self.condition != ""

    def complain(self, value):
        """What is wrong with a value of JSON, or None."""
        if value is None:
            return None if self.may_lack else "has no value"
        types = {"text": str, "integer": int, "number": (int, float)}
        if not isinstance(value, types[self.type]) or isinstance(value, bool):
            return f"is no {self.type}: {value!r}"
        return None

    def value_of_text(self, text):
        """What a field of comma-separated values is in JSON."""
        if text == "":
            return None
        if self.type == "integer" and re.fullmatch("-?[0-9]+", text):
            return int(text)
        if self.type == "number" and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text):
            return float(text)
        return text


def read_page(path):
    """The columns by schema; those of raw files by "raw" and schema."""
    tables, name = {}, None
    for line in open(path):
        heading = re.match("#+ (Raw file of )?`(mpix-[a-z-]+)`( [0-9]+)?$", line)
        if heading:
            name = ("raw " if heading[1] else "") + heading[2] + (heading[3] or "")
            tables[name] = []
        elif line.startswith("#"):
            name = None
        elif name and re.match("[|] `", line):
            tables[name].append(Column(re.split(r"(?<!\\)[|]", line)[1:-1]))
    return tables


def check_unit(column):
    """A time has its unit at the end of its name, and the others likewise."""
    ends = {"ns": "_ns", "bytes": "bytes", "ppb": "_ppb", "MB/s": "mb_per_s", "%": "_percent", "1/s": "_per_s", "": ""}
    return column.unit in ends and column.name.endswith(ends[column.unit]) and (
        column.unit == "ns") == column.name.endswith("_ns")


def check_names(columns, names):
    """All names are in the table, in its order, and none that must be there lacks."""
    at = 0
    for name in names:
        while at < len(columns) and not columns[at].pattern.match(name):
            if not columns[at].is_optional:
                return f"{name} comes instead of {columns[at].name}"
            at += 1
        if at == len(columns):
            return f"{name} is not in the page, or has another place there"
        if "N" not in columns[at].name:
            at += 1
    lacking = [column.name for column in columns[at:] if not column.is_optional]
    return f"{lacking[0]} lacks" if lacking else None


def check_rows(columns, rows):
    if not rows:
        yield "no rows"
    for row in rows:
        problem = check_names(columns, row)
        if problem:
            yield problem
            return
        for name, value in row.items():
            column = next(column for column in columns if column.pattern.match(name))
            value = column.value_of_text(value) if isinstance(row, CsvRow) else value
            if column.complain(value):
                yield f"{name} {column.complain(value)}"


class CsvRow(dict):
    """Its values are texts."""


def read_csv(lines):
    return [CsvRow(row) for row in csv.DictReader(line for line in lines if not line.startswith("#"))]


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


def check_manifest(columns, manifest):
    for path, value in flatten(manifest):
        column = next((column for column in columns if column.pattern.match(path)), None)
        problem = "is not in the page" if column is None else column.complain(value)
        if problem:
            yield f"{path} {problem}"
    there = {path for path, _ in flatten(manifest)}
    for column in columns:
        if not column.is_optional and column.name not in there:
            yield f"{column.name} lacks"


def check_file(tables, path):
    if path.startswith("raw:"):
        _, schema, path = path.split(":", 2)
        yield from check_rows(tables["raw " + schema], read_csv(open(path, newline="")))
        return
    text = open(path, newline="").read()
    lines = text.splitlines(keepends=True)
    if not text.startswith("{"):
        schemas = [line.split(": ")[1].strip() for line in lines if line.startswith("# schema: ")]
        if len(schemas) == 1 and schemas[0] in tables:
            yield from check_rows(tables[schemas[0]], read_csv(lines))
        else:
            yield f"schemas {schemas} are not in the page"
        return
    is_manifest = lines[0] == "{\n"
    head = json.loads(text if is_manifest else lines[0])
    columns = tables.get(f"{head.get('schema')} {head.get('version')}")
    if columns is None:
        yield f"the schema of {lines[0]!r} is not in the page"
    elif is_manifest:
        yield from check_manifest(columns, head)
    else:
        if list(head) != ["schema", "version", "provenance"]:
            yield f"the first line has {list(head)}"
        if not all(isinstance(value, str) for value in head["provenance"].values()):
            yield "a value of the provenance is no text"
        yield from check_rows(columns, [json.loads(line) for line in lines[1:]])


def main(arguments):
    if arguments[0] == "--examples":
        print("\n----\n".join(re.findall("^```python\n(.*?)\n```$", open(arguments[1]).read(), re.M | re.S)))
        return
    tables = read_page(arguments[0])
    for name, columns in tables.items():
        if not columns:
            print(f"{arguments[0]}: no table of {name}")
        for column in columns:
            if not check_unit(column):
                print(f"{arguments[0]}: {name}: {column.name} has the unit {column.unit!r}")
    for path in arguments[1:]:
        try:
            for problem in check_file(tables, path):
                print(f"{path}: {problem}")
        except (OSError, ValueError) as error:
            print(f"{path}: {error}")


main(sys.argv[1:])
