. "$parts/gantt.sh"
title="Calls of MPI_Allreduce that seem to end before all have come, on hosts whose clocks drift"
papers="Cluster 2008, Figure 7"
look="Nobody can leave a call before all have come. Clocks that were set once are wrong soon, and those corrected by a
line amid the run, as drifts are not constant. The global clock stays near 0."
data_name=gantt

table() { calls_together; }
