. "$parts/arrivalmap.sh"
title="Collective operations by algorithm and by arrival pattern, 4 B"
papers="after CLUSTER 2024, algorithm selection by process arrival patterns"
look="Each column is an arrival pattern. If the fastest algorithm of an operation differs between columns, the best
choice depends on how processes arrive. With two processes, most patterns are ascending or descending."
needs=mpix_bench

measure_cell() {
    choose_algorithms "$1" "$2"
    # shellcheck disable=SC2046
    bench $max_ranks algorithm,run "$2,$3" "$1" -m 4:4 $(calls_for 20 2000 1) --arrival "$4"
}
measure() { measure_map 20 algorithms; }
