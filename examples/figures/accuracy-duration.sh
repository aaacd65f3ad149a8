title="Accuracy of the global clock against the duration of synchronization"
papers="Cluster 2018, Figures 3 to 6"
look="Good algorithms are in the lower left corner, and stay there for some time after the synchronization, when a bad
estimate of the drift shows."
needs=mpix_clock
value_column=took_ns

measure() {
    check_clocks $max_ranks "$(amount track,skampi,jk,hca,hca2,hca3,hca3o,hca3+prop track,hca3o)" "$(amount 0,2 0,0.1)"
}
