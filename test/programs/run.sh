# shellcheck shell=bash
# What scripts of tests begin with: running a tool and looking at how it ended. Sets $here, the script's folder; $top
# and $tests, of the sources; $programs and $checks, where the commands and the programs of the script's folder are
# built; $python; and $scratch, a folder that goes when the script ends.
#
# Environment: BUILDDIR       the build directory (default: .)
#              MPIEXEC        the launcher (default: mpiexec)
#              MPIEXEC_FLAGS  its flags before -n
#              PYTHON         Python 3 (default: python3)
#              MPIX_TEST_BRIEF  yes: of programs that hardly depend on the MPI library, the quick tests only
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
top=${tests%/test}
. "$tests/tap.sh"

# A library that is loaded into a program comes before the sanitizer's own, which need not be the first.
[ "${sanitizers:-no}" = no ] || export ASAN_OPTIONS="${ASAN_OPTIONS-}:verify_asan_link_order=0"
# What MPI libraries leak is not of interest here.
export ASAN_OPTIONS="${ASAN_OPTIONS-detect_leaks=0}"

# With a second MPI library, the quick tests of what hardly depends on it, and none of what runs no MPI.
case ${0##*/} in
check_compare.sh | check_completions.sh | check_figures.sh | check_outputs.sh | check_report.sh | check_results.sh | \
    check_trace_check.sh | check_trace_convert.sh)
    [ "${MPIX_TEST_BRIEF-}" != yes ] || skip_all "MPIX_TEST_BRIEF=yes" ;;
check_preload*.sh | check_trace.sh | check_trace_odd.sh | check_tune.sh | check_operations.sh | check_parts.sh) ;;
check_python.sh | check_downstream.sh | check_install.sh | check_environment.sh) ;;
*) [ "${MPIX_TEST_BRIEF-}" != yes ] || export MPIX_TEST_QUICK=yes ;;
esac

build=$(cd "${BUILDDIR:-.}" && pwd) || exit 1
programs=$build/bin checks=$build/${here#"$top"/}
compiler=${CC:-mpicc}
python=${PYTHON:-python3}
scratch=$(mktemp -d) || exit 1
# The formats of results for programs. Without the Jansson library there is no JSON.
formats="csv json"
[ -x "$programs/mpix_report" ] || formats=csv
# What runs a command with mounts of its own. The user keeps the number by which launchers know the user.
own_mounts=(unshare --user --map-current-user --keep-caps --mount)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# TOOL: what the whole script needs
need_tool() {
    [ -x "$programs/$1" ] || skip_all "$1 was not built: there is no Jansson library (Debian package: libjansson-dev)"
    # Programs of SimGrid do not.
    "$programs/$1" --version >/dev/null 2>&1 || skip_all "$1 does not run by itself"
}

# Whether there is a launcher; the simulator starts its programs by itself.
launches() { [ "$(basename "${MPIEXEC:-mpiexec}")" != smpirun ]; }

# COMMAND...: runs it without input. Leaves $status, and the output in out and err.
capture() {
    limited "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
}

# COMMAND...: where the folder disk in the scratch folder is a file system without room. What is in disk.before is there
# before, and what is there afterwards is in disk.after.
on_full_disk() {
    program=${1##*/} command="$* (full disk)"
    rm -rf "$scratch/disk.after"
    mkdir -p "$scratch/disk" "$scratch/disk.before" "$scratch/disk.after"
    # The variables are those of the shell in the namespace.
    # shellcheck disable=SC2016
    capture "${own_mounts[@]}" sh -c 'mount -t tmpfs -o size=64k none "$0" && cp -R "$0.before/." "$0" || exit
        cat /dev/zero >"$0/filler" 2>/dev/null
        "$@"
        status=$?
        rm "$0/filler" && cp -R "$0/." "$0.after"
        exit $status' "$scratch/disk" "$@"
}

# [OPTION]... of diff: what was there before is there, and nothing else.
expect_disk_kept() {
    expect_silence diff -r "$@" "$scratch/disk.before" "$scratch/disk.after"
}

# NAME: the last run failed, and said that this cannot be written.
expect_lost() {
    [ "$status" -ne 0 ] || complain "exit status is 0"
    grep -F "cannot" "$scratch/err" | grep -qF -e "$1" || complain "no message names $1"
}

# From now on, processes of MPICH that wait give the processors away, as those of Open MPI do (test/mpi/yielding.c), so
# that the script can run beside others.
give_way() {
    local library=$build/test/mpi/.libs/yielding.so
    [ "${sanitizers:-no}" != no ] || [ ! -e "$library" ] || yielding=(env "LD_PRELOAD=$library")
}
yielding=()

# RANKS COMMAND...: launches it. The flags of the launcher are words, and there may be none.
launch() {
    # shellcheck disable=SC2086
    limited "${MPIEXEC:-mpiexec}" ${MPIEXEC_FLAGS-} -n "$1" "${yielding[@]}" "${@:2}"
}

# From now on, programs of the build tree run without the scripts of libtool, which take ten times as long as most of
# them: these scripts say where the library is, here the environment does.
past_libtool() {
    local libraries=$build/lib/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    [ "$programs" = "$build/bin" ] && [ -d "$build/lib/.libs" ] || return 0
    export LD_LIBRARY_PATH=$libraries
    directly=.libs/
}
directly=

# PROGRAM: where it is built
path_of() {
    local folder=$programs first
    case $1 in
    check_*) folder=$checks ;;
    tracer | triad) folder=$build/examples ;;
    *) [ -x "$programs/$1" ] || folder=$build/bin ;;
    esac
    # After make in a build without shared libraries, .libs may have an old program, and no script stands for it.
    if [ -n "$directly" ] && [ -x "$folder/$directly$1" ] && read -r -n 2 first <"$folder/$1" &&
        [ "$first" = '#!' ]; then
        echo "$folder/$directly$1"
    else
        echo "$folder/$1"
    fi
}

# RANKS PROGRAM [OPTION]...: runs it, by itself if RANKS is "alone". Leaves what capture leaves, and in rows what of out
# is no comment.
run() {
    local path
    ranks=$1 program=$2
    shift 2
    command="$program $* ($ranks ranks)"
    path=$(path_of "$program")
    if [ "$ranks" = alone ]; then
        capture "$path" "$@"
    else
        launch "$ranks" "$path" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
        status=$?
    fi
    grep -v '^#' "$scratch/out" >"$scratch/rows"
    [ ! -f "$scratch/raw" ] || sed -i '/^#/d' "$scratch/raw" # the titles and rows alone
}

# For awk -F, on files of comma-separated values: $place["NAME"] is a column.
# shellcheck disable=SC2016
by_name='FNR == 1 { titled = 0; split("", place) } /^#/ { next }
    !titled++ { for (i = 1; i <= NF; i++) place[$i] = i; next }'

# COLUMN...: of the rows of comma-separated values in the output, or in another file that $from names, these columns.
columns() {
    awk -F, -v names="$*" "$by_name"'
        {
            count = split(names, name, " ")
            for (i = 1; i <= count; i++)
                printf "%s%s", (name[i] in place ? $place[name[i]] : "?"), (i < count ? "," : "\n")
        }' "$scratch/${from-out}"
}

complain() {        # WHAT: with what there is to know about the last run, but the lines that say where it was
    echo "$command: $1"
    echo "exit status $status"
    [ ! -e "$scratch/out" ] || grep -v '^# [a-z_]*: ' "$scratch/out" | sed 's/^/stdout: /' | head -n 60
    sed 's/^/stderr: /' "$scratch/err" | head -n 20
}

# What the program itself said on stderr, but where a trace is, and that the ranks of this test are not bound or not
# alone; launchers add lines of their own, Open MPI 5's with bytes that are no text. Those of the tests speak by other
# names.
own_messages() {
    case $program in check_*) own_name='mpix_[a-z_]*' ;; *) own_name=$program ;; esac
    grep -aE "^$own_name( list| drift| check| record)?: " "$scratch/err" |
        grep -avE ': ranks are not bound to cores|not done after [0-9]+ s: more processes|: the node was busy: ' |
        grep -avE 'next: mpix_trace_report /|[0-9] events; in MPI for '
}

expect_status() {
    [ "$status" -eq "$1" ] || complain "exit status is not $1"
}

# COMMAND...: what it runs, as run does, succeeds.
succeeds() {
    "$@"
    expect_status 0
}

# TEXT: a line of the program itself has it.
expect_message() {
    own_messages | grep -qF -e "$1" || complain "no message has: $1"
}

# PATTERN: the program itself said one line, which has this.
expect_line() {
    [ "$(own_messages | wc -l)" -eq 1 ] || complain "not one line"
    own_messages | grep -q -e "$1" || complain "no line says: $1"
}

# PART: the last run was refused in one line that names it, and measured nothing.
expect_refusal() {
    expect_status 2
    [ ! -s "$scratch/out" ] || complain "a refusal prints nothing to stdout"
    [ "$(own_messages | wc -l)" -eq 1 ] || complain "a refusal is one line"
    expect_message "$1"
}

# PART COMMAND...: what it runs, as run does, is refused.
refuses() {
    "${@:2}"
    expect_refusal "$1"
}

# RANKS PROGRAM [WORD]...: with the options of each line of standard input it is refused. A line is PART|OPTIONS, or
# OPTIONS alone, of which the first is the part.
expect_refusals() {
    local line words
    while read -r line <&3; do
        read -r -a words <<<"${line#*|}"
        case $line in *\|*) ;; *) line=${line%%[ =]*} ;; esac
        run "$@" ${words[@]+"${words[@]}"}
        expect_refusal "${line%%|*}"
    done 3<&0
}

# COMMAND...: whether it succeeds within the limit of time
comes_true() {
    local try
    for ((try = 0; try < 10 * tap_limit_s; try++)); do
        ! "$@" 2>/dev/null || return 0
        sleep 0.1
    done
    return 1
}

# COMMAND...: what it prints is wrong with the last run
expect_silence() {
    local problems
    problems=$("$@" 2>&1)
    [ -z "$problems" ] || complain "$problems"
}

# COLUMNS LINES: a head of comments, the last of them titles, then rows that line up with the titles.
check_table() {
    awk -v columns="$1" -v lines="$2" '
        /^# Ratio/ { next }
        /^#/ { titles = length($0); if (rows) print "a comment among the rows: " $0; next }
        { rows++ }
        length($0) != titles { print "does not line up: " $0 }
        NF != columns { print "not " columns " columns: " $0 }
        END { if (rows != lines) print rows + 0 " rows, not " lines }' "$scratch/out"
}

# [VERSION]: $scratch/user, whose MPI library says this of itself, or does not state its version. Handles are addresses.
make_program_with_other_mpi() {
    cat >"$scratch/other.c" <<'SOURCE'
#include <stdio.h>
int MPI_Init(int *argc, char ***argv) { return argc && argv ? 0 : 1; }
int MPI_Comm_rank(void *comm, int *rank) { return *rank = comm != rank; }
int MPI_Abort(void *comm, int code) { return *(int *)comm != code; }
int MPI_Finalize(void) { return 0; }
#ifdef VERSION
int PMPI_Get_library_version(char *text, int *length) { *length = sprintf(text, VERSION); return 0; }
#endif
SOURCE
    cat >"$scratch/user.c" <<'SOURCE'
#include <stdio.h>
int MPI_Init(int *, char ***);
int MPI_Comm_rank(void *, int *);
int MPI_Abort(void *, int);
int MPI_Finalize(void);
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    if (MPI_Comm_rank(&rank, &rank) == 0 && MPI_Abort(&rank, 0) == 0)
        puts("it runs");
    return MPI_Finalize();
}
SOURCE
    cc -shared -fPIC ${1+"-DVERSION=\"$1\""} "$scratch/other.c" -o "$scratch/libother.so" &&
        cc "$scratch/user.c" "$scratch/libother.so" -o "$scratch/user"
}

# $scratch/by_handle, which takes functions of MPI from the library's handle, as interpreters do.
make_program_by_handle() {
    cat >"$scratch/by_handle.c" <<'SOURCE'
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#define FIND(name) ((__typeof__(&name))dlsym(handle, #name))
int main(int argc, char **argv)
{
    void *handle = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
#ifdef OPEN_MPI
    MPI_Comm world = handle ? dlsym(handle, "ompi_mpi_comm_world") : NULL;
#else
    MPI_Comm world = MPI_COMM_WORLD;
#endif
    if (!handle || FIND(MPI_Init)(&argc, &argv) != MPI_SUCCESS)
        return 1;
    for (int i = 0; i < 300; i++)
        FIND(MPI_Barrier)(world);
    FIND(MPI_Finalize)();
    fputs(dlsym(handle, "MPI_Nothing") || !dlerror() ? "wrong: dlsym finds what is not there\n" : "done\n", stdout);
    return 0;
}
SOURCE
    # shellcheck disable=SC2086
    $compiler -c "$scratch/by_handle.c" -o "$scratch/by_handle.o" &&
        cc "$scratch/by_handle.o" -o "$scratch/by_handle" -ldl
}

# RANK PROGRAM TOOL [OPTION]...: of two processes, the tool is on this one alone. The job ends soon, with one line.
check_tool_on_one() {
    program=$3 command="$3 on rank $1 alone"
    # shellcheck disable=SC2016 # for the script
    tap_limit_s=60 launch 2 sh -c \
        'case ${PMI_RANK-$OMPI_COMM_WORLD_RANK} in "$0") shift && exec "$@" ;; *) exec "$1" ;; esac' \
        "$1" "$2" "$(path_of "$3")" "${@:4}" "$2" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ] || complain "the job does not end with an error"
    expect_line "^$3: rank $((1 - $1)) runs without $3: start all processes of the job with it\$"
}

# Whether MPI_Comm_spawn works here, where Open MPI 4 may try in vain for a minute; makes $scratch/spawner. All ranks
# spawn together, or by themselves, one after the other, those that its option names: each, or last.
can_spawn_one() {
    cat >"$scratch/spawner.c" <<'SOURCE'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Comm between;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&between);
    for (int i = 0; i < 2 && between == MPI_COMM_NULL; i++) {
        if (argc == 1 || (i == rank && (i == 1 || argv[1][0] == 'e')))
            MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, argc == 1 ? MPI_COMM_WORLD : MPI_COMM_SELF,
                           &between, MPI_ERRCODES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (between != MPI_COMM_NULL)
        MPI_Comm_disconnect(&between);
    MPI_Finalize();
    puts("done");
    return 0;
}
SOURCE
    # shellcheck disable=SC2086
    $compiler "$scratch/spawner.c" -o "$scratch/spawner" &&
        tap_limit_s=20 launch 2 "$scratch/spawner" </dev/null >/dev/null 2>&1
}

# PROGRAM: the path of its MPI library
mpi_library_of() { ldd "$1" | awk '$1 ~ /^libmpi/ && $1 !~ /^libmpix/ && $2 == "=>" { print $3; exit }'; }

have_fortran() {    # FORM, as the test programs in Fortran count them: whether the compiler has it
    local statement='use mpi_f08'
    [ "$1" -ne 1 ] || statement='include "mpif.h"'
    [ "$1" -ne 2 ] || statement='use mpi'
    printf 'program p\n%s\nend program\n' "$statement" >"$scratch/try.f90"
    ${compiler/mpicc/mpifort} "$scratch/try.f90" -o "$scratch/try" >/dev/null 2>&1
}

# What results of mpix_bench begin with, with columns that tests need.
bench_columns="operation,,key,text release,,key,text barrier,,key,text ranks,,key,integer root,,key,text \
run_time,,key,text size_bytes,bytes,key,integer arrival,,key,text valid,,figure,integer median_ns,ns,figure,number \
median_low_ns,ns,figure,integer median_high_ns,ns,figure,integer p99_ns,ns,figure,number \
arrival_span_ns,ns,figure,integer"
json_head() {       # SCHEMA COLUMNS [PROVENANCE]
    printf '{"schema":"%s","version":2,"columns":[' "$1"
    tr ' ' '\n' <<<"$2" | awk -F, '{
        printf "%s{\"name\":\"%s\",\"unit\":\"%s\",\"role\":\"%s\",", (NR > 1 ? "," : ""), $1, $2, $3
        printf "\"type\":\"%s\",\"doc\":\"\"}", $4 }'
    printf '],"provenance":{%s}}\n' "${3-}"
}

# FOLDER LAUNCHES VARIANT...: the manifest of a campaign of which all is done. Launch 1 of A is in A/001.json.
write_manifest() {
    local folder=$1 launches=$2 variant block separator=
    shift 2
    {
        echo '{"schema": "mpix-campaign", "version": 1, "seed": 3, "launches": '"$launches"', "variants": ['
        printf '%s\n' "$@" | awk '{ printf "%s{\"name\": \"%s\", \"command\": [\"true\"]}", (NR > 1 ? "," : ""), $0 }'
        echo '], "runs": ['
        for ((block = 0; block < launches; block++)); do
            # Campaigns change the order from block to block.
            for variant in $(printf '%s\n' "$@" | if [ $((block % 2)) = 0 ]; then cat; else tac; fi); do
                printf '%s{"block": %d, "variant": "%s", "file": "%s/%03d.json", "status": "done"}\n' "$separator" \
                    $block "$variant" "$variant" $((block + 1))
                separator=,
            done
        done
        echo ']}'
    } >"$folder/manifest.json"
}
