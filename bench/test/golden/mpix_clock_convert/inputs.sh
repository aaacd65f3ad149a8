# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Records of two hosts over ten seconds, in which MONOTONIC of h2 is 3.5 s ahead of that of h1 and gains 20 us a second;
# REALTIME of h2 was set back by 0.25 s after 6 s. And files whose true times are known: 1, 2.5, 9 s after the start.
{
    echo '{"mpix_clock_records": 1, "unix_ns": 1700000000000000000, "rate_limit_ppb": 500000, "wander_ppb_per_s": 100}'
    echo '{"host": "h1", "boot": "a", "look_ns": 50000000}'
    echo '{"host": "h2", "boot": "b", "look_ns": 50000000, "monotonic_namespace_ns": 1000000000}'
    look() { echo "{\"host\": \"$1\", \"$2\": [$(($3)), $(($4)), $5]}"; } # HOST CLOCK READING OTHER WIDTHS
    for ((s = 0; s <= 10; s += 5)); do
        look h1 raw "(100 + s) * 1000000000" "s * 1000000000" 100
        look h1 monotonic "(100 + s) * 1000000000" "(100 + s) * 1000000000" "50, 200"
        look h2 raw "200000000000 + s * 1000020000" "s * 1000000000" 4000
        look h2 monotonic "103500000000 + s * 1000020000" "200000000000 + s * 1000020000" "50, 200"
    done
    # shellcheck disable=SC2034 # the arithmetic has it
    for ms in 0 5950 6000; do
        look h2 realtime "1700000000000000000 + ms * 1000020 - (ms == 6000) * 250000000" \
            "200000000000 + ms * 1000020" "50, 200"
    done
    echo '{"host": "h2", "raw": [2000'
} >clocks.jsonl
# Of h3, of h4, and of h3 and h2, which is in the records above.
{
    sed 1q clocks.jsonl
    echo '{"host": "h3", "boot": "c", "look_ns": 50000000}'
    look h3 raw 0 0 100
    look h3 raw 5000000000 5000000000 100
} >h3.jsonl
sed 's/h3/h4/' h3.jsonl >h4.jsonl
{
    cat h3.jsonl
    grep '"boot": "b"' clocks.jsonl
    look h2 raw 200000000000 0 4000
    look h2 raw 205000100000 5000000000 4000
} >between.jsonl

printf 'event,time\nfirst,104.500020\n"a, ""b""",106.000050\n,\nlast,112.500180\n' >h2.csv
printf 'request at 104.500020 s\nno time\nanswer at 112.500180 s\n' >h2.log
printf '2023-11-14 22:13:21.000020 start\n2023-11-14 22:13:25.950000 set\n' >dates.log
echo '[{"ph":"X","name":"call","ts":101000000.5,"dur":250.25,"pid":7,"tid":7,"args":{"n": 1}},
{"ph":"s","name":"f","id":3,"ts":101000001,"pid":7,"tid":7},
{"ph":"M","name":"thread_name","pid":7,"tid":7,"args":{"name":"main"}}]' >h1.json
echo '{"displayTimeUnit": "ms", "baseTimeNanoseconds": 100000000000, "traceEvents": [
{"ph": "X", "name": "a \"}\" b", "ts": 4500020, "dur": 1000020e-6, "pid": "Spans", "tid": 1},
{"ph": "f", "name": "f", "id": 3, "ts": 4500021.0, "pid": 7, "tid": 7, "bp": "e"},
]}' >h2.json
echo '[{"ph":"s","name":"f","id":"0x3","ts":101000001,"pid":7,"tid":7},
{"ph":"X","name":"x","bind_id":"0x7fff00000003","flow_out":true,"dur":0,"ts":101000001,"pid":7,"tid":7},
{"ph":"b","cat":"c","name":"l","id2":{"local":"0x3"},"ts":101000001,"pid":7,"tid":7},
{"ph":"b","cat":"c","name":"g","id2":{"global":"0x3"},"ts":101000001,"pid":7,"tid":7}]' >ids_of_h1.json
echo '[{"ph":"f","name":"f","id":"0x3","ts":104500021,"pid":7,"tid":7},
{"ph":"X","name":"x","bind_id":"0x7fff00000003","flow_in":true,"dur":0,"ts":104500021,"pid":7,"tid":7},
{"ph":"e","cat":"c","name":"l","id2":{"local":"0x3"},"ts":104500021,"pid":7,"tid":7},
{"ph":"e","cat":"c","name":"g","id2":{"global":"0x3"},"ts":104500021,"pid":7,"tid":7}]' >ids_of_h2.json
bytes() { printf '%b' "$(printf '\\x%s' "$@")"; }
{
    bytes d4 c3 b2 a1 02 00 04 00 00 00 00 00 00 00 00 00 ff ff 00 00 01 00 00 00
    bytes 68 00 00 00 34 a1 07 00 04 00 00 00 04 00 00 00 01 02 03 04 # 104.500020 s
} >h2.pcap
{
    bytes 0a 0d 0d 0a 1c 00 00 00 4d 3c 2b 1a 01 00 00 00 ff ff ff ff ff ff ff ff 1c 00 00 00
    bytes 01 00 00 00 14 00 00 00 01 00 00 00 ff ff 00 00 14 00 00 00
    bytes 06 00 00 00 24 00 00 00 00 00 00 00 00 00 00 00 f4 8b 3a 06 04 00 00 00 04 00 00 00 01 02 03 04 24 00 00 00
} >h2.pcapng # 104.500212 s, as microseconds
{
    bytes 0a 0d 0d 0a 1c 00 00 00 4d 3c 2b 1a 01 00 00 00 ff ff ff ff ff ff ff ff 1c 00 00 00
    bytes 01 00 00 00 14 00 00 00 01 00 00 00 ff ff 00 00 14 00 00 00
    bytes 05 00 00 00 34 00 00 00 00 00 00 00 00 00 00 00 34 8b 3a 06 02 00 08 00 00 00 00 00 34 8b 3a 06
    bytes 03 00 08 00 00 00 00 00 f4 8b 3a 06 00 00 00 00 34 00 00 00
} >statistics.pcapng # dumpcap's, of 104.500020 and 104.500212 s
printf 'python3.11 7 [001] 104.500020000: 10.77.0.1\nversion 1.2.3 at 112.500180: a\0b\n' >perf.txt
printf '2023-11-14 22:13:21,000020 INFO start\n2023-11-14T23:13:21.000020+01:00 INFO start\n' >zones.log
echo '{"traceEvents":[{"ph":"C","name":"n","ts":104500020,"pid":7,"args":{"used":3}}],"displayTimeUnit":"ns"}' >node.log
echo '{"traceEvents":[],"the name of this key has more than 38 characters":1,
"samples":[{"ts":1}],"systemTraceEvents":"SystemTraceData","powerTraceAsString":"1","displayTimeUnit":"ns"}' >keys.json
sed '$d' clocks.jsonl >utc.jsonl
{
    echo '{"host": "h1", "utc": [1700000000500000000, 100000000000, 2000000, 900000], "tai_s": 37}'
    echo '{"host": "h1", "utc": [1700000010500000000, 110000000000, 3000000, 900000], "tai_s": 37}'
} >>utc.jsonl
sed 's/1700000010500000000/1700000011500000000/' utc.jsonl >moved.jsonl
{
    sed '$d' clocks.jsonl
    echo '{"host": "h1", "utc": [1700000000500000000, 100000000000, 1000000, 900000], "tai_s": 37}'
    echo '{"host": "h2", "utc": [1700000010500000000, 210000200000, 500000, 90000], "tai_s": 37}'
} >words.jsonl
sed 's/, 2000000,/, -1,/; s/, 3000000,/, -1,/' utc.jsonl >unknown.jsonl
