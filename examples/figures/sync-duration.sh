title="Duration of clock synchronization over processes"
papers="EuroMPI 2023, Figure 15"
look="Algorithms that are trees grow with the logarithm of the number of processes, those that visit one process
after the other in proportion to it."
needs=mpix_clock
data_name=sync
plot=sync

measure() {
    local ranks
    for ranks in $(split_list "$ranks_list"); do
        [ "$ranks" -lt 2 ] || check_clocks "$ranks" "$(amount track,hca3o,hca3,jk track,hca3o)" 0 || return
    done
}

# Single launches, and their medians.
table() {
    echo "what,sync,ranks,value"
    $awk -F, "$read_csv"'{ print "launch," value("sync") "," value("ranks") "," value("took_ns") / 1e6 }' "$data" |
        tee "$work/launches"
    medians 3 <"$work/launches" | sed 's/^launch/median/'
}
