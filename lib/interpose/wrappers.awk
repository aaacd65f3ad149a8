# SPDX-License-Identifier: BSD-3-Clause
# Makes functions.h, with the list INTERPOSE_FUNCTIONS of the functions of MPI, and the wrappers of the front:
# awk -f wrappers.awk meanings.txt PREPROCESSED_MPI_H
#
# For each function of MPI that returns an int: run_NAME, which front.c's macros call, and the entries MPI_NAME and
# PMPI_NAME, which leave its arguments where they are. front.c has those of functions that are not like others. What
# returns a value and no error code is left to MPI: other types, and conversions of handles and statuses.

BEGIN {
    split("Init Init_thread Initialized Finalize Finalized Abort Pcontrol", names, " ")
    for (i in names)
        is_by_hand[names[i]] = 1
}

function trim(text) {
    gsub(/^[ \t]+|[ \t]+$/, "", text)
    return text
}

# The number of a flag such as sync=5, or 0.
function number_in(meaning, flag) {
    if (!match(flags[meaning], flag "=[0-9]+"))
        return 0
    return substr(flags[meaning], RSTART + length(flag) + 1, RLENGTH - length(flag) - 1) + 0
}

function add_meaning(name, its_flags, its_before, its_after) {
    flags[name] = its_flags
    before[name] = its_before
    after[name] = its_after
}

function add_collectives(name, comm, root, in_share, out_share,    arguments, number) {
    gsub(/(NOTHING|SHARE|LISTS?|OWN)/, "TRACE_&", in_share)
    gsub(/(NOTHING|SHARE|LISTS?|OWN)/, "TRACE_&", out_share)
    arguments = comm ", " root ", " in_share ", " out_share
    number = substr(comm, 2)
    add_meaning(name, "count sync=" number (name ~ /^Neighbor/ ? "" : " harmonized"), "",
                "collective(call, result, " arguments ")")
    add_meaning("I" tolower(substr(name, 1, 1)) substr(name, 2), "", "",
                "icollective(call, result, " arguments "); keep(call, result, *$" (number + 1) ")")
    add_meaning(name "_init", "persistent", "",
                "icollective(call, result, " arguments "); keep(call, result, *$" (number + 2) ")")
}

# ---- meanings.txt

FILENAME ~ /meanings\.txt$/ {
    if (/^#/ || /^ *$/)
        next
    if (sub(/\\$/, "")) {
        begun = begun $0
        next
    }
    $0 = begun $0
    begun = ""
    fields = split($0, field, /\|/)
    count = split(trim(field[1]), names, / +/)
    for (i = 1; i <= count; i++)
        if (fields == 5)
            add_collectives(names[i], trim(field[2]), trim(field[3]), trim(field[4]), trim(field[5]))
        else
            add_meaning(names[i], trim(field[2]), trim(field[3]), trim(field[4]))
    next
}

# ---- mpi.h: all of it in one line, cut at semicolons

{ text = text " " $0 }

# The type of a parameter, whose name is left out; an array is a pointer.
function type_of(parameter,    stars) {
    parameter = trim(parameter)
    stars = ""
    if (parameter ~ /\[\]\[3\]$/)
        stars = "(*)[3]"
    else if (parameter ~ /\]$/)
        stars = "*"
    sub(/(\[[^]]*\])+$/, "", parameter)
    sub(/[A-Za-z_0-9]+$/, "", parameter)
    return trim(parameter) stars
}

# $N becomes argument N by its type, *$N what it points to, #N argument N to be set, and a call one of the back.
function expand(text,    done, number) {
    gsub(/[a-z_]+\(/, "back->&", text)
    gsub(/\(call/, "(\\&call", text)
    gsub(/call->/, "call.", text)
    while (match(text, /\*\$[0-9]+/))
        text = substr(text, 1, RSTART - 1) "TRACE_AT(" substr(text, RSTART + 1, RLENGTH - 1) ")" \
            substr(text, RSTART + RLENGTH)
    done = ""
    while (match(text, /[$#][0-9]+/)) {
        number = substr(text, RSTART + 1, RLENGTH - 1)
        if (substr(text, RSTART, 1) == "#")
            done = done substr(text, 1, RSTART - 1) "a" number " = (trace_slot)"
        else
            done = done substr(text, 1, RSTART - 1) "(" types[number] ")a" number
        text = substr(text, RSTART + RLENGTH)
        if (done ~ /= \(trace_slot\)$/)
            sub(/^ *= */, "", text)
    }
    return done text
}

function arguments_of(count, type,    list, i) {
    list = ""
    for (i = 1; i <= count; i++)
        list = list (i > 1 ? ", " : "") type "a" i
    return list
}

# What comes before the function is called, if it is recorded.
function emit_before(name, meaning, comm,    number) {
    if (comm)
        print "        back->before_together(&call);"
    print "        enter(back, &call, " (flags[meaning] ~ /trial/ ? "true" : "false") ");"
    number = number_in(meaning, "status")
    if (number) {
        print "        call.status.MPI_SOURCE = MPI_PROC_NULL;"
        print "        if ((MPI_Status *)a" number " == MPI_STATUS_IGNORE)"
        print "            a" number " = (trace_slot)&call.status;"
    }
    if (flags[meaning] ~ /persistent/)
        print "        call.started.is_persistent = true;"
    if (before[meaning] != "")
        print "        " expand(before[meaning]) ";"
}

# After it.
function emit_after(meaning, comm) {
    print "        back->returned(&call);"
    if (after[meaning] != "")
        print "        " expand(after[meaning]) ";"
    print "        back->leave(&call);"
    if (comm)
        print "        back->after_together(&call, result, " comm ");"
}

# What mpix_preload does after it: flag harmonized for operations, global=N for attributes with key N.
function emit_harmonized(name, meaning, comm,    number) {
    if (flags[meaning] ~ /harmonized/ && name != "Barrier")
        print "    look_after_clock(" comm ", result);"
    number = number_in(meaning, "global")
    if (number)
        print "    make_global(result, (int)a" number ", (void *)a" number + 1 ", (const int *)a" number + 2 ");"
}

# The body of a wrapper, after its function was found.
function emit_body(name, meaning, list,    is_for_both, comm, number) {
    number = number_in(meaning, "sync")
    comm = number ? expand("$" number) : ""
    is_for_both = flags[meaning] ~ /harmonized|global/
    print "    const interpose_back *back = get_for(&" (is_for_both ? "opened_back" : "recorder") ", site);"
    print "    if (!back)"
    print "        return function(" list ");"
    print "    const bool is_recorded = " (is_for_both ? "get_too(&recorder);" : "true;")
    print "    trace_call call;"
    print "    go_in(&call, ID_" name ", site);"
    print "    if (is_recorded) {"
    emit_before(name, meaning, comm)
    print "    }"
    if (comm)
        print "    join(" comm ", " (flags[meaning] ~ /count/ ? "true" : "false") ");"
    print "    int result = " (name == "Barrier" ? "run_barrier(function, a1);" : "function(" list ");")
    if (comm)
        print "    own.outer.joins = TRACE_ALONE;"
    print "    if (is_recorded) {"
    emit_after(meaning, comm)
    print "    }"
    emit_harmonized(name, meaning, comm)
    print "    come_out(&call);"
    print "    return result;"
}

function emit(name, parameters,    count, part, i, meaning, parameter_list, list, with, is_wide) {
    count = split(parameters, part, /,/)
    if (count == 1 && trim(part[1]) == "void")
        count = 0
    is_wide = 0
    for (i = 1; i <= count; i++) {
        types[i] = type_of(part[i])
        if (types[i] ~ /^(MPI_Count|MPI_Offset)$/)
            is_wide = 1
    }
    meaning = name
    if (!(meaning in flags))
        sub(/_c$/, "", meaning)
    parameter_list = count ? arguments_of(count, "trace_slot ") : "void"
    list = arguments_of(count, "")
    with = count ? ", " : ""
    if (is_wide)
        print "#if UINTPTR_MAX > UINT32_MAX"
    print "static int run_" name "(" (count ? parameter_list with : "") "interpose_next *next, const void *site)"
    print "{"
    print "    int (*function)(" parameter_list ") = (int (*)(" parameter_list "))mh_interpose_find(next);"
    if (flags[meaning] ~ /session/)
        print "    begin_session();"
    emit_body(name, meaning, list)
    print "}"
    print "ENTRIES(" name ", (" parameter_list "), (" list with "&next, __builtin_return_address(0)))"
    if (is_wide)
        print "#endif"
    print ""
}

END {
    gsub(/__attribute__ *\(\(visibility\("default"\)\)\)/, "", text)
    count = split(text, declaration, ";")
    found = 0
    for (d = 1; d <= count; d++) {
        line = declaration[d]
        gsub(/[ \t]+/, " ", line)
        sub(/^.*} */, "", line)
        line = trim(line)
        if (line !~ /^int MPI_[A-Za-z_0-9]+ ?\(/)
            continue
        if (line ~ /^int MPI_[A-Za-z_0-9]+_(toint|fromint|c2f|f2c|c2f08|f082c|f082f|f2f08) ?\(/)
            continue
        name = line
        sub(/^int MPI_/, "", name)
        sub(/ ?\(.*/, "", name)
        parameters = line
        sub(/^[^(]*\(/, "", parameters)
        sub(/ *__attribute__.*$/, "", parameters)
        sub(/\)[^)]*$/, "", parameters)
        if (name in is_there)
            continue
        is_there[name] = 1
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
        if (!(order[i] in is_by_hand))
            emit(order[i], list_of[order[i]])
    print "#endif"
}
