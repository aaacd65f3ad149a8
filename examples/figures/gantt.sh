title="MPI_Allreduce by local clocks that were made to drift by 5 ppm, and by the global clock"
papers="Cluster 2018, Figure 10"
look="No process can leave the call before all have come. By clocks that were set once at the start, and by a line from
start to end, it looks as if they did; by the global clock they do not. Bars side by side are one call, of each part of
the run the one that was disturbed least."
needs=mpix_trace_report
# Of ranks again and again.
drifts_ppm=0,5,-5

# Beside this script, or in a build tree.
find_tracer() {
    local folder
    for folder in . ../lib/trace; do
        [ ! -x "$here/$folder/mpix_trace$suffix" ] || { echo "$folder/mpix_trace"; return; }
    done
}
problem() {
    [ -n "$(find_tracer)" ] || echo "there is no mpix_trace$suffix beside mpix_figures"
}

trace_rows() {          # KIND CLOCK
    supervise "$here/mpix_trace_report$suffix" "$work/trace" --drift $drifts_ppm --show "$1" --clock "$2" \
        --format csv 2>>"$log"
}

# CLOCK: the calls of the site that calls MPI_Allreduce most often.
traced_calls() {
    local site
    site=$(trace_rows sites "$1" | $awk -F, "$read_csv"'
        value("function") == "MPI_Allreduce" && value("calls") + 0 > most {
            most = value("calls") + 0
            site = value("site")
        }
        END { print site }')
    [ -n "$site" ] && trace_rows calls "$1" | $awk -F, -v site="$site" '/^#/ { next } !n++ || $1 == site'
}

# Once in some milliseconds, for long enough that clocks drift apart.
measure() {
    local clock calls
    calls=$(amount 2000 100)
    progress "$max_ranks ranks, $((calls / 100)) seconds"
    launch $max_ranks "$(find_tracer)" -o "$work/trace" "$here/mpix_bench$suffix" allreduce -m 8:8 --release window \
        --window-us 10000 -i "$calls" --max-repeat 2 -x 5 >"$work/out"
    [ $? -le 1 ] || return
    for clock in start linear global; do
        traced_calls $clock >"$work/calls" && append_csv ranks,clock "$max_ranks,$clock" <"$work/calls" || return
    done
}

# For each clock and call: enter, leave, and whether a process left before another one came.
calls_together() {
    $awk -F, "$read_csv"'
        { key = value("clock") "," value("call") }
        is_new(key) { list[++n] = key; last[key] = 0; first[key] = 1e30; at[key] = value("enter_ns") }
        value("enter_ns") + 0 > last[key] { last[key] = value("enter_ns") + 0 }
        value("leave_ns") + 0 < first[key] { first[key] = value("leave_ns") + 0 }
        END { for (i = 1; i <= n; i++) print list[i] "," at[list[i]] "," (first[list[i]] < last[list[i]]) }' "$data"
}

# From each part of the run the call that was disturbed least, by each clock: times from the arrival of rank 0.
table() {
    $awk -F, "$read_csv"'
        BEGIN { print "clock,row,time_s,rank,enter_us,leave_us"; rows = 16 }
        {
            m++
            clocks[m] = value("clock"); calls[m] = call = value("call") + 0; ranks[m] = value("rank")
            enter[m] = value("enter_ns") + 0; leave[m] = value("leave_ns") + 0
            if (call > last) last = call
            if (ranks[m] == 0) zero[clocks[m], call] = enter[m]
            if (clocks[m] == "global") { take(call, enter[m]); take(call, leave[m]) }
        }
        END {
            for (call = 0; call <= last; call++) {
                row = int(call * rows / (last + 1))
                if (!(row in best) || max[call] - min[call] < max[best[row]] - min[best[row]]) best[row] = call
            }
            for (i = 1; i <= m; i++) {
                row = int(calls[i] * rows / (last + 1))
                if (calls[i] != best[row]) continue
                from = zero[clocks[i], calls[i]]
                printf "%s,%d,%.2f,%d,%.3f,%.3f\n", clocks[i], row, from / 1e9, ranks[i], (enter[i] - from) / 1e3,
                    (leave[i] - from) / 1e3
            }
        }' "$data"
}

clock_name='
    function clock_name(clock) {
        return clock == "start" ? "set at the start" : clock == "linear" ? "a line" : "the global clock"
    }'

tell() {
    calls_together | $awk -F, "$clock_name"'
        { if (!($1 in calls)) list[++n] = $1; calls[$1]++; wrong[$1] += $4 }
        END {
            for (i = 1; i <= n; i++)
                printf "%s: in %d of %d calls a process seems to leave before all have come.\n", clock_name(list[i]),
                    wrong[list[i]], calls[list[i]]
        }'
    $awk -F, "$read_csv"'
        value("clock") == "global" && value("rank") > 0 && value("bound_ns") != "" {
            take("us", value("bound_ns") / 1e3)
        }
        END { if (n) printf "The bound of the global clock is %.2f to %.2f us.\n", min["us"], max["us"] }' "$data"
}
