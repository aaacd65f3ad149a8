# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Programs of this project under SMPI, SimGrid's simulator of MPI: what to compile, the platform, and how to run. To be
# sourced. The figures and the tests have no other way to the simulator.

simgrid_ranks_per_host=16

# Each process has a copy of the program, and Linux limits a simulation to 65,530 mappings.
simgrid_few_mappings="-Wl,-z,norelro -Wl,-z,noseparate-code"
# The simulator's default collective operations are linear, and cost it the square of the number of processes.
simgrid_flags="--cfg=smpi/simulate-computation:no --cfg=contexts/guard-size:0 --cfg=smpi/gather:ompi_binomial \
--cfg=smpi/reduce:ompi_binomial --cfg=smpi/allreduce:rdb"

# Links of 1 us with exponential jitter of mean 1 us for each message of a synchronization; clocks drift by up to 20
# ppm, and the drift wanders.
simgrid_clock() {       # SEED
    echo "exact=n0,spread=20000,walk=10,seed=$1,jitter=1000"
}

# Prints what is missing here, if anything.
simgrid_problem() {
    if ! command -v smpicc >/dev/null 2>&1 || ! command -v smpirun >/dev/null 2>&1; then
        echo "SimGrid is missing (Debian package: libsimgrid-dev)"
    elif ! pkg-config --exists hwloc 2>/dev/null; then
        echo "hwloc or pkg-config is missing (Debian packages: libhwloc-dev, pkg-config)"
    fi
}

# TOP PROGRAM: the .c files that the build makes a program of, with those of this project's libraries that it links.
simgrid_sources() {
    (cd "$1" && cat Makefile.am ./*/*.am) | "${AWK:-awk}" -v program="$2" '
        /^[ \t]*#/ { next }
        { line = line $0; if (sub(/\\$/, " ", line)) next }
        match(line, /^[A-Za-z][A-Za-z0-9_]* *[+]?= */) {
            name = substr(line, 1, RLENGTH)
            if (!(name ~ /[+]/)) value[name_of(name)] = ""
            value[name_of(name)] = value[name_of(name)] " " substr(line, RLENGTH + 1)
        }
        { line = "" }
        function name_of(text) { sub(/[ +=].*/, "", text); return text }
        function expand(text,    name) {
            while (match(text, /[$][(][A-Za-z0-9_]+[)]/)) {
                name = substr(text, RSTART + 2, RLENGTH - 3)
                text = substr(text, 1, RSTART - 1) value[name] substr(text, RSTART + RLENGTH)
            }
            return text
        }
        function gather(target,    word, n, i) {
            n = split(expand(value[target "_SOURCES"] " " value[target "_LDADD"] " " value[target "_LIBADD"]), word)
            for (i = 1; i <= n; i++) {
                if (known[word[i]]++) continue
                if (word[i] ~ /[.]c$/) print word[i]
                if (word[i] ~ /[.]la$/) { gsub(/[^A-Za-z0-9_]/, "_", word[i]); gather(word[i]) }
            }
        }
        END {
            for (name in value)
                if (name ~ "(^|_)" program "_SOURCES$") gather(substr(name, 1, length(name) - length("_SOURCES")))
        }'
}

# What runs the compiler and the simulator, such as timeout with its options.
simgrid_runner=

# TOP PROGRAM OUTPUT [SOURCE]...: compiles a program of the build, and more files, with the base clock "simulated".
simgrid_build() {
    local top=$1 program=$2 output=$3 list
    shift 3
    mapfile -t list < <(simgrid_sources "$top" "$program")
    [ ${#list[@]} -gt 0 ] || { echo "the build of $top has no program $program" >&2; return 1; }
    # shellcheck disable=SC2046,SC2086
    $simgrid_runner smpicc -std=gnu11 -O2 $simgrid_few_mappings -DMH_WITH_SIMULATED_CLOCK \
        -DPACKAGE_VERSION='"simulated"' -I"$top"/{lib,include,test,examples{,/bench}} \
        "${list[@]/#/$top/}" "${@/#/$top/}" -o "$output" $(pkg-config --cflags --libs hwloc) -lm -lpthread
}

# DIRECTORY RANKS: describes hosts for so many ranks.
simgrid_platform() {
    local host hosts=$((($2 + simgrid_ranks_per_host - 1) / simgrid_ranks_per_host))
    cat >"$1/platform.xml" <<END
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <cluster id="hosts" prefix="n" radical="0-$((hosts - 1))" suffix="" speed="10Gf" bw="10GBps" lat="500ns"
             loopback_bw="20GBps" loopback_lat="200ns"/>
  </zone>
</platform>
END
    for ((host = 0; host < hosts; host++)); do
        printf "n$host\n%.0s" $(seq $simgrid_ranks_per_host)
    done >"$1/hosts"
}

# DIRECTORY RANKS [OPTION OF SMPIRUN]... PROGRAM [ARGUMENT]...: runs a program on the platform in a directory.
simgrid_run() {
    local directory=$1 ranks=$2
    shift 2
    # shellcheck disable=SC2086
    $simgrid_runner env -C "$directory" smpirun -platform platform.xml -hostfile hosts -np "$ranks" $simgrid_flags "$@"
}
