# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Finds libgrinterop and builds the one extension, in the limited API of CPython 3.10.

GRINTEROP_BUILD names a build folder of grinterop that is not installed. Without it, pkg-config
finds the installed grinterop. The extension gets an rpath to that library. GRINTEROP_RPATH=no omits
the rpath, for packages whose library is on the loader's path.
"""

import os
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

if sysconfig.get_config_var("Py_GIL_DISABLED"):
    sys.exit("grinterop does not support free-threaded Python: use the build that has the GIL")

HERE = Path(__file__).resolve().parent


def from_build(folder):
    """Compiler and linker options for a build folder."""
    build = Path(folder).resolve()
    libraries = build / ".libs"
    if not (libraries / "libgrinterop.so").exists():
        sys.exit(f"GRINTEROP_BUILD is {folder}, where there is no .libs/libgrinterop.so")
    makefile = (build / "Makefile").read_text()
    variables = dict(line.split(" = ", 1) for line in makefile.splitlines() if " = " in line[:40])
    source = (build / variables["top_srcdir"].strip()).resolve()
    return (
        [f"-I{source / 'include'}", "-isystem", variables["CUDA_INCLUDEDIR"].strip()],
        [f"-L{libraries}", "-lgrinterop", f"-Wl,-rpath,{libraries}"],
    )


def cuda_headers():
    """The folder of the CUDA headers, or none if the compiler finds them without it."""
    for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if home and (Path(home) / "include/cudaTypedefs.h").exists():
            return ["-isystem", f"{home}/include"]
    return []


def from_pkg_config():
    def ask(option):
        try:
            return shlex.split(
                subprocess.check_output(["pkg-config", option, "grinterop"], text=True)
            )
        except (OSError, subprocess.CalledProcessError):
            sys.exit(
                "pkg-config does not find grinterop. Install it (make install; set PKG_CONFIG_PATH"
                " for another prefix), or set GRINTEROP_BUILD to its build folder."
            )

    libraries = ask("--libs")
    folders = [flag[2:] for flag in libraries if flag.startswith("-L")]
    rpath = [f"-Wl,-rpath,{folder}" for folder in folders]
    return ask("--cflags") + cuda_headers(), libraries + rpath


class Wheel(bdist_wheel):
    """Tags the wheel: one wheel for CPython 3.10 and later."""

    def get_tag(self):
        python, abi, platform = super().get_tag()
        return ("cp310", "abi3", platform) if python.startswith("cp") else (python, abi, platform)


folder = os.environ.get("GRINTEROP_BUILD")
compile_options, link_options = from_build(folder) if folder else from_pkg_config()
if os.environ.get("GRINTEROP_RPATH") == "no":
    link_options = [option for option in link_options if not option.startswith("-Wl,-rpath,")]
os.chdir(HERE)
Path("build").mkdir(exist_ok=True)
make_docs = [sys.executable, "src/docs.py", "grinterop/_grinterop.pyi", "build/docs.h"]
subprocess.run(make_docs, check=True)
setup(
    ext_modules=[
        Extension(
            "grinterop._grinterop",
            sorted(str(path) for path in Path("src").glob("*.c")),
            depends=sorted(str(path) for path in Path("src").glob("*.h")),
            extra_compile_args=["-std=c11", "-Wall", "-Wextra", "-fvisibility=hidden", "-Ibuild"]
            + compile_options,
            extra_link_args=link_options,
            py_limited_api=True,
        )
    ],
    cmdclass={"bdist_wheel": Wheel},
)
