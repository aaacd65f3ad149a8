#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The Python module, from where make install puts it: examples/hello.py and check_python.py at 1 and 2 ranks, and
# what it says where there is no library for the MPI library of mpi4py. To be run in the build directory.
#
# Environment: PYTHON  an interpreter with mpi4py and numpy (default: the first of configure's, python3, and
#                      /usr/bin/python3 that has them)
. "$(dirname "$0")/run.sh"
. "$tests/programs/installed.sh"

check_version() {
    local version
    version=$(sed -n 's/^version=//p' "$top/VERSION")
    grep -qx "version = \"$version\"" "$top/bindings/python/pyproject.toml" || echo "pyproject.toml is not of $version"
    local number
    number=$(($(sed -n 's/^libtool_current=//p' "$top/VERSION") - $(sed -n 's/^libtool_age=//p' "$top/VERSION")))
    grep -q "\"\\.so\\.$number\"" "$top/bindings/python/mpix_harmonize/_library.py" ||
        echo "_library.py does not look for libmpix_harmonize.so.$number"
}
quick tap_check "the module is for this version of the library" check_version

# The vendor of mpi4py's MPI library, if there are both modules
vendor_of() {       # INTERPRETER
    "$1" -c 'import numpy, mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.get_vendor()[0])' \
        2>/dev/null
}
configured_python=$(configured PYTHON)
python=''
for candidate in ${PYTHON-$configured_python python3 /usr/bin/python3}; do
    vendor=$(vendor_of "$candidate") && python=$candidate && break
done
if [ -z "$python" ]; then
    tap_skip "programs in Python" "no interpreter has mpi4py and numpy (Debian packages: python3-mpi4py python3-numpy)"
    tap_done
fi
if ! compgen -G "lib/.libs/libmpix_harmonize$(configured LIBRARY_SUFFIX).so.*" >/dev/null; then
    tap_skip "programs in Python" "no shared library is built"
    tap_done
fi
install_once

if [ -n "$configured_python" ]; then
    folder=$root$(configured pythondir)
else
    folder=$top/bindings/python
fi
export PYTHONPATH=$folder${PYTHONPATH+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
library=$(compgen -G "$root$libdir/libmpix_harmonize$suffix.so.?" | head -n 1)

check_installed() {
    local name
    for name in "$top"/bindings/python/mpix_harmonize/*.py "$top/bindings/python/mpix_harmonize/py.typed"; do
        [ -e "$folder/mpix_harmonize/${name##*/}" ] || echo "${name##*/} is not in $folder"
    done
    grep -qx "LIBRARY_FOLDER = \"$libdir\"" "$folder/mpix_harmonize/_installed.py" || echo "it does not know $libdir"
}
if [ -n "$configured_python" ]; then
    tap_check "make install installs the module" check_installed
else
    tap_skip "make install installs the module" "configure found no Python"
fi

# LIBRARY PART...: importing the module with this library fails in one line that has these parts.
check_refusal() {
    local output part
    output=$(LIBMPIX_HARMONIZE=$1 "$python" -c 'import mpix_harmonize' 2>&1) && echo "it is accepted"
    output=$(grep '^ImportError: ' <<<"$output") || echo "no ImportError"
    for part in "$@" LIBMPIX_HARMONIZE; do
        grep -qF -e "$part" <<<"$output" || echo "'$part' is not in: $output"
    done
}
tap_check "a library that is not there" check_refusal /nowhere/libmpix_harmonize.so "$vendor"

case $(configured MPI_LIBRARY) in
"$vendor"*) ;;
*)
    quick tap_check "a library for another MPI library" check_refusal "$library" "$vendor" "was built for"
    tap_skip "programs in Python" "mpi4py of $python uses $vendor"
    tap_done
    ;;
esac

try() {     # RANKS PROGRAM
    local output
    output=$(LIBMPIX_HARMONIZE=$library run_installed "$1" "$python" "$2") && grep -qx ok <<<"$output" || echo "$output"
}
# By pip from the sources, without what make install says of the library's place.
check_pip() {
    local output
    cp -R "$top/bindings/python" "$scratch/sources" && chmod -R u+w "$scratch/sources"
    output=$("$python" -m pip install --no-index --no-deps --no-build-isolation --target "$scratch/site" \
        "$scratch/sources" 2>&1) || echo "$output"
    [ -e "$scratch/site/mpix_harmonize/py.typed" ] || echo "py.typed is not installed"
    PYTHONPATH=$scratch/site try 2 "$top/examples/hello.py"
}
name="hello.py, with a module that pip installed"
can_install='import setuptools, wheel, pip; assert int(setuptools.__version__.split(".")[0]) >= 61'
if "$python" -c "$can_install" 2>/dev/null; then
    tap_check "$name" check_pip
else
    tap_skip "$name" "$python has no pip, setuptools 61 and wheel (Debian packages: python3-pip python3-wheel)"
fi
tap_check "hello.py" try 2 "$top/examples/hello.py"
tap_check "all functions, 1 rank" try 1 "$here/check_python.py"
quick tap_check "all functions, 2 ranks" try 2 "$here/check_python.py"
tap_done
