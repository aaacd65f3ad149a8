# SPDX-License-Identifier: BSD-3-Clause
# Reads what a tool prints with --help-manual, then its manual page. Prints the page with the options made anew, between
# two comments, and lists of columns, likewise. The options of a command of the tool come after "= COMMAND". What
# commands share is said once.

function escaped(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    return text
}

# The names of options and of pages are bold, and the value is in italics.
function marked(word,    begin) {
    match(word, /^\(*/)
    begin = substr(word, 1, RLENGTH)
    word = substr(word, RLENGTH + 1)
    if (match(word, /^--[a-z-]+/))
        word = "\\fB" escaped(substr(word, 1, RLENGTH)) "\\fR" substr(word, RLENGTH + 1)
    else if (match(word, /^[A-Za-z_]+\([1-9]\)/))
        word = "\\fB" substr(word, 1, RLENGTH - 3) "\\fR" substr(word, RLENGTH - 2)
    else if (argument != "" && match(word, "^" argument "[.,;:)]*$"))
        word = "\\fI" argument "\\fR" substr(word, length(argument) + 1)
    else if (word ~ /^-([0-9]|$)/)
        word = "\\" word
    return begin word
}

function flush_line() {
    if (line != "")
        print line
    line = ""
}

# Blanks in bold text are not where lines end.
function add_word(word) {
    gsub(/\001/, " ", word)
    if (length(line) + length(word) > 115)
        flush_line()
    line = line (line == "" ? "" : " ") word
}

function print_sentences(text,    parts, words, count, i) {
    count = split(text, parts, "`")
    text = ""
    for (i = 1; i <= count; i++) {
        if (i % 2 == 0) {
            parts[i] = "\\fB" escaped(parts[i]) "\\fR"
            gsub(/ /, "\001", parts[i])
        }
        text = text parts[i]
    }
    count = split(text, words, " ")
    for (i = 1; i <= count; i++) {
        add_word(words[i] ~ /\\f/ ? words[i] : marked(words[i]))
        if (words[i] ~ /\.$/ && i < count && words[i + 1] ~ /^[A-Z\\]/)
            flush_line()
    }
    flush_line()
}

function print_option(heading, text,    words, lines, count, i, macro) {
    count = split(heading, words, " ")
    argument = words[count] ~ /^-/ ? "" : words[count]
    macro = ".TP\n" (count > 1 ? ".BR" : ".B")
    for (i = 1; i <= count; i++)
        if (words[i] ~ /^-.,$/)
            macro = macro " " escaped(substr(words[i], 1, 2)) " \", \""
        else
            macro = macro (words[i] ~ /^-/ ? " " escaped(words[i]) : " \" \" \\fI" words[i] "\\fR")
    print macro
    count = split(text, lines, "\n")
    for (i = 1; i <= count; i++)
        print_sentences(lines[i])
}

function print_section(title) {
    if (title != last_title && title != "")
        print ".SS " title
    last_title = title
}

function print_options(    i, number, owner, title) {
    for (number = 1; number <= commands; number++)
        for (i = 1; i <= options; i++)
            if (owners[i] == number) {
                owner = names[i]
                title = commands == 1 ? sections[i] : number == 1 ? tool " " owner : \
                    number == commands ? "All commands" : owner
                print_section(title)
                print_option(headings[i], texts[i])
            }
}

function print_columns(schema,    lines, count, i, name, title, text) {
    argument = ""
    count = split(columns[schema], lines, "\n")
    for (i = 1; i < count; i++) {
        text = lines[i]
        sub(/^- (key )?/, "", text)
        name = title = ""
        if (text ~ /^`/) {
            name = substr(text, 2)
            sub(/`.*/, "", name)
            text = substr(text, length(name) + 3)
        }
        sub(/^ /, "", text)
        if (text ~ /^\(/) {
            title = substr(text, 2)
            sub(/\): .*/, "", title)
            text = substr(text, length(title) + 3)
        }
        text = substr(text, 3)
        print ".TP"
        if (name != "" && title != "")
            print ".BR " (title ~ / / ? "\"" escaped(title) "\"" : escaped(title)) " \" (\" " escaped(name) " )"
        else
            print ".B " escaped(name title)
        print_sentences(toupper(substr(text, 1, 1)) substr(text, 2) ".")
    }
}

function finish_option(    i) {
    if (heading == "")
        return
    for (i = 1; i <= options && (headings[i] != heading || texts[i] != text); i++)
        ;
    if (i > options) {
        options = i
        headings[i] = heading
        texts[i] = text
        sections[i] = section
        names[i] = command
    } else
        names[i] = names[i] " and " command
    owners[i]++
    heading = text = ""
}

FNR == NR && /^= / { finish_option(); commands++; command = substr($0, 3); schema = ""; next }
FNR == NR && /^## `/ { finish_option(); schema = substr($2, 2, length($2) - 2); next }
FNR == NR && schema != "" { if (/^- /) columns[schema] = columns[schema] $0 "\n"; next }
FNR == NR && /^# / { finish_option(); section = substr($0, 3); next }
FNR == NR && /^-/ { finish_option(); heading = $0; next }
FNR == NR { text = text (text == "" ? "" : "\n") $0; next }

/^\.\\" Made from the table of options/ { finish_option(); print; print_options(); is_old = 1 }
/^\.\\" Made from the columns of / { print; print_columns($7); is_old = 1 }
/^\.\\" End of the (options|columns)/ { is_old = 0 }
!is_old
