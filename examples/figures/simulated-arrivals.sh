. "$parts/arrivalmap.sh"
. "$parts/simulate.sh"
title="Collective operations by algorithm and by arrival pattern, 4 B, simulated"
papers="after CLUSTER 2024, algorithm selection by process arrival patterns, where truth is known"
look="As in arrivals, on simulated hosts without noise. The order of the algorithms depends on the pattern, and runs
whose clocks drift and jitter differently find the same orders."

measure_cell() { simulate "$1" "$2" "$3" "$1" -m 4:4 -i "$(amount 10 8)" -x 2 --arrival "$4"; }
measure() { prepare_simulation && measure_map 40 simulated_algorithms; }
