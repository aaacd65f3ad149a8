. "$parts/sync-duration.sh"
title="Error of the global clock just after synchronization, over processes"
papers="EuroMPI 2023, Figure 16"
look="Errors should stay far below what a small collective operation takes. The bound that the library states must
not be below them."

# Single launches, and the medians of their errors and of the bounds that the library stated.
table() {
    echo "what,sync,ranks,value"
    $awk -F, "$read_csv"'
        { print "launch," value("sync") "," value("ranks") "," at_least(error_ns(), 1) }
        value("bound_ns") != "" { print "bound," value("sync") "," value("ranks") "," value("bound_ns") }' "$data" |
        tee "$work/launches" | grep '^launch'
    medians 3 <"$work/launches" | sed 's/^launch/error/'
}
