title="MPI_Allreduce on hosts whose clocks drift: by clocks set once, by a line, and by the global clock"
papers="Cluster 2018, Figure 10"
look="No process can leave the call before all have arrived. By clocks that were set once at the start, and by a line
from start to end, some seem to; by the global clock, none do. Bars side by side are one call: in each part of the
run, the one that was disturbed least."
# Those that the launcher starts ranks on, if there are several.
hosts() {
    supervise "$launcher" $launcher_flags -n "$max_ranks" hostname 2>>"$log" | sort -u
}
# Where the trace is from: given, of ranks on several hosts, or of two hosts that a test makes of this machine.
find_source() {
    if [ -n "$given_trace" ]; then
        echo given
    elif [ -z "$(launcher_problem 2)" ] && [ "$(hosts | wc -l)" -gt 1 ]; then
        echo launched
    else
        echo made
    fi
}

# Beside this script, or in a build tree.
find_tracer() {
    local folder
    for folder in . ../lib/interpose; do
        [ ! -x "$here/$folder/mpix_trace" ] || { echo "$folder/mpix_trace"; return; }
    done
}

problem_of_made_hosts() {
    local line
    if [ -z "$built_from" ]; then
        echo "clocks drift between hosts: give a trace of several by --trace, name hosts to the launcher by" \
            "MPIEXEC_FLAGS, or build the sources, which can make hosts of this machine"
    elif line=$("$built_from/test/hosts/with_hosts.sh" 2 true 2>&1 </dev/null); [ $? -eq 77 ]; then
        echo "it takes several hosts, and this machine cannot be made into two: ${line#skip: }"
    fi
}
problem() {
    local source
    source=$(find_source)
    if [ ! -x "$here/mpix_trace_report" ]; then
        echo "there is no mpix_trace_report beside mpix_figures"
    elif [ $source != given ] && [ -z "$(find_tracer)" ]; then
        echo "there is no mpix_trace beside mpix_figures"
    elif [ $source = made ]; then
        launcher_problem 1
        problem_of_made_hosts
    fi
}

trace_hosts() {         # once in some milliseconds, for long enough that clocks drift apart
    local calls
    calls=$(amount 6000 100)
    progress "$max_ranks ranks, $((calls / 100)) seconds"
    launch $max_ranks "$(find_tracer)" -o "$folder" "$here/mpix_bench" allreduce -m 8:8 --release window \
        --window-us 10000 -i "$calls" --max-repeat 2 -x 5 >"$work/out"
    [ $? -le 1 ]
}
# The test's clock of the second host is one that drifts in a known way.
trace_made_hosts() {
    local make=${MAKE:-make} cc
    cc=$(sed -n 's/^CC = //p' "$here/../Makefile")
    progress "two hosts, $(amount 60 5) seconds"
    supervise $make -C "$here/.." test/simulation/trace_truth test/simulation/interpose_simulated.la >>"$log" 2>&1 &&
        supervise env -C "$here/.." -u MPIX_TEST_BRIEF -u MPIX_TEST_QUICK MPIEXEC="$launcher" CC="$cc" \
            bash "$built_from/test/simulation/run_trace_tests.sh" $(amount "60 100000" "5 8000") "$work/hosts" \
            >>"$log" 2>&1 &&
        [ -d "$folder" ]
}

# KEY: what processes of the trace tell of themselves, each answer once.
told() {
    grep -ahs "^$1 " "$folder"/rank-*.mpixtrace | cut -d' ' -f2- | tr -d '\\' | sort -u | paste -sd,
}
describe_hosts() {
    case $1 in
    made) echo "two namespaces of one machine, of which one clock was made to drift by 20 ppm, and to swing by 3 ppm" ;;
    *) told host ;;
    esac
}

trace_rows() {          # KIND CLOCK
    supervise "$here/mpix_trace_report" "$folder" --show "$1" --times "$2" --format csv 2>>"$log"
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
    [ -n "$site" ] || { echo "the trace has no calls of MPI_Allreduce by several processes" >>"$log"; return $failed; }
    trace_rows calls "$1" | $awk -F, -v site="$site" '/^#/ { next } !n++ || $1 == site'
}

measure() {
    local clock source folder=${given_trace:-$work/hosts/trace} ranks
    source=$(find_source)
    case $source in
    launched) folder=$(cd "$output_dir" && pwd)/gantt.trace && rm -rf "$folder" && trace_hosts ;;
    made) trace_made_hosts ;;
    esac || return
    ranks=$(find "$folder/" -name 'rank-*.mpixtrace' | wc -l)
    [ $source != given ] || sed -i "s|^# library: .*|# library: $(told mpi | tr -s '|&\\\t' ' ')|" "$data"
    echo "# hosts: $(describe_hosts $source)" >>"$data"
    for clock in start linear global; do
        traced_calls $clock >"$work/calls" && append_csv ranks,clock "$ranks,$clock" <"$work/calls" || return
    done
}

# Each call by each clock: when a process came, and whether one left before another one came.
calls_together() {
    $awk -F, "$read_csv"'
        BEGIN { print "clock,call,enter_ns,wrong" }
        { key = value("clock") "," value("call") }
        is_new(key) { list[++n] = key; last[key] = 0; first[key] = 1e30; at[key] = value("enter_ns") }
        value("enter_ns") + 0 > last[key] { last[key] = value("enter_ns") + 0 }
        value("leave_ns") + 0 < first[key] { first[key] = value("leave_ns") + 0 }
        END { for (i = 1; i <= n; i++) print list[i] "," at[list[i]] "," (first[list[i]] < last[list[i]]) }' "$data"
}

# From each part of the run the call that was disturbed least, by each clock: times from when its first row came.
table() {
    $awk -F, "$read_csv"'
        BEGIN { print "clock,row,time_s,rank,enter_us,leave_us"; rows = 16 }
        {
            m++
            clocks[m] = value("clock"); calls[m] = call = value("call") + 0; ranks[m] = value("rank")
            enter[m] = value("enter_ns") + 0; leave[m] = value("leave_ns") + 0
            if (call > last) last = call
            if (!((clocks[m], call) in zero)) zero[clocks[m], call] = enter[m]
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

tell() {
    echo "Hosts: $(data_note hosts)."
    calls_together | $awk -F, "$read_csv"'
        { take(value("clock"), value("wrong")) }
        END {
            name["start"] = "Set at the start"; name["linear"] = "By a line"; name["global"] = "By the global clock"
            for (i = 1; i <= n; i++)
                printf "%s, a process seems to leave before all have come in %d of %d calls.\n", name[list[i]],
                    sum[list[i]], count[list[i]]
        }'
    $awk -F, "$read_csv"'
        value("clock") == "global" && value("rank") > 0 && value("bound_ns") != "" {
            take("us", value("bound_ns") / 1e3)
        }
        END { if (n) printf "The bound of the global clock is %.2f to %.2f us.\n", min["us"], max["us"] }' "$data"
}
