# SPDX-License-Identifier: BSD-3-Clause
# C code without comments, each line as FILE:LINE:TEXT; also without what is in literals, unless -v literals=1 is given.

FNR == 1 { in_comment = 0 }
{
    text = ""; quote = ""
    for (i = 1; i <= length($0); i++) {
        c = substr($0, i, 1); two = substr($0, i, 2)
        if (in_comment) {
            if (two == "*/") { in_comment = 0; i++; text = text " " }
        } else if (quote != "") {
            if (literals) text = text (c == "\\" ? two : c)
            else if (c == quote) text = text c
            if (c == "\\") i++
            else if (c == quote) quote = ""
        } else if (two == "/*") {
            in_comment = 1; i++
        } else if (two == "//") {
            break
        } else {
            if (c == "\"" || c == "\047") quote = c
            text = text c
        }
    }
    if (text !~ /^[ \t]*$/) print FILENAME ":" FNR ":" text
}
