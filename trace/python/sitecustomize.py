# SPDX-License-Identifier: BSD-3-Clause
"""Tells mpix_trace --python the line of a script from which it calls a function of mpi4py.

Python runs this file when it starts. It does nothing until mpi4py.MPI is loaded. Then it replaces what scripts call
there: a thread says its line before a call, and the one before after it. What mpix_trace has put in front of MPI never
asks the interpreter for anything.
"""
import os
import sys

OWN_FILE = os.path.abspath(__file__)
OWN_FOLDER = os.path.dirname(OWN_FILE)
NO_CALLS = {"Wtime", "Wtick"}  # scripts measure by these


def find_recorder():
    """The functions of mpix_trace, which is loaded into the process; None: it is not."""
    import ctypes
    library = ctypes.PyDLL(None)  # so that a call does not let other threads of the interpreter run
    try:
        define, enter = library.mpix_trace_define_line, library.mpix_trace_enter_line
    except AttributeError:
        return None
    define.restype = enter.restype = ctypes.c_uint64
    define.argtypes, enter.argtypes = [ctypes.c_char_p], [ctypes.c_uint64]
    return define, enter


def make_noting(define, enter, package):
    """What makes of a function one that says from which line outside of the package it is called."""
    from functools import wraps
    passed = (package + os.sep, OWN_FILE)
    numbers = {}  # of lines, by the path, the number and the function: code objects of two files may be equal

    def number_of(frame):
        while frame.f_back and frame.f_code.co_filename.startswith(passed):
            frame = frame.f_back
        code = frame.f_code
        key = code.co_filename, frame.f_lineno, code.co_name
        number = numbers.get(key)
        if not number:
            path = code.co_filename
            text = f"{os.path.basename(path)}:{frame.f_lineno} {code.co_name} in {path}"
            number = numbers[key] = define(text.encode(errors="replace"))
        return number

    def noting(function):
        @wraps(function, updated=())
        def call(*arguments, **named):
            before = enter(number_of(sys._getframe(1)))
            try:
                return function(*arguments, **named)
            finally:
                enter(before)
        return call
    return noting


def replace_methods(of_class, noting):
    """Also of classes in C, which let nobody set their attributes."""
    import ctypes
    import gc
    own = gc.get_referents(of_class.__dict__)[0]
    for name, method in list(own.items()):
        if name.startswith("_"):
            continue
        if isinstance(method, (staticmethod, classmethod)):
            own[name] = type(method)(noting(method.__func__))
        elif type(method).__name__ in ("method_descriptor", "cython_function_or_method", "function"):
            own[name] = noting(method)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(of_class))


def replace_functions(module, noting):
    for name, value in list(vars(module).items()):
        if isinstance(value, type):
            if value.__module__ == module.__name__ and not issubclass(value, (BaseException, int)):
                replace_methods(value, noting)
        elif callable(value) and name[:1].isupper() and name not in NO_CALLS:
            setattr(module, name, noting(value))


def watch(module):
    """A script runs as ever where this fails."""
    try:
        recorder = find_recorder()
        if recorder:
            replace_functions(module, make_noting(*recorder, os.path.dirname(os.path.abspath(module.__file__))))
    except Exception as problem:
        print(f"mpix_trace --python: the lines of the script are not known: {problem!r}", file=sys.stderr)


class Finder:
    """Looks whether mpi4py.MPI is loaded, by whatever finds it otherwise."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "mpi4py.MPI":
            return None
        from importlib.util import find_spec
        sys.meta_path.remove(Finder)
        spec = find_spec(name)
        if spec and spec.loader and hasattr(spec.loader, "exec_module"):
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                watch(module)
            spec.loader.exec_module = exec_module
        return spec


def go_on():
    """The file of this name that Python would have run."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec
    rest = [folder for folder in sys.path if os.path.abspath(folder or ".") != OWN_FOLDER]
    spec = PathFinder.find_spec("sitecustomize", rest)
    if spec and spec.loader:
        sys.modules["sitecustomize"] = module = module_from_spec(spec)
        spec.loader.exec_module(module)


sys.meta_path.insert(0, Finder)
go_on()
