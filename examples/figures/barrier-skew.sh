title="Exit skew of MPI_Barrier and MPIX_Harmonize"
papers="EuroMPI 2023, Figure 3"
look="The skew of a barrier grows with the number of processes, and reaches what a small collective operation
takes. The skew of MPIX_Harmonize stays near the time that it takes to read a clock."
needs=mpix_skew
value_column=p50_ns

measure() {
    local ranks
    for ranks in $(split_list "$ranks_list"); do
        [ "$ranks" -ge 2 ] || continue
        progress "$ranks ranks"
        collect ranks "$ranks" "$ranks" mpix_skew --format csv -i "$(amount 200000 2000)" \
            --time-slice-s "$(amount 3 0.3)" || return $failed
    done
}

tell() {
    $awk -F, "$read_csv"'
        { skew[value("ranks"), value("release")] = value("p50_ns") }
        is_new(value("ranks")) { list[++n] = value("ranks") }
        function median(ranks, scheme,    ns) { ns = skew[ranks, scheme]; return ns == "" ? "no valid call" : ns " ns" }
        END { for (i = 1; i <= n; i++) printf "%s processes, median: MPI_Barrier %s, MPIX_Harmonize %s.\n",
            list[i], median(list[i], "barrier"), median(list[i], "harmonize") }' "$data"
}
