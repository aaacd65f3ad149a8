# SPDX-License-Identifier: BSD-3-Clause
# Prints a file whose blocks repeat the public functions, with these blocks made anew. bindings/declare.sh runs it:
#
#     awk -f declare.awk mpix_harmonize.h __init__.py FILE
#
# A block lies between two lines of comment: "bindings/declare.sh begins: KIND" and "bindings/declare.sh ends". In a
# manual page, the prototype in SYNOPSIS is made, too. What a type of C is in other languages stands in tell_types.

function fail(text) {
    print "declare.awk: " text >"/dev/stderr"
    exit failed = 1
}

# ---- The functions, as the header declares them

# The type c of the header; of the functions for Fortran's handles; of Fortran, of Fortran where handles have types, and
# of what Fortran passes to these functions; of Python.
function tell_type(c, of_handles, fortran, f08, bound, python,    intent) {
    intent = c ~ /\*/ && c !~ /^const / ? "intent(out)" : "intent(in)"
    c_type[c] = c (c ~ /\*/ ? "" : " ")
    handle_type[c] = of_handles (c ~ /\*/ ? "" : " ")
    fortran_type[c] = fortran ", " intent
    f08_type[c] = f08 ", " intent
    bound_type[c] = bound ", " (c ~ /\*/ ? intent : "value")
    python_type[c] = python
}

function tell_types() {
    tell_type("MPI_Comm", "int", "integer", "type(MPI_Comm)", "integer(c_int)", "_COMM")
    tell_type("MPI_Info", "int", "integer", "type(MPI_Info)", "integer(c_int)", "_INFO")
    tell_type("MPI_Info *", "int *", "integer", "type(MPI_Info)", "integer(c_int)", "ctypes.c_void_p")
    tell_type("int *", "int *", "logical", "logical", "integer(c_int)", "int_out") # the flag
    tell_type("int", "int", "integer", "integer", "integer(c_int)", "ctypes.c_int")
    tell_type("int64_t", "int64_t", "integer(c_int64_t)", "integer(c_int64_t)", "integer(c_int64_t)", "ctypes.c_int64")
    tell_type("int64_t *", "int64_t *", "integer(c_int64_t)", "integer(c_int64_t)", "integer(c_int64_t)", "int64_out")
    tell_type("const char *", "const char *", "character(*)", "character(*)", "character(kind=c_char)", \
              "ctypes.c_char_p")
    tell_type("double", "double", "real(c_double)", "real(c_double)", "real(c_double)", "ctypes.c_double")
    tell_type("double *", "double *", "real(c_double)", "real(c_double)", "real(c_double)", "double_out")
}

function read_argument(f, text,    type, name) {
    name = text
    sub(/.*[ *]/, "", name)
    type = substr(text, 1, length(text) - length(name))
    sub(/^ +/, "", type)
    sub(/ +$/, "", type)
    if (!(type in c_type))
        fail(functions[f] ": no type of Fortran and Python is known for '" type "'; add it to tell_types")
    if (type == "int *" && name != "flag")
        fail(functions[f] ": an int * that is no flag; add its type to tell_types, and how Fortran gets it")
    arguments[f]++
    type_of[f, arguments[f]] = type
    name_of[f, arguments[f]] = name
}

function read_declaration(line,    n, i, part) {
    if (line !~ /\);$/)
        fail("a declaration that does not end: " line)
    sub(/^MPIX_HARMONIZE_API int /, "", line)
    sub(/\);.*/, "", line)
    functions[++count] = substr(line, 1, index(line, "(") - 1)
    lower[count] = tolower(substr(functions[count], 6))
    n = split(substr(line, index(line, "(") + 1), part, ",")
    for (i = 1; i <= n; i++)
        read_argument(count, part[i])
    if (summary_of != functions[count] || kind == "")
        fail("no comment before " functions[count] " that begins with its name and says 'Collective' or 'Local'")
    summaries[count] = summary
    kinds[count] = kind
}

FNR == 1 { part_read++ }
FNR == 1 && part_read == 1 { tell_types() }
part_read == 1 && /^ \* MPIX_[A-Za-z_]+ - .*\.$/ { summary_of = $2; kind = ""; summary = $0
                                                   sub(/^ \* [A-Za-z_]+ - /, "", summary); sub(/\.$/, "", summary) }
part_read == 1 && kind == "" && /^ \* Collective/ { kind = "collective" }
part_read == 1 && kind == "" && /^ \* Local/ { kind = "local" }
part_read == 1 && /^MPIX_HARMONIZE_API int MPIX_/ {
    declaration = $0
    while (declaration !~ /;$/ && (getline line) > 0) {
        sub(/^ +/, " ", line)
        declaration = declaration line
    }
    read_declaration(declaration)
}
part_read == 2 && /^def [a-z]/ { python[++python_count] = $0 }

# ---- Lists of them

function names(f,    text, i) {
    for (i = 1; i <= arguments[f]; i++)
        text = text (i > 1 ? ", " : "") name_of[f, i]
    return text
}

function typed_names(f, types,    text, i) {
    for (i = 1; i <= arguments[f]; i++)
        text = text (i > 1 ? ", " : "") types[type_of[f, i]] name_of[f, i]
    return text
}

function sort_names(    i, j, name) {
    for (i = 1; i <= count; i++) {
        name = functions[i]
        for (j = i - 1; j >= 1 && sorted[j] > name; j--)
            sorted[j + 1] = sorted[j]
        sorted[j + 1] = name
    }
}

# ---- C

# Prints a line of C as clang-format breaks it.
function print_c(line,    indent, end) {
    indent = index(line, "(")
    while (length(line) > 120) {
        for (end = 120; substr(line, end, 2) != ", "; end--)
            ;
        print substr(line, 1, end)
        line = sprintf("%" indent "s", "") substr(line, end + 2)
    }
    print line
}

function make_twin(f) {
    print_c("MPIX_HARMONIZE_API int P" functions[f] "(" typed_names(f, c_type) ");")
}

function make_weak_twin(f) {
    print "WEAK_TWIN(" functions[f] ");"
}

function converted(f, i,    name, type) {
    name = name_of[f, i]
    type = type_of[f, i]
    return type == "MPI_Comm" ? "comm_of(" name ")" : type == "MPI_Info" ? "info_of(comm, " name ")" : \
           type == "MPI_Info *" ? "&made" : name
}

function make_wrapper(f,    call, i, made) {
    for (i = 1; i <= arguments[f]; i++) {
        call = call (i > 1 ? ", " : "") converted(f, i)
        if (type_of[f, i] == "MPI_Info *")
            made = name_of[f, i]
    }
    call = functions[f] "(" call ");"
    print ""
    print_c("FORTRAN_API " functions[f] "_f(" typed_names(f, handle_type) ")")
    print "{"
    if (made == "")
        print "    return " call
    else {
        print "    MPI_Info made = MPI_INFO_NULL;"
        print "    int code = " call
        print "    *" made " = info_to(comm, made);"
        print "    return code;"
    }
    print "}"
}

# ---- Fortran

function make_public(f) {
    print "    public :: " functions[f]
}

function make_interface(f,    i, type) {
    print ""
    print "        function " lower[f] "_c(" names(f) ") &"
    print "            bind(C, name=\"" functions[f] "_f\") result(code)"
    print "            import"
    for (i = 1; i <= arguments[f]; i++) {
        type = type_of[f, i]
        print "            " bound_type[type] " :: " name_of[f, i] (type == "const char *" ? "(*)" : "")
    }
    print "            integer(c_int) :: code"
    print "        end function"
}

function begin_subroutine(f, module_types,    i) {
    print ""
    print "    ! " toupper(substr(summaries[f], 1, 1)) substr(summaries[f], 2) ". " \
          toupper(substr(kinds[f], 1, 1)) substr(kinds[f], 2) "."
    print "    subroutine " functions[f] "(" names(f) ", ierror)"
    for (i = 1; i <= arguments[f]; i++)
        print "        " module_types[type_of[f, i]] " :: " name_of[f, i]
    print "        integer, optional, intent(out) :: ierror"
}

# Integers may be longer than those of C, so an integer from C goes through a variable.
function make_subroutine(f,    i, type, name, call, locals, before, after) {
    for (i = 1; i <= arguments[f]; i++) {
        type = type_of[f, i]
        name = name_of[f, i]
        if (type == "int *" || type == "MPI_Info *") {
            locals = locals name "_c, "
            before = before "        " name "_c = 0\n"
            after = after "        " name " = " (type == "int *" ? "code == 0 .and. " name "_c /= 0" : name "_c") "\n"
            name = name "_c"
        } else if (type ~ /^MPI_/ || type == "int")
            name = "int(" name ", c_int)"
        else if (type == "const char *")
            name = "trim(" name ") // c_null_char"
        call = call (i > 1 ? ", " : "") name
    }
    begin_subroutine(f, fortran_type)
    print "        integer(c_int) :: " locals "code"
    printf "%s", before
    print "        code = " lower[f] "_c(" call ")"
    printf "%s", after
    print "        if (present(ierror)) ierror = code"
    print "    end subroutine"
}

function make_use(f) {
    print "    use mpix_harmonize_mpi, only: " lower[f] " => " functions[f]
}

function make_f08_subroutine(f,    call, i) {
    for (i = 1; i <= arguments[f]; i++)
        call = call name_of[f, i] (type_of[f, i] ~ /^MPI_/ ? "%MPI_VAL, " : ", ")
    begin_subroutine(f, f08_type)
    print "        call " lower[f] "(" call "ierror)"
    print "    end subroutine"
}

# ---- Python

function make_python(f,    text, i) {
    for (i = 1; i <= arguments[f]; i++)
        text = text (i > 1 ? ", " : "") python_type[type_of[f, i]]
    print "            (\"" functions[f] "\", [" text "]),"
}

# ---- Pages

function make_page_name(f) {
    if (f == 1)
        print "dist_library_man3_DATA = \\"
    print "\tdoc/man/" functions[f] ".3" (f < count ? " \\" : "")
}

function make_entry(f) {
    print ".TP"
    print ".BR " functions[f] " (3)"
    print summaries[f] " (" kinds[f] ")"
}

function make_fortran_call(f) {
    print "call " functions[f] "(" names(f) ", ierror)"
}

function make_see_also(f) {
    print ".BR " sorted[f] " (3),"
}

function make_python_call(i,    line) {
    line = substr(python[i], 5)
    sub(/: MPI\.Intracomm/, "", line)
    sub(/:$/, "", line)
    gsub(/-/, "\\-", line)
    print line
}

# A line of a page has at most 100 characters of text and macros, so that most terminals do not break it.
function make_prototype(f,    line, part, i) {
    line = ".BI \"int " functions[f] "("
    for (i = 1; i <= arguments[f]; i++) {
        part = c_type[type_of[f, i]] "\" " name_of[f, i] (i < arguments[f] ? " \"," : " \");\"")
        if (i > 1 && length(line part) > 100) {
            sub(/ $/, "\"", line)
            print line
            line = sprintf(".BI \"%" length("int (" functions[f]) "s", "")
        }
        line = line part (i < arguments[f] ? " " : "")
    }
    print line
}

# ---- The file

function make(kind,    i) {
    if (kind == "see also")
        sort_names()
    if (kind == "calls of Python") {
        for (i = 1; i <= python_count; i++)
            make_python_call(i)
        return
    }
    for (i = 1; i <= count; i++)
        if (kind == "twins") make_twin(i)
        else if (kind == "weak twins") make_weak_twin(i)
        else if (kind == "functions for Fortran's handles") make_wrapper(i)
        else if (kind == "names") make_public(i)
        else if (kind == "interfaces") make_interface(i)
        else if (kind == "subroutines") make_subroutine(i)
        else if (kind == "subroutines of mpi_f08") make_f08_subroutine(i)
        else if (kind == "names of the other module") make_use(i)
        else if (kind == "types of Python") make_python(i)
        else if (kind == "pages") make_page_name(i)
        else if (kind == "functions") make_entry(i)
        else if (kind == "calls of Fortran") make_fortran_call(i)
        else if (kind == "see also") make_see_also(i)
        else fail(FILENAME ": '" kind "' is no kind of block")
}

part_read < 3 { next }
/bindings\/declare\.sh ends/ { is_inside = 0 }
is_inside { next }
is_prototype && /^\.BI " / { next }
{ is_prototype = 0 }
/^\.BI "int MPIX_/ {
    for (i = 1; i <= count; i++)
        if (index($0, "\"int " functions[i] "(") > 0) {
            make_prototype(i)
            is_prototype = 1
            next
        }
}
{ print }
/bindings\/declare\.sh begins: / {
    kind = $0
    sub(/.*begins: /, "", kind)
    sub(/ *\*\/$/, "", kind)
    make(kind)
    is_inside = 1
}
END {
    if (!failed && is_inside)
        fail(FILENAME ": a block does not end")
}
