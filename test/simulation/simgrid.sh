# SPDX-License-Identifier: BSD-3-Clause
#
# Programs of this project under SMPI, SimGrid's simulator of MPI: what to compile, the platform, and how to run. To be
# sourced. The figures and the tests have no other way to the simulator.

simgrid_ranks_per_host=16

# Each process has a copy of the program, and Linux limits a simulation to 65,530 mappings.
simgrid_few_mappings="-Wl,-z,norelro -Wl,-z,noseparate-code"
# The simulator's default collective operations are linear, and cost it the square of the number of processes.
simgrid_flags="--cfg=smpi/simulate-computation:no --cfg=contexts/guard-size:0 --cfg=smpi/gather:ompi_binomial \
--cfg=smpi/reduce:ompi_binomial --cfg=smpi/allreduce:rdb --cfg=smpi/allgather:bruck"

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

# What runs the compiler and the simulator, such as timeout with its options; and further options of the compiler and
# of the linker.
simgrid_runner=
simgrid_cflags=()
simgrid_ldflags=()

# TOP FOLDER...: the sources in these folders that the build names, but for the one that it makes
simgrid_sources() {
    local top=$1 folder
    shift
    for folder; do
        grep -ohE "$folder/[a-z0-9_/]+\.c" "$top"/{lib,bench,common}/*.am 2>/dev/null
    done | sort -u | sed "s|^|$top/|"
}

# TOP OBJECTS SOURCE...: compiles these files and folders into a new folder, with the base clock "simulated".
simgrid_compile() {
    local top=$1 objects=$2 list i source folders=()
    shift 2
    list=()
    for source; do
        case $source in *.c) list+=("$top/$source") ;; *) folders+=("$source") ;; esac
    done
    mapfile -t -O ${#list[@]} list < <(simgrid_sources "$top" "${folders[@]}")
    rm -rf "$objects" && mkdir "$objects" || return
    for i in "${!list[@]}"; do printf '%s\0' "${list[i]}" -o "$objects/$i.o"; done >"$objects/list"
    # shellcheck disable=SC2046,SC2086
    $simgrid_runner xargs -0 -a "$objects/list" -n 3 -P "$(nproc)" smpicc -std=gnu11 -O2 -DMH_WITH_SIMULATED_CLOCK \
        -DPACKAGE_VERSION='"simulated"' -I"$top" -I"$top"/{lib,include,test} \
        $(pkg-config --cflags hwloc) "${simgrid_cflags[@]}" -c
}

# OUTPUT OBJECT...: links a program.
simgrid_link() {
    local output=$1
    shift
    # shellcheck disable=SC2046,SC2086
    $simgrid_runner smpicc $simgrid_few_mappings "$@" "${simgrid_ldflags[@]}" -o "$output" \
        $(pkg-config --libs hwloc) -lm -lpthread
}

# TOP OUTPUT SOURCE...: makes a program of these files or folders and the library.
simgrid_build() {
    local top=$1 output=$2
    shift 2
    simgrid_compile "$top" "$output.objects" lib "$@" && simgrid_link "$output" "$output.objects"/*.o &&
        rm -rf "$output.objects"
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
