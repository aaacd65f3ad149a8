# SPDX-License-Identifier: BSD-3-Clause
# From manual pages of tools: a function of bash that prints the options of a tool, and the command for bash that names
# the tools. A test holds the pages to what the tools print with --help. Values are the names in bold, of options whose
# values are a few names.

function plain(line) {
    gsub(/\\-/, "-", line)
    gsub(/\\f[BIPR]/, "", line)
    gsub(/"/, " ", line)
    return line
}

function finish_option() {
    if (option != "")
        print "        echo " option (takes_value ? "=" values : "")
    option = values = ""
    takes_value = 0
}

function begin_option(heading,    words, count, i) {
    count = split(plain(heading), words, /[ ,]+/)
    for (i = 1; i <= count; i++) {
        if (words[i] ~ /^--[a-z]/)
            option = words[i]
        else if (words[i] ~ /^[A-Z]+$/ && words[i] != "BR") {
            takes_value = 1
            has_names = words[i] ~ /^(ALGORITHM|CLOCK|FORMAT|KIND|MODE|OUTCOME|SCHEME|WHICH)$/
        }
    }
}

function add_names(line,    words, count, i) {
    count = split(line, words, /[ ,.:()]+/)
    for (i = 1; i <= count; i++)
        if (words[i] ~ /^[a-z][a-z0-9-]*$/ && index("," values ",", "," words[i] ",") == 0)
            values = values (values == "" ? "" : ",") words[i]
}

BEGIN { print "_mpix_harmonize_options() {\n    case $1 in" }

FNR == 1 {
    finish_option()
    if (NR > 1)
        print "        ;;"
    tool = FILENAME
    sub(/.*\//, "", tool)
    sub(/\.1$/, "", tool)
    print "    " tool ")"
    tools = tools " " tool
}

/^\.S[HS]/ { finish_option(); wants_heading = 0; is_inside = /^\.SH/ ? $2 == "OPTIONS" : is_inside; next }
is_inside && /^\.TP/ { finish_option(); wants_heading = 1; has_names = 0; next }
wants_heading { wants_heading = 0; begin_option($0); next }
option != "" && has_names && /^\.BR? / { add_names(plain(substr($0, index($0, " ")))) }

END {
    finish_option()
    print "        ;;\n    esac\n}\n"
    print "# The tools, and the name for which this file was loaded, which may have a suffix."
    print "complete -o bashdefault -o default -F _mpix_harmonize" tools " ${COMP_WORDS[0]+\"${COMP_WORDS[0]##*/}\"}"
}
