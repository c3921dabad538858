# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Contexts for the tests, and reports in the format that tests/run-test counts."""

import ctypes
import gc
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import grinterop
import numpy as np
import pytest
from grinterop import _errors, _grinterop

import gl

# Names that only C has. Environment variables have the same names everywhere.
C_NAMES = re.compile(
    r"\b(?:gr_\w+|GR_(?!CUDA_DRIVER|LOG|COMPAT|ERR_)\w+|NULL|true|false|z_(?:near|far)"
    r"|GL_\w+_ATTACHMENT\d*)\b"
)


def checked(*parts):
    """Makes the exception of an error, whose message must have the names of Python."""
    error = _errors._make(*parts)
    assert not C_NAMES.search(str(error)), str(error)
    return error


def named(text):
    """Replaces the C names of a description, which must leave none."""
    text = _errors._python_names(text)
    assert not C_NAMES.search(text), text
    return text


_grinterop._set_makers(checked, _errors._warn, named)


@pytest.fixture(scope="session")
def cuda():
    """A CUDA context with a stream."""
    context = grinterop.CudaContext(0)
    yield context
    gc.collect()


@pytest.fixture(scope="session")
def egl(cuda):
    """An OpenGL context, current in all tests."""
    context = grinterop.EglContext(0)
    yield context
    gc.collect()


@pytest.fixture
def vbo(egl):
    """An OpenGL buffer with 4096 bytes: 0, 1, 2, ... 255, 0, ..."""
    egl.make_current()
    name = gl.buffer(4096, bytes(range(256)) * 16)
    yield name
    gl.delete_buffer(name)


def refuses(error, *calls, match=None):
    """Each call raises the error."""
    for call in calls:
        with pytest.raises(error, match=match):
            call()


def pinned(array):
    """A copy of the array in memory that CUDA can access."""
    copy = np.asarray(grinterop.Tensor.create(array.shape, array.dtype.name, memory="pinned"))
    copy[...] = array
    return copy


def interface(address, **changes):
    """A __cuda_array_interface__ of 64 bytes in the shape (8, 8)."""
    own = {"shape": (8, 8), "typestr": "|u1", "data": (address, False), "strides": None}
    return own | {"version": 3} | changes


def elsewhere(*calls):
    """Runs the calls at once, each in a thread of its own. Raises their first exception."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(call) for call in calls]]


def run_python(*arguments, before=(), **environment):
    """Runs another Python process, which finds all modules of this one. `before` is a command that
    runs it.
    """
    path = os.pathsep.join(filter(None, sys.path))
    return subprocess.run(
        [*before, sys.executable, *map(str, arguments)], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": path, **environment}, timeout=200,
    )


def end_mapping(end, resource, buffer):
    """Ends the mapping of the buffer: unmaps the resource ("unmap"), closes the resource
    ("resource"), or closes a list of buffers ("many").
    """
    if end == "unmap":
        resource.unmap()
    elif end == "resource":
        resource.close()
    else:
        grinterop.Buffers([buffer]).close()


@pytest.fixture
def resource(vbo):
    made = grinterop.GraphicsResource.from_gl_buffer(vbo)
    yield made
    made.close()


@pytest.fixture
def vulkan(cuda):
    with grinterop.VulkanDevice.headless(0) as device:
        yield device


@pytest.fixture
def doomed(cuda):
    """A stream of a CUDA context of its own, and a function that destroys the context."""
    library = ctypes.CDLL("libcuda.so.1")
    context, stream = ctypes.c_void_p(), ctypes.c_void_p()
    assert library.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0
    assert library.cuStreamCreate(ctypes.byref(stream), 0) == 0

    def destroy():
        assert library.cuCtxDestroy_v2(context) == 0

    return stream.value, destroy


# ---- The result ----------------------------------------------------------------------------------


class Verdict:
    def __init__(self):
        self.cases = self.failures = 0
        self.lines = []

    def add(self, report):
        """Records the result of a case: that of its call phase, or of its setup if the case ended
        there.
        """
        name = report.nodeid.rsplit("::", 1)[-1]
        file, line, _ = report.location
        if report.when == "call" or report.outcome != "passed":
            self.cases += report.when == "call" or report.when == "setup"
        if report.outcome == "failed":
            self.cases += report.when == "teardown"
            self.failures += 1
            text = str(report.longrepr).strip().splitlines()[-1:]
            self.lines.append(f"{file}:{line}:F:python:{name}: {''.join(text)}")
        elif report.outcome == "skipped":
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
            self.lines.append(f"skipped: {name}: {reason.removeprefix('Skipped: ')}")


verdict = Verdict()


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        verdict.add(report)


def pytest_collectreport(report):
    if report.outcome == "failed":
        verdict.cases += 1
        verdict.failures += 1
        verdict.lines.append(f"{report.nodeid}:1:E:python:collection: it could not be read")


def pytest_terminal_summary(terminalreporter):
    cases, failures = verdict.cases, verdict.failures
    for line in verdict.lines:
        terminalreporter.write_line(line)
    share = 100 * (cases - failures) // cases if cases else 0
    terminalreporter.write_line(f"{share}%: Checks: {cases}, Failures: {failures}, Errors: 0")
