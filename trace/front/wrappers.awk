# SPDX-License-Identifier: BSD-3-Clause
# Makes functions.h, with the list INTERPOSE_FUNCTIONS of the functions of MPI, INTERPOSE_HAS_NAME for each of them, and
# the wrappers of the front: awk -f wrappers.awk meanings.txt PREPROCESSED_MPI_H
#
# For each function of MPI that returns an int: run_NAME, and its entries MPI_NAME and PMPI_NAME, of front.c's macros.
# front.c has those of MPI_Finalize, MPI_Abort and MPI_Pcontrol. What returns a value and no error code is left to MPI:
# other types, and conversions of handles and statuses.

function trim(text) {
    gsub(/^[ \t]+|[ \t]+$/, "", text)
    return text
}

function add_meaning(name, its_flags, its_before, its_after) {
    flags[name] = its_flags
    before[name] = its_before
    after[name] = its_after
}

function add_collectives(name, comm, root, in_share, out_share,    described, number) {
    gsub(/(NOTHING|SHARE|LISTS?|OWN)/, "TRACE_&", in_share)
    gsub(/(NOTHING|SHARE|LISTS?|OWN)/, "TRACE_&", out_share)
    described = "collective(call, result, " comm ", " root ", " in_share ", " out_share ")"
    number = substr(comm, 2)
    add_meaning(name, "count sync=" number (name ~ /^Neighbor/ ? "" : " harmonized"), "", described)
    add_meaning("I" tolower(substr(name, 1, 1)) substr(name, 2), "", "",
                "i" described "; keep(call, result, *$" (number + 1) ")")
    add_meaning(name "_init", "persistent", "", "i" described "; keep(call, result, *$" (number + 2) ")")
}

# ---- meanings.txt

FILENAME ~ /meanings\.txt$/ {
    if (/^#/ || /^ *$/)
        next
    if (sub(/\\$/, "")) {
        begun = begun $0
        next
    }
    fields = split(begun $0, field, /\|/)
    begun = ""
    for (i = 1; i <= fields; i++)
        field[i] = trim(field[i])
    count = split(field[1], names, / +/)
    for (i = 1; i <= count; i++)
        if (fields == 6)
            add_collectives(names[i], field[2], field[3], field[4], field[5])
        else
            add_meaning(names[i], field[2], field[3], field[4])
    next
}

# ---- mpi.h: all of it in one line, cut at semicolons

{ text = text " " $0 }

# $N and #N become argument N, *$N what it points to, and a call one of the back.
function expand(text) {
    gsub(/[a-z_]+\(/, "back->&", text)
    gsub(/\(call/, "(\\&call", text)
    gsub(/call->/, "call.", text)
    gsub(/\*\$[0-9]+/, "TRACE_AT(&)", text)
    gsub(/\*?\$|#/, "a", text)
    return text
}

# Returns the parameters with the names a1, a2 and so on. Handles have the type intptr_t and the names h1, h2 and so on,
# and handles has the code that makes a1, a2 and so on of them. list has the names.
function name_parameters(parameters,    count, part, i, type, tail, named) {
    named = list = handles = ""
    count = parameters ~ /^ *void *$/ ? 0 : split(parameters, part, /,/)
    for (i = 1; i <= count; i++) {
        match(part[i], /[A-Za-z_0-9]+ *(\[[^]]*\] *)*$/)
        tail = substr(part[i], RSTART)
        type = trim(substr(part[i], 1, RSTART - 1))
        if (tail !~ /\[/ && type ~ /^MPI_(Comm|Datatype|Op|Request|Win|Group|Info|Errhandler|Message|Session|File)$/) {
            handles = handles "    " type " a" i " __attribute__((unused)) = (" type ")h" i ";\n"
            named = named "intptr_t h" i ", "
            list = list "h" i ", "
            continue
        }
        sub(/^[A-Za-z_0-9]+/, "a" i, tail)
        named = named type " " tail ", "
        list = list "a" i ", "
    }
    return named
}

# The processes of what is made agree on a number for it within the call that makes it: what they wait there for each
# other is no computation of the program. agreeing has these calls of the back, and others the rest.
function part_after(text,    count, part, i) {
    agreeing = others = ""
    count = split(text, part, / *; */)
    for (i = 1; i <= count; i++)
        if (part[i] ~ /^make_/)
            agreeing = agreeing (agreeing ? "; " : "") part[i]
        else
            others = others (others ? "; " : "") part[i]
}

# How a call runs that is like others.
function emit_call(name, meaning, arguments,    comm, made, is_for_both) {
    part_after(after[meaning])
    comm = match(flags[meaning], /sync=[0-9]+/) ? "a" substr(flags[meaning], RSTART + 5, RLENGTH - 5) : ""
    made = match(after[meaning], /make_comm\([^)]*\*\$[0-9]+/) ? substr(after[meaning], RSTART, RLENGTH) : ""
    sub(/.*\$/, "", made)
    is_for_both = made || flags[meaning] ~ /harmonized|global/
    print "    const interpose_back *back = get_for(&" (is_for_both ? "opened_back" : "recorder") ", from);"
    print "    if (!back)"
    print "        return function(" arguments ");"
    printf "%s", handles
    print "    const bool is_recorded = " (is_for_both ? "get_too(&recorder);" : "true;")
    print "    trace_call call;"
    print "    go_in(&call, ID_" name ", from);"
    print "    if (is_recorded) {"
    if (comm)
        print "        back->before_together(&call);"
    print "        enter(back, &call, " (flags[meaning] ~ /trial/ ? "true" : "false") ", from);"
    if (flags[meaning] ~ /persistent/)
        print "        call.started.is_persistent = true;"
    if (name ~ /^I?[bBsS]send/)
        print "        call.started.mode = " (name ~ /^I?[bB]/ ? "TRACE_BUFFERED;" : "TRACE_SYNCHRONOUS;")
    if (comm)
        print "        TRACE_FOR(&call, -1, " comm ");"
    print "        " expand(before[meaning]) ";"
    print "    }"
    if (comm)
        print "    join(" comm ", " (flags[meaning] ~ /count/ ? "true" : "false") ");"
    print "    int result = " (name == "Barrier" ? "run_barrier(function, h1);" : "function(" arguments ");")
    if (comm)
        print "    own.outer.joins = TRACE_ALONE;"
    print "    if (is_recorded) {"
    if (agreeing)
        print "        " expand(agreeing) ";"
    print "        back->returned(&call);"
    print "        " expand(others) ";"
    print "        back->leave(&call);"
    if (comm)
        print "        back->after_together(&call, result, " comm ");"
    print "    }"
    if (made)
        print "    " (after[meaning] ~ /imake_comm/ ? "expect" : "know") "(TRACE_AT(a" made "), result);"
    if (flags[meaning] ~ /harmonized/)
        print "    look_after_clock(is_recorded ? &call : NULL, " comm ", result);"
    if (flags[meaning] ~ /global/)
        print "    make_global(result, a2, a3, a4);"
    print "    come_out(&call);"
    print "    return result;"
}

function emit(name, parameters,    meaning, with, arguments) {
    meaning = name
    if (!(meaning in flags))
        sub(/_c$/, "", meaning)
    with = name_parameters(parameters)
    parameters = with ? substr(with, 1, length(with) - 2) : "void"
    arguments = substr(list, 1, length(list) - 2)
    print "static int run_" name "(" with "interpose_next *next, const frames_place *from)"
    print "{"
    print "    int (*function)(" parameters ") ="
    print "        mh_interpose_find" (flags[meaning] ~ /state/ ? "_if_any" : "") "(next);"
    if (flags[meaning] ~ /session/)
        print "    begin_session();"
    if (flags[meaning] ~ /spawn/)
        print "    note_spawn();"
    if (flags[meaning] ~ /init/) {
        print "    const int64_t entered_ns = trace_raw_now_ns();"
        print "    const trace_place before = go_into_init(from);"
        print "    return begin(function(" arguments "), before, entered_ns, ID_" name ", from);"
    } else if (flags[meaning] ~ /state/) {
        print "    (void)from;"
        print "    return function ? function(a1) : (*a1 = 0, MPI_SUCCESS);"
    } else {
        emit_call(name, meaning, arguments)
    }
    print "}"
    print "ENTRIES(" name ", (" parameters "), (" list "&next, FRAMES_CALLER))\n"
}

END {
    gsub(/__attribute__ *\(\(visibility\("default"\)\)\)/, "", text)
    gsub(/[ \t]+/, " ", text)
    count = split(text, declaration, ";")
    found = 0
    for (d = 1; d <= count; d++) {
        parameters = declaration[d]
        sub(/^.*} */, "", parameters)
        if (!match(parameters, /^ *int MPI_[A-Za-z_0-9]+ ?\(/))
            continue
        name = substr(parameters, RSTART, RLENGTH)
        gsub(/^ *int MPI_| ?\($/, "", name)
        if (name in list_of || name ~ /_(toint|fromint|c2f|f2c|c2f08|f082c|f082f|f2f08)$/)
            continue
        parameters = substr(parameters, RSTART + RLENGTH)
        sub(/ *__attribute__.*$/, "", parameters)
        sub(/\)[^)]*$/, "", parameters)
        order[++found] = name
        list_of[name] = parameters
    }
    print "/* Made by wrappers.awk. */"
    print "#define INTERPOSE_FUNCTIONS(OF) \\"
    for (i = 1; i <= found; i++)
        print "    OF(" order[i] ") \\"
    print "    OF(Wtime) OF(Wtick)\n\n#ifdef ENTRIES"
    print "#define ID_OF(name) ID_##name,\nenum { ID_NONE, INTERPOSE_FUNCTIONS(ID_OF) };\n"
    for (i = 1; i <= found; i++)
        if (order[i] !~ /^(Finalize|Abort|Pcontrol)$/)
            emit(order[i], list_of[order[i]])
    print "#endif"
    for (i = 1; i <= found; i++)
        print "#define INTERPOSE_HAS_" order[i] " 1"
}
