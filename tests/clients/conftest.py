# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Creates an OpenGL context without a display, and prints the result for tests/summary."""

import ctypes
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python" / "examples"))

PLATFORM_SURFACELESS_MESA = 0x31DD
OPENGL_API = 0x30A2
NONE = 0x3038
RENDERABLE_TYPE, OPENGL_BIT = 0x3040, 0x0008
SURFACE_TYPE = 0x3033


def make_context():
    """Makes an OpenGL context current on this thread, with EGL."""
    egl = ctypes.CDLL("libEGL.so.1")
    for name in ("eglGetPlatformDisplay", "eglCreateContext"):
        getattr(egl, name).restype = ctypes.c_void_p
    display = ctypes.c_void_p(egl.eglGetPlatformDisplay(PLATFORM_SURFACELESS_MESA, None, None))
    assert egl.eglInitialize(display, None, None), "EGL does not start"
    assert egl.eglBindAPI(OPENGL_API)
    config, count = ctypes.c_void_p(), ctypes.c_int()
    attributes = (ctypes.c_int * 5)(SURFACE_TYPE, 0, RENDERABLE_TYPE, OPENGL_BIT, NONE)
    egl.eglChooseConfig(display, attributes, ctypes.byref(config), 1, ctypes.byref(count))
    context = ctypes.c_void_p(egl.eglCreateContext(display, config, None, None))
    assert context, "EGL creates no OpenGL context"
    assert egl.eglMakeCurrent(display, None, None, context)


@pytest.fixture(scope="session")
def opengl():
    os.environ.setdefault("LIBGL_ALWAYS_SOFTWARE", "true")
    make_context()


def pytest_terminal_summary(terminalreporter):
    outcomes = {
        name: len(terminalreporter.stats.get(name, [])) for name in ("passed", "failed", "error")
    }
    bad = outcomes["failed"] + outcomes["error"]
    cases = outcomes["passed"] + bad
    share = 100 * outcomes["passed"] // cases if cases else 0
    terminalreporter.write_line(f"{share}%: Checks: {cases}, Failures: {bad}, Errors: 0")
