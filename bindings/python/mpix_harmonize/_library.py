# SPDX-License-Identifier: BSD-3-Clause
"""The shared library for the MPI library that mpi4py uses: found, checked, and its functions declared."""
from __future__ import annotations

import ctypes
import os
from typing import List, Optional, Tuple, Union

from mpi4py import MPI

try:
    from ._installed import LIBRARY_FOLDER, LIBRARY_SUFFIX
except ImportError:  # not installed by make install
    LIBRARY_FOLDER = LIBRARY_SUFFIX = ""

#: Names the library to load, if it is set.
VARIABLE = "LIBMPIX_HARMONIZE"
_SONAME_ENDS_WITH = ".so.0"


class HarmonizeError(MPI.Exception):
    """An error of the library. str() is the library's message; Get_error_class() is the class of MPI."""

    message = ""

    def __str__(self) -> str:
        return self.message


def _mpi_function(library: ctypes.CDLL, name: str) -> Optional[int]:
    """The address of a function of the MPI library that a library uses."""
    function = getattr(library, name, None)
    return ctypes.cast(function, ctypes.c_void_p).value if function else None


def _mpi_version(library: ctypes.CDLL) -> str:
    """The first words of MPI_Get_library_version, such as "Open MPI v4.1.4"."""
    text = ctypes.create_string_buffer(8192 + MPI.MAX_LIBRARY_VERSION_STRING)
    try:
        library.MPI_Get_library_version(text, ctypes.byref(ctypes.c_int()))
    except AttributeError:
        return "no MPI library"
    return " ".join(text.value.decode(errors="replace").replace(",", "\n").split("\n")[0].split())


def _flavor_suffix() -> str:
    try:
        # Is in the process if mpi4py uses the standard ABI.
        ctypes.CDLL("libmpi_abi.so.1", mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
        return "-abi"
    except OSError:
        return "-openmpi" if MPI.get_vendor()[0] == "Open MPI" else "-mpich"


def _candidates() -> List[str]:
    """In the order of preference: where it was installed first, and named after a flavor of MPI first."""
    if os.environ.get(VARIABLE):
        return [os.environ[VARIABLE]]
    suffixes = dict.fromkeys((_flavor_suffix(), LIBRARY_SUFFIX, ""))
    names = [f"libmpix_harmonize{suffix}{_SONAME_ENDS_WITH}" for suffix in suffixes]
    installed = [os.path.join(LIBRARY_FOLDER, name) for name in names] if LIBRARY_FOLDER else []
    return [path for path in installed if os.path.exists(path)] + names


def _load() -> ctypes.CDLL:
    """The first candidate that uses the same MPI library as mpi4py: two of them in one process cannot work."""
    mpi4py_library = ctypes.CDLL(MPI.__file__)
    wanted = _mpi_function(mpi4py_library, "PMPI_Comm_rank")
    complaints = []
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            complaints.append(str(error))
            continue
        if _mpi_function(library, "PMPI_Comm_rank") != wanted:
            complaints.append(f"{path} was built for {_mpi_version(library)}")
        elif _mpi_function(library, "MPIX_Harmonize") is None:
            complaints.append(f"{path} is not libmpix_harmonize")
        else:
            return library
    raise ImportError(f"no libmpix_harmonize for {_mpi_version(mpi4py_library)}, which mpi4py uses: "
                      f"{'; '.join(complaints)}. Install one that was built for it, or set {VARIABLE} to its path")


def _handle_type(mpi_type: type) -> Union[type[ctypes.c_int], type[ctypes.c_void_p]]:
    return ctypes.c_int if MPI._sizeof(mpi_type) == ctypes.sizeof(ctypes.c_int) else ctypes.c_void_p


_COMM = _handle_type(MPI.Comm)
_INFO = _handle_type(MPI.Info)


def handle(mpi_object: Union[MPI.Comm, MPI.Info]) -> Union[ctypes.c_int, ctypes.c_void_p]:
    """The C handle of a communicator or an info object."""
    if isinstance(mpi_object, MPI.Comm):
        return _COMM.from_address(MPI._addressof(mpi_object))
    if isinstance(mpi_object, MPI.Info):
        return _INFO.from_address(MPI._addressof(mpi_object))
    raise TypeError(f"comm is of type {type(mpi_object).__name__}; allowed: an intracommunicator of mpi4py")


def _declare(library: ctypes.CDLL) -> ctypes.CDLL:
    int_out, int64_out, double_out = map(ctypes.POINTER, (ctypes.c_int, ctypes.c_int64, ctypes.c_double))
    for name, arguments in (
            # bindings/declare.sh begins: types of Python
            ("MPIX_Harmonize", [_COMM, int_out]),
            ("MPIX_Harmonize_delayed", [_COMM, ctypes.c_int64, int_out]),
            ("MPIX_Harmonize_instant", [_COMM, int64_out]),
            ("MPIX_Global_time", [_COMM, double_out]),
            ("MPIX_Global_time_interval", [_COMM, double_out, double_out]),
            ("MPIX_Global_time_ns", [_COMM, int64_out, int64_out]),
            ("MPIX_Global_wait_until", [_COMM, ctypes.c_int64, int_out]),
            ("MPIX_Clock_sync", [_COMM]),
            ("MPIX_Clock_pair", [_COMM, ctypes.c_int, int64_out, int64_out, int64_out]),
            ("MPIX_Global_time_of", [_COMM, ctypes.c_int, ctypes.c_int64, int64_out, int64_out]),
            ("MPIX_Clock_write", [_COMM, ctypes.c_char_p]),
            ("MPIX_Harmonize_set_info", [_COMM, _INFO]),
            ("MPIX_Harmonize_get_info", [_COMM, ctypes.c_void_p]),
            # bindings/declare.sh ends
            ("MPI_Info_get", [_INFO, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, int_out])):
        function = getattr(library, name)
        function.argtypes = arguments
        function.restype = ctypes.c_int
    return library


functions = _declare(_load())


def _text(info: MPI.Info, key: str) -> str:
    """A value of an info object. mpi4py takes UTF-8 only, and messages may cut a character, or quote any bytes."""
    text = ctypes.create_string_buffer(MPI.MAX_INFO_VAL + 1)
    functions.MPI_Info_get(handle(info), key.encode(), MPI.MAX_INFO_VAL, text, ctypes.byref(ctypes.c_int()))
    return text.value.decode(errors="replace")


def _read_info(comm: MPI.Comm) -> Tuple[int, List[Tuple[str, str]]]:
    """The code of MPIX_Harmonize_get_info, and what it gives."""
    info = MPI.Info()
    code = functions.MPIX_Harmonize_get_info(handle(comm), MPI._addressof(info))
    if code != MPI.SUCCESS:
        return code, []
    items = [(key, _text(info, key)) for key in map(info.Get_nthkey, range(info.Get_nkeys()))]
    info.Free()
    return code, items


def info_items(comm: MPI.Comm) -> List[Tuple[str, str]]:
    """Settings and statistics by their keys."""
    code, items = _read_info(comm)
    check(code)
    return items


def _last_message() -> str:
    """The library's message of the last error of this process. MPI keeps it in some libraries only."""
    code, items = _read_info(MPI.COMM_SELF)
    if code != MPI.SUCCESS:
        return "MPI is finalized already" if MPI.Is_finalized() else "MPI is not initialized yet"
    return dict(items)["mpix_harmonize_last_error"]


def check(code: int, cause: Optional[Exception] = None) -> None:
    """Raise the error that the library returned."""
    if code != MPI.SUCCESS:
        error = HarmonizeError(code)
        error.message = _last_message()
        raise error from cause
