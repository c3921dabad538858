# SPDX-License-Identifier: Apache-2.0 OR MIT
"""python -m grinterop: what works on this machine, and programs without a GPU.

    python -m grinterop [--probe] [--json] ...  the report of grinterop-info, with its options
    python -m grinterop run PROGRAM ...         a Python program on the software driver
    python -m grinterop libcuda                 the folder of that driver's libcuda.so.1

`run` takes what python takes: a file, -m MODULE or -c CODE. Libraries that load libcuda themselves,
such as cuda.core, Numba and PyCUDA, then get the software driver, too.
"""

import os
import sys
from pathlib import Path

from ._files import find


def software_folder() -> Path:
    places = "grinterop/libcuda/libcuda.so.1", "../softcuda/.libs/libcuda.so.1"
    return find("The software driver", *places).parent


def interpreter_options() -> list[str]:
    """The options of this Python, such as -O and -X: what comes before -m grinterop."""
    options = sys.orig_argv[1 : len(sys.orig_argv) - len(sys.argv) + 1]
    if options and options[-1] == "grinterop":
        options.pop()
    last = options.pop().removesuffix("grinterop").removesuffix("m") if options else "-"
    return options + ([] if last == "-" else [last])


def run(arguments: list[str]) -> None:
    folder = os.environ.get("LD_LIBRARY_PATH")
    path = f"{software_folder()}{':' + folder if folder else ''}"
    environment = os.environ | {"LD_LIBRARY_PATH": path, "GR_CUDA_DRIVER": "libcuda.so.1"}
    os.execve(sys.executable, [sys.executable, *interpreter_options(), *arguments], environment)


def main() -> None:
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    if command == "libcuda" and len(sys.argv) == 2:
        print(software_folder())
    elif command == "run" and len(sys.argv) > 2:
        run(sys.argv[2:])
    elif command in ("-h", "--help") or (command and not command.startswith("-")):
        print(__doc__)
        sys.exit(0 if command.startswith("-") else 2)
    else:
        places = "grinterop/grinterop-info", "../bin/grinterop-info", "../../bin/grinterop-info"
        info = find("grinterop-info", *places, "../grinterop-info")
        os.execv(info, [str(info), *sys.argv[1:]])


if __name__ == "__main__":
    try:
        main()
    except FileNotFoundError as _error:
        sys.exit(str(_error))
