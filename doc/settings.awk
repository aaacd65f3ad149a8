# SPDX-License-Identifier: BSD-3-Clause
# Prints mpix_harmonize.7 with what doc/print_settings prints of the settings: after the heading of each setting, up to
# .br, its default, unit and allowed values; and the block of variables. "make update-manual" runs it:
#
#     doc/print_settings | awk -f settings.awk - mpix_harmonize.7

function fold(text,    end) {
    while (length(text) > 120) {
        for (end = 120; substr(text, end + 1, 1) != " "; end--)
            ;
        print substr(text, 1, end)
        text = substr(text, end + 2)
    }
    print text
}

FNR == 1 { file++ }
file == 1 && /^setting\|/ {
    split($0, field, "|")
    key = "mpix_harmonize_" field[2]
    keys[++count] = key
    unit[key] = field[3]
    default_value[key] = field[4]
    allowed[key] = field[5]
}
file == 1 { next }

/^\.br/ { is_inside = 0 }
/^\.\\" variables end/ { is_inside = 0 }
is_inside { next }
{ print }
previous == ".TP" && /^\.B mpix_harmonize_/ && $2 in unit {
    print "Default: " default_value[$2] "."
    if (unit[$2] != "")
        print "Unit: " unit[$2] "."
    fold("Allowed: " allowed[$2] ".")
    is_described[$2] = is_inside = 1
}
/^\.\\" variables begin/ {
    for (i = 1; i <= count; i++) {
        print i == 1 ? ".TP" : ".TQ"
        print ".B " toupper(keys[i])
    }
    is_inside = 1
}
{ previous = $0 }
END {
    for (i = 1; i <= count; i++)
        if (!is_described[keys[i]]) {
            print "mpix_harmonize.7 has no entry for " keys[i] >"/dev/stderr"
            status = 1
        }
    exit status
}
