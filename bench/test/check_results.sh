#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Files of results have the columns that the programs declare, common/doc/results.md names all schemas, and pandas reads
# files by the lines that stand there.
. "$(dirname "$0")/../../test/programs/run.sh"
give_way
past_libtool
. "$top/common/test/columns.sh"
. "$top/common/test/page.sh"
document=$top/common/doc/results.md
columns_page >"$scratch/columns.md"
export MPIX_HARMONIZE_TOLERANCE_NS=1000000000 PYTHONDONTWRITEBYTECODE=1

command -v python3 >/dev/null || skip_all "it takes python3"

validate() {        # FILE...
    python3 "$top/common/test/check_results.py" "$scratch/columns.md" "$@" 2>&1
}

# Each with options that give all columns.
printf '%s\n' "latency bibw barrier reduce+bcast" "ibcast --overlap" >"$scratch/jobs"
outputs() {
    cat <<END
bench 2 mpix_bench --jobs $scratch/jobs -m 8,64 -i 12 -x 2 -c --raw RAW
bench_usual 2 mpix_bench reduce -m 8:8 -i 12 -x 2 --raw RAW
bench_arrivals 2 mpix_bench bcast -m 8:8 -i 12 -x 2 --arrival last-late:5 --raw RAW
skew 2 mpix_skew -i 50 -x 5 --raw RAW
clock_check 2 mpix_clock check --sync none,hca3/5 --ages-s 0 --raw RAW
clock_drift 2 mpix_clock drift --duration-s 0.2 --interval-s 0.02 --raw RAW
clock_list 2 mpix_clock list --reads 1000 --raw RAW
END
}

check_kinds() {
    local kinds=$top/bench/report/kinds.json
    validate --kinds "$kinds"
    sed 's/"median_low_ns"/"median_lower_ns"/' "$kinds" >"$scratch/kinds"
    validate --kinds "$scratch/kinds" | grep -q "mpix-bench has no column median_lower_ns" ||
        echo "a column that no tool has is not noticed"
}

# NAME RANKS PROGRAM [OPTION]...: what it writes in all formats, and its raw file.
check_outputs() {
    local name=$1 format
    shift
    for format in $formats; do
        run "${@//RAW/$scratch/calls}" --format $format --output "$scratch/$name.$format"
        [ "$status" -le 1 ] && [ -s "$scratch/$name.$format" ] || complain "writes nothing"
        [ ! -s "$scratch/out" ] || complain "prints although there is --output"
        validate "$scratch/$name.$format"
        case "$*" in *RAW*) validate "$scratch/calls" ;; esac
    done
    case "$*" in
    *RAW*)
        mv "$scratch/calls" "$scratch/$name.raw"
        ;;
    esac
}

check_manifest() {
    succeeds run alone mpix_campaign -o "$scratch/campaign" --launches 2 -- X=1 cat "$scratch/bench_usual.json" \
        -- first: cat "$scratch/bench.json"
    validate "$scratch/campaign/manifest.json" "$scratch"/campaign/*/*.json
    sed 's/"launch": 1/"launch": "1"/; s/"block"/"blocks"/' "$scratch/campaign/manifest.json" >"$scratch/manifest"
    [ "$(validate "$scratch/manifest" | wc -l)" -gt 1 ] || echo "another manifest is not noticed"
}

# Each launch with itself: what matters are columns.
check_comparison() {
    local format
    mkdir -p "$scratch/launches"
    for launch in 1 2 3 4; do cp "$scratch/bench_arrivals.json" "$scratch/launches/$launch.json"; done
    for format in csv json; do
        succeeds run alone mpix_compare "$scratch/launches" "$scratch/launches" --format $format \
            --output "$scratch/compare.$format"
    done
    validate "$scratch/compare.csv" "$scratch/compare.json"
}

# A page of all files.
check_page() {
    succeeds run alone mpix_report "$scratch"/*.json -o "$page"
    [ "$(grep -c '^<h2>' "$page")" -eq 5 ] || complain "not a section for each tool"
    expect_page "$scratch"/*.json
}

# Of single measurements.
check_raw_page() {
    succeeds run alone mpix_report "$scratch"/{skew,clock_list,clock_drift,clock_check}.raw -o "$page"
    [ "$(grep -c '^<h2>' "$page")" -eq 4 ] || complain "not a section for each tool"
    expect_page
    [ -z "$browser" ] || { browse "$page" --dump-dom && cp "$scratch/browsed" "$page" && expect_page; }
}

# Raw files of all tools, and one of CSV, beside results: mpix_compare leaves them out, and says so once for each side;
# mpix_report has no chart of those of mpix_bench.
check_beside() {
    local folder=$scratch/launches name
    run alone mpix_compare "$folder" "$folder" --format csv
    cp "$scratch/out" "$scratch/compared"
    cp "$scratch/bench.csv" "$folder"
    for name in bench skew clock_check clock_drift clock_list; do cp "$scratch/$name.raw" "$folder/$name.json"; done
    run alone mpix_compare "$folder" "$folder" --format csv
    expect_status 0
    [ "$(own_messages | grep -c ', so it is left out$')" -eq 12 ] || complain "does not name each"
    cmp -s "$scratch/out" "$scratch/compared" || complain "other output than without raw files"
    run alone mpix_report "$folder"
    expect_status 0
    [ "$(own_messages | grep -c '/bench.*, so it is left out$')" -eq 2 ] || complain "does not name what is left out"
    rm "$folder"/[0-9]*.json
    run alone mpix_compare "$folder" "$folder"
    expect_status 2
    own_messages | grep -q "$folder: no file has results" || complain "does not tell that nothing is left"
}

# That the validation notices what it is for.
check_validation() {
    local change
    while read -r change; do
        sed "$change" "$scratch/bench_usual.json" >"$scratch/changed.json"
        [ -n "$(validate "$scratch/changed.json")" ] || echo "not noticed: $change"
    done <<'END'
1s/mpix-bench/mpix-bank/
1s/"version":2/"version":1/
1s/"role":"key"/"role":"figure"/
1s/"unit":"ns"/"unit":"us"/
2s/"avg_ns"/"avg_us"/
2s/"missed":[0-9]*,//
2s/"size_bytes":8/"size_bytes":8.5/
2s/"operation":"reduce"/"operation":7/
2s/}$/,"further":1}/
2d
END
    sed 's/,8,/,8.5,/' "$scratch/bench_usual.csv" >"$scratch/changed.csv"
    [ -n "$(validate "$scratch/changed.csv")" ] || echo "not noticed in csv: a size that is not whole"
}

check_pandas() {
    local example rows number=0
    mkdir "$scratch/pandas" && cd "$scratch/pandas" || return
    cp "$scratch/bench_usual.csv" results.csv
    cp "$scratch/bench_usual.json" results.json
    mkdir -p campaign/A campaign/B
    cp results.json campaign/A/0000.json
    cp results.json campaign/B/0001.json
    python3 "$top/common/test/check_results.py" --examples "$document" |
        awk '/^----$/ { n++; next } { print >"example" n + 0 }'
    for example in example?; do
        number=$((number + 1))
        [ "$(wc -l <"$example")" -eq 3 ] || echo "$example has not three lines"
        rows=1
        [ "$number" -ne 3 ] || rows=2
        { cat "$example"; echo "assert len(rows) == $rows, rows"
            echo "assert (rows['size_bytes'] == 8).all() and (rows['median_ns'] > 0).all(), rows"; } >"$example.py"
        "$python" "$example.py" >printed 2>problem || cat problem
    done
    [ "$number" -eq 3 ] || echo "$number examples, not 3"
    cd - >/dev/null || return
}

has_pandas() { "$python" -c 'import pandas'; }

quick tap_check_if "test -x $programs/mpix_report" "mpix_report is not built: there is no Jansson library" \
    "mpix_report shows columns that there are" check_kinds
while read -r -a words <&3; do
    tap_check "${words[2]} (${words[0]})" check_outputs "${words[@]}"
done 3< <(outputs)
if [ -s "$scratch/bench_usual.csv" ]; then
    if [ -x "$programs/mpix_campaign" ]; then
        tap_check "the manifest of a campaign" check_manifest
        tap_check "a page" check_page
        tap_check "a page of raw files" check_raw_page
        tap_check "a comparison" check_comparison
        tap_check "raw files beside results" check_beside
    else
        tap_skip "the manifest of a campaign" "mpix_campaign is not built: there is no Jansson library"
        tap_done
        exit
    fi
    tap_check "the validation notices what is not in the page" check_validation
    for python in python3 /usr/bin/python3; do
        "$python" -c 'import pandas' 2>/dev/null && break
    done
    tap_check_if has_pandas "there is no pandas (Debian package: python3-pandas)" \
        "pandas reads results by three lines" check_pandas
fi
tap_done
