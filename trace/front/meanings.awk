# SPDX-License-Identifier: BSD-3-Clause
# Makes the table of meanings that the tools of traces have, of meanings.txt: awk -f meanings.awk meanings.txt
#
# A row for each name: what a wait of the function is, and its flags for the analysis.

function trim(text) {
    gsub(/^[ \t]+|[ \t]+$/, "", text)
    return text
}

function emit(name, wait, flags,    means, one, count, i) {
    means = "0"
    count = split(flags, one, / +/)
    for (i = 1; i <= count; i++)
        if (one[i] ~ /^(local|unseen|trial|completes|probe|question|operation)$/)
            means = means " | MEANS_" toupper(one[i])
    printf "    {\"%s\", WAIT_%s, %s},\n", name, toupper(wait), means
}

/^#/ || /^ *$/ { next }
sub(/\\$/, "") {
    begun = begun $0
    next
}
{
    fields = split(begun $0, field, /\|/)
    begun = ""
    count = split(trim(field[1]), names, / +/)
    wait = match(field[2], /wait=[a-z_]+/) ? substr(field[2], RSTART + 5, RLENGTH - 5) : "unknown"
    for (i = 1; i <= count; i++)
        if (fields == 6)
            emit(names[i], trim(field[6]), "operation" (trim(field[6]) == "unknown" ? " unseen" : ""))
        else
            emit(names[i], wait, trim(field[2]))
}
