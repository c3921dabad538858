# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where the files of grinterop are."""

from pathlib import Path

from . import _grinterop


def get_library() -> str:
    """The file of libgrinterop, for extra_objects of an extension that imports grinterop first."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            name = line.rstrip("\n").split(None, 5)[5:]
            if name and Path(name[0]).name.startswith("libgrinterop.so"):
                return name[0]
    return _grinterop.__file__


def find(what: str, *places: str) -> Path:
    """The first place that exists beside libgrinterop: of a wheel, installed, in a build folder."""
    folder = Path(get_library()).parent
    for place in places:
        if (folder / place).exists():
            return (folder / place).resolve()
    raise FileNotFoundError(f"{what} is not beside {folder}: install all of grinterop")


def get_include() -> str:
    """The folder of the C and C++ headers, for include_dirs of an extension."""
    places = "../include/grinterop/gr.h", "../../include/grinterop/gr.h"
    return str(find("include/grinterop", *places).parents[1])
