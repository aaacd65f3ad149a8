. "$parts/latency-sizes.sh"
title="Latency after a barrier / harmonized"
papers="EuroMPI 2023, Figures 6b, 7b, 9b, 10b, 12b, 13b"
look="Above 1, the barrier makes an operation look slower than it is; below 1, faster. For large messages the ratio
approaches 1, because the exit pattern of the barrier is short beside them."
data_name=latency-sizes

table() {
    $awk -F, "$read_csv"'
        value("avg_ns") == "" { next }
        { key = value("operation") SUBSEP value("algorithm") SUBSEP value("size_bytes") }
        value("release") == "barrier" { barrier[key] = value("avg_ns") }
        value("release") == "harmonize" { list[++n] = key; harmonized[n] = value("avg_ns") }
        END {
            print "operation,algorithm,size_bytes,ratio"
            for (i = 1; i <= n; i++) {
                split(list[i], part, SUBSEP)
                if (barrier[list[i]] != "" && harmonized[i] > 0)
                    printf "%s,%s,%s,%.5f\n", part[1], pretty(part[2]), part[3], barrier[list[i]] / harmonized[i]
            }
        }' "$data"
}

tell() {
    table | $awk -F, "$read_csv"'
        { take(value("operation"), value("ratio") + 0) }
        END { for (i = 1; i <= n; i++) printf "%s: from %.2f to %.2f.\n", list[i], min[list[i]], max[list[i]] }'
}
