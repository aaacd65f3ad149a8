# SPDX-License-Identifier: BSD-3-Clause
# From manual pages of tools, which common/cli/manual.awk writes: a function of bash that prints the options of a tool,
# and the command for bash that names the tools. Values are the names in bold among those allowed.

function finish_option() {
    if (option != "")
        print "        echo " option (takes_value ? "=" values : "")
    option = values = ""
}

function finish_tool() {
    finish_option()
    if (tool != "")
        print "        ;;"
}

function begin_option(heading) {
    takes_value = heading ~ /\\fI/
    gsub(/\\-/, "-", heading)
    match(heading, /--[a-z-]+/)
    option = substr(heading, RSTART, RLENGTH)
}

function add_names(line) {
    while (match(line, /\\fB[^\\]+(\\-[^\\]+)*\\fR/)) {
        values = values (values == "" ? "" : ",") substr(line, RSTART + 3, RLENGTH - 6)
        line = substr(line, RSTART + RLENGTH)
    }
    gsub(/\\-/, "-", values)
}

BEGIN { print "_mpix_harmonize_options() {\n    case $1 in" }

FNR == 1 {
    finish_tool()
    tool = FILENAME
    sub(/.*\//, "", tool)
    sub(/\.1$/, "", tool)
    print "    " tool ")"
    tools = tools " " tool
}

/^\.\\" / { finish_option(); is_inside = /Made from the table of options/; next }
is_inside && /^\.TP/ { finish_option(); wants_heading = 1; next }
wants_heading { wants_heading = 0; begin_option($0); next }
is_inside && /^Allowed: / { is_allowed = 1 }
is_allowed { add_names($0); is_allowed = !/\.$/ }

END {
    finish_tool()
    print "    esac\n}\n"
    print "# The tools, and the name for which this file was loaded, which may have a suffix."
    print "complete -o bashdefault -o default -F _mpix_harmonize" tools " ${COMP_WORDS[0]+\"${COMP_WORDS[0]##*/}\"}"
}
