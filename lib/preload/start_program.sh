# SPDX-License-Identifier: BSD-3-Clause
#
# start_program.sh - what mpix_preload and mpix_trace share: configure puts it into both. They set program, and
# runs_how: how a program runs into which nothing can be loaded.

# Whether this is the first process of a job, as far as launchers tell. One line for all processes is enough.
is_first() {
    case ${PMI_RANK-${OMPI_COMM_WORLD_RANK-${PMIX_RANK-${SLURM_PROCID-0}}}} in 0) return 0 ;; *) return 1 ;; esac
}

refuse() {          # MESSAGE
    ! is_first || echo "$program: $1" >&2
    exit 2
}

# MESSAGE: about what may differ between hosts, so each process tells it.
refuse_here() {
    echo "$program: $1" >&2
    exit 2
}

warn() {            # MESSAGE
    ! is_first || echo "$program: $1; the program runs $runs_how" >&2
}

# DIRECTORY FLAVOR [LIST]: the library says whether it takes the settings, and whether a list names functions of MPI.
ask_library() {
    [ -n "${3-}" ] || env | grep -q '^MPIX_HARMONIZE_' || return 0
    for file in "$here/../trace/check-$2"* "$1"/*"check-$2"*; do
        [ -x "$file" ] || continue
        if is_first; then "$file" "$program" "${3-}"; else "$file" "$program" "${3-}" 2>/dev/null; fi
        case $? in 0) return ;; 2) exit 2 ;; esac
    done
}

# ---- The program

# NAME: sets path, as exec will look for it.
find_program() {
    path=$1 rest=$PATH:
    case $1 in */*) return ;; esac
    while [ -n "$rest" ]; do
        path=${rest%%:*} rest=${rest#*:}
        path=${path:-.}/$1
        [ -d "$path" ] || [ ! -x "$path" ] || return
    done
}

number() {          # BYTES OFFSET: an unsigned number in the program
    od -An -v "-tu$1" -j "$2" -N "$1" "$path" 2>/dev/null | tr -d ' '
}

is_elf() {
    [ "$(od -An -v -tx1 -N 4 "$path" 2>/dev/null | tr -d ' ')" = 7f454c46 ]
}

# A program without an interpreter (entry 3 of its table of segments) is not loaded by the dynamic linker.
is_static() {
    is_elf || return 1
    case $(number 1 4) in
    1) table=$(number 4 28) size=$(number 2 42) count=$(number 2 44) ;;
    2) table=$(number 8 32) size=$(number 2 54) count=$(number 2 56) ;;
    *) return 1 ;;
    esac
    while [ "$count" -gt 0 ]; do
        [ "$(number 4 "$table")" != 3 ] || return 1
        table=$((table + size)) count=$((count - 1))
    done
}

# Programs that only call MPI do not have these names and texts of MPI libraries. Those that do, by a tool in them, name
# a shared MPI library.
has_own_mpi() {
    is_elf && ! LC_ALL=C grep -qaE 'libmpi[A-Za-z0-9_.+-]*\.so' "$path" &&
        LC_ALL=C grep -qaE 'PMPI_Init|ompi_mpi_init|\*\*mpi_init' "$path"
}

# FILE: it names MPI_Init, of C or Fortran.
names_mpi() {
    LC_ALL=C grep -qai mpi_init "$1"
}

# FILE [MORE]: it names a function that loads a library or starts a program, by a text that stands alone.
can_start() {
    LC_ALL=C grep -qaxzE "[A-Za-z0-9_]*(dlm?open|exec[lv]p?e?|posix_spawnp?|popen)${2-}" "$1"
}

# Sets kind: static, setid: nothing can be loaded; mpi; none: the program and its libraries neither call MPI nor can
# start what does; other. The C library and some that simple programs have, such as ls, are not asked what they can.
judge_program() {
    kind=static
    ! is_static || return 0
    kind=setid
    [ ! -u "$path" ] && [ ! -g "$path" ] || return 0
    kind=other
    is_elf && libraries=$(LD_PRELOAD='' ldd "$path" 2>/dev/null) || return 0
    can_start "$path" '|system' || LC_ALL=C grep -qaF 'Go build' "$path" || kind=none
    while IFS= read -r file; do
        [ -f "$file" ] || continue
        ! names_mpi "$file" || { kind=mpi; return; }
        case ${file##*/} in
        "${path##*/}" | libc.* | ld-* | libdl.* | libpthread.* | libselinux.* | libcap.*) ;;
        *) ! can_start "$file" || kind=other ;;
        esac
    done <<FILES
$path
$(printf '%s\n' "$libraries" | sed 's/ (0x[0-9a-f]*)$//; s/.* => //; s/^[[:blank:]]*//')
FILES
}

# NAME: sets path and kind, and refuses what cannot be executed, and what has nothing to do with MPI.
check_program() {
    find_program "$1"
    [ -e "$path" ] || refuse_here "there is no program $1: check its name, and PATH"
    [ ! -d "$path" ] && [ -x "$path" ] ||
        refuse_here "$1 cannot be executed: check that it is a program, and its permissions"
    judge_program
    [ $kind != none ] || refuse "$1 is no MPI program: it does not call MPI, and cannot start a program that does"
}

# The first process that calls MPI_Init removes this file. If none does, the program says so when it ends.
expect_mpi() {
    is_first && [ -z "${MPIX_PRELOAD_UNUSED-}" ] || return 0
    file=$(mktemp "${TMPDIR:-/tmp}/mpix-XXXXXX" 2>/dev/null) || return 0
    export MPIX_PRELOAD_UNUSED="$$:$file"
}

# NAME FILE: the dynamic linker is to load FILE into the program NAME, unless it is to do so already.
load_into() {
    case $kind in
    static) warn "$1 is linked statically, so nothing can be loaded into it (link it dynamically)"; return ;;
    setid) warn "$1 is a set-user-id or set-group-id program, into which nothing can be loaded"; return ;;
    other) expect_mpi ;;
    esac
    ! has_own_mpi ||
        warn "$1 seems to have its MPI library within itself, before which nothing can be put (link the shared one)"
    case :${LD_PRELOAD-}: in
    *[:\ ]"$2"[:\ ]*) ;;
    *) export LD_PRELOAD="$2${LD_PRELOAD:+:$LD_PRELOAD}" ;;
    esac
}
