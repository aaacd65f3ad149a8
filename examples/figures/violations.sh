. "$parts/gantt.sh"
title="Calls of MPI_Allreduce in an order that cannot be, by local clocks that were made to drift by 5 ppm"
papers="Cluster 2008, Figure 7"
look="A call is in an order that cannot be if a process leaves it before all have come. Clocks that were set once are
wrong soon, those corrected by a line amid the run, as drifts are not constant. The global clock stays near 0."
data_name=gantt

# In each part of the run.
table() {
    calls_together | $awk -F, "$clock_name"'
        BEGIN { print "clock,time_s,share" }
        { time[NR] = $3 / 1e9; clock[NR] = $1; wrong[NR] = $4; if ($3 / 1e9 > last) last = $3 / 1e9 }
        END {
            parts = 25
            for (i = 1; i <= NR; i++) {
                key = clock[i] SUBSEP int(time[i] * parts / (last * 1.0001))
                if (!(key in calls)) list[++n] = key
                calls[key]++; bad[key] += wrong[i]
            }
            for (i = 1; i <= n; i++) {
                split(list[i], part, SUBSEP)
                printf "%s,%.3f,%.2f\n", clock_name(part[1]), (part[2] + 0.5) * last / parts,
                    100 * bad[list[i]] / calls[list[i]]
            }
        }'
}
