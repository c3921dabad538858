# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A pytest plugin that runs cuda.core's own tests of GraphicsResource on the class of a module.

    GR_GRAPHICS_MODULE=grinterop python3 -m pytest -p their_tests test_graphics.py

GR_GRAPHICS_MODULE  grinterop or cuda.core: the module whose GraphicsResource replaces that of
                    cuda.core; nothing else is replaced
GR_OUTCOMES         a file that gets a line per test: outcome, name, reason for skipping

Some versions of these tests catch every exception and skip. This plugin raises the exception.
"""

import importlib
import os
import sys

import cuda.core
import pytest

MODULE = importlib.import_module(os.environ["GR_GRAPHICS_MODULE"])
cuda.core.GraphicsResource = MODULE.GraphicsResource
if MODULE is not cuda.core:
    cuda.core._graphics._parse_register_flags = MODULE._parse_register_flags

_skip = pytest.skip


def skip_or_raise(reason="", **keywords):
    error = sys.exc_info()[1]
    if error is not None:
        raise error
    _skip(reason, **keywords)


skip_or_raise.Exception = _skip.Exception
pytest.skip = skip_or_raise


def pytest_configure(config):
    config.addinivalue_line("markers", "thread_unsafe: of a plugin that their tests use")


@pytest.fixture
def init_cuda():
    device = cuda.core.Device(0)
    device.set_current()
    return device


def pytest_runtest_logreport(report):
    if report.when != "call" and report.outcome == "passed":
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
    name = report.nodeid.partition("::")[2]
    with open(os.environ["GR_OUTCOMES"], "a", encoding="utf-8") as file:
        file.write(f"{report.outcome} {name} {reason}".rstrip() + "\n")
