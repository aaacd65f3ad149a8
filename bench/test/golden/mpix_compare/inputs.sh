# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Results that are written here, so that it is known what is different in them.
#
# Variables are those of test/programs/run.sh:
# shellcheck disable=SC2154
json_head=$(json_head mpix-bench "$bench_columns" '"program":"mpix_bench","host":"here"')
export json_head

# FILE LAUNCH SCALE [KEY=VALUE]...: three rows of allreduce. From launch to launch they differ by 0.2 %, the row of 1024
# bytes by about 30 %. All of 8 bytes are SCALE times as long. A KEY is ranks, run_time, operation, lacking.
write_launch() {
    local pair options=()
    for pair in launch="$2" scale="$3" ranks=4 run_time=makespan operation=allreduce lacking=none \
        "${@:4}"; do
        options+=(-v "$pair")
    done
    awk "${options[@]}" '
        function noise(i) { return ((launch * 7919 + i * 104729 + scale * 3571) % 1009) / 1009 - 0.5 }
        function row(size, median) {
            if (size == lacking) median = "null"
            printf "{\"operation\":\"%s\",\"release\":\"harmonize\",\"barrier\":null,\"ranks\":%d," \
                "\"run_time\":\"%s\",\"size_bytes\":%d,\"valid\":100,\"median_ns\":%s,\"p99_ns\":9000}\n",
                operation, ranks, run_time, size, median
        }
        BEGIN {
            print ENVIRON["json_head"]
            row(1024, sprintf("%.1f", 4000 * (1 + 0.6 * noise(3))))
            row(8, sprintf("%.1f", 1000 * scale * (1 + 0.002 * noise(1))))
            row(64, sprintf("%.1f", 2000 * (1 + 0.002 * noise(2))))
        }' >"$1"
}

# FOLDER LAUNCHES SCALE [KEY=VALUE]...
write_folder() {
    local launch
    mkdir -p "$1"
    for ((launch = 1; launch <= $2; launch++)); do
        write_launch "$1/$(printf %03d "$launch").json" "$launch" "${@:3}"
    done
}

# FOLDER SCALE RESOLUTION SPREAD [OTHERS]: six launches, whose minima hardly differ; medians of a byte are so many ns,
# and up to SPREAD more; in one, other programs took so much of the processors.
write_clocked() {
    local launch
    mkdir -p "$1"
    for launch in {1..6}; do
        json_head mpix-bench \
            "$bench_columns min_ns,ns,figure,integer others_percent,%,figure,number steal_percent,%,figure,number" \
            '"resolution_ns":"'"$3"'"'
        awk -v launch="$launch" -v scale="$2" -v spread="$4" -v others="${5-0.2}" 'BEGIN {
            for (size = 8; size <= 64; size *= 8)
                printf "{\"operation\":\"bcast\",\"size_bytes\":%d,\"valid\":9,\"median_ns\":%d,\"min_ns\":%d," \
                    "\"others_percent\":%g,\"steal_percent\":null}\n", size, scale * size + launch * 7 % 6 * spread / 5,
                    scale * size + launch % 2 * (spread > 0), (launch == 3 ? others : 0.2) }'
    done | awk -v folder="$1" '/"schema"/ { count++ } { print >(folder "/" count ".json") }'
}

# FOLDER BLOCKS VARIANT...: a campaign, of which each variant is slower than the one before by 20 % at 8 bytes.
write_campaign() {
    local folder=$1 blocks=$2 variant scale=1
    shift 2
    for variant in "$@"; do
        write_folder "$folder/$variant" "$blocks" "$scale"
        scale=$(awk -v scale="$scale" 'BEGIN { print scale * 1.2 }')
    done
    write_manifest "$folder" "$blocks" "$@"
}

# FOLDER SPAN_8 SPAN: launches whose arrivals have these longest delays, of 8 bytes and of other sizes.
write_arrivals() {
    mkdir -p "$1"
    for launch in a/*.json; do
        sed '1n; s/"size_bytes"/"arrival":"last-late:1.5x",&/; s/"p99_ns"/"arrival_span_ns":'"$3"',&/
            /"size_bytes":8,/s/"arrival_span_ns":[0-9]*/"arrival_span_ns":'"$2/" "$launch" >"$1/${launch#*/}"
    done
}

# FOLDER LAUNCHES FACTOR: allreduce and reduce+bcast, of which the latter takes 10 us, and allreduce FACTOR times that;
# with 2048 bytes it is always faster than with 1024.
write_guided() {
    local launch
    mkdir -p "$1"
    for ((launch = 1; launch <= $2; launch++)); do
        awk -v launch="$launch" -v factor="$3" '
            function row(operation, root, size, median) {
                noise = (launch * 7919 + size * 31 + length(operation) * 13) % 101 / 101
                printf "{\"operation\":\"%s\",\"ranks\":4,\"root\":%s,\"size_bytes\":%d,\"valid\":9," \
                    "\"median_ns\":%.1f}\n", operation, root, size, median * (1 + 0.004 * noise)
            }
            BEGIN {
                print ENVIRON["json_head"]
                row("allreduce", "null", 8, 10000 * factor); row("allreduce", "null", 1024, 15000)
                row("allreduce", "null", 2048, 12000)
                row("reduce+bcast", "null", 8, 10000); row("reduce+bcast", "null", 1024, 20000)
                row("reduce+bcast", "null", 2048, 21000); row("gather", "\"0\"", 8, 5000)
                row("allgather", "null", 8, 8000)
            }' >"$1/$launch.json"
    done
}

write_folder a 6 1
write_folder slower 7 1.2
write_folder wide 6 1.01 operation=allreduce
write_folder few 3 1
write_folder few_slower 3 1.2
write_folder many 20 1
write_folder many_slower 20 1.2
write_folder lonely 6 1
sed -i '/"size_bytes":8,/d; /"size_bytes":64,/d' lonely/*.json
write_folder other_ranks 6 1 ranks=8
write_folder other_run_time 6 1 run_time=local
write_folder other_operation 6 1 operation=reduce
write_folder lacking 6 1 lacking=64
write_folder vanished 6 1
write_folder slower_less 6 1.2
sed -i '/"size_bytes":64,/d' vanished/*.json slower_less/*.json
write_campaign campaign 7 one two
write_campaign campaign_of_5 5 one two
write_campaign three 6 red green blue
write_arrivals span 1000 2000
write_arrivals span_near 1090 1910
write_arrivals span_other 1111 2000
write_arrivals span_far 3000 800

write_clocked coarse 25 10 0
write_clocked coarse_slower 26 10 0
write_clocked busy 25 1 400 23.4
write_clocked busy_slower 26 1 400 23.4
write_clocked apart 25 1 30000
write_clocked apart_slower 26 1 30000
write_folder numbered 2 1 operation='reduce#1'
write_guided guided 7 1.3
write_guided guided_few 3 1.3
# Numbers that no column has room for.
for folder in vast tiny; do
    write_folder $folder 4 1
    sed -i "/size_bytes\":8,/s/median_ns\":[0-9.]*/median_ns\":1e$([ $folder = vast ] || echo -)308/" $folder/*.json
done
