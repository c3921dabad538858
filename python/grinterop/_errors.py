# SPDX-License-Identifier: Apache-2.0
"""Exceptions: one class for each class of errors of the library's.

All are CUDAError, as cuda.core calls it, and Python's own class beside it where there is one. Where
cuda.core is loaded they are its CUDAError, too, so that `except` clauses that name that one work.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

from . import _grinterop

DOMAINS = ("", "cuda", "opengl", "egl", "vulkan", "errno")


class Error(NamedTuple):
    """What gr_last_error() has: see last_error()."""

    status: str
    domain: str
    code: int
    code_name: str
    call: str
    message: str


class CUDAError(Exception):
    """A call of the library's failed. Nothing has changed, except where `status` is
    "GR_ERR_PARTIAL".

    status     the class of the error: "GR_ERR_CUDA", ...
    domain     whose code it is: "cuda", "opengl", "egl", "vulkan", "errno" or ""
    code       the number that the driver or the system gave, or 0
    code_name  its name, such as "CUDA_ERROR_ALREADY_MAPPED", or ""
    call       the function that failed
    message    what was found, and what to do about it
    """

    status: str = ""
    domain: str = ""
    code: int = 0
    code_name: str = ""
    call: str = ""
    message: str = ""


class InvalidValueError(CUDAError, ValueError):
    """An argument is wrong (GR_ERR_INVALID_VALUE)."""


class StateError(CUDAError, RuntimeError):
    """The object is in another state (GR_ERR_STATE)."""


class UnsupportedError(CUDAError, NotImplementedError):
    """Not supported on this system (GR_ERR_UNSUPPORTED)."""


class NoDriverError(CUDAError):
    """There is no CUDA driver that starts (GR_ERR_NO_DRIVER)."""


class OutOfMemoryError(CUDAError, MemoryError):
    """Out of memory, of the process or of a device (GR_ERR_NO_MEMORY)."""


class WaitTimeoutError(CUDAError, TimeoutError):
    """Not ready within the time allowed (GR_ERR_TIMEOUT, GR_ERR_NOT_READY)."""


class ExchangeError(CUDAError, BufferError):
    """A tensor can't be given to another framework, or taken from it."""


class StoppedError(CUDAError):
    """Another thread stopped the ring (GR_ERR_STOPPED)."""


class DeviceLostError(CUDAError):
    """The device is lost (GR_ERR_DEVICE_LOST)."""


class PartialError(CUDAError):
    """Done in part (GR_ERR_PARTIAL)."""


_CLASSES = {
    "GR_ERR_INVALID_VALUE": InvalidValueError,
    "GR_ERR_STATE": StateError,
    "GR_ERR_UNSUPPORTED": UnsupportedError,
    "GR_ERR_NO_DRIVER": NoDriverError,
    "GR_ERR_NO_MEMORY": OutOfMemoryError,
    "GR_ERR_TIMEOUT": WaitTimeoutError,
    "GR_ERR_NOT_READY": WaitTimeoutError,
    "GR_ERR_STOPPED": StoppedError,
    "GR_ERR_DEVICE_LOST": DeviceLostError,
    "GR_ERR_PARTIAL": PartialError,
}

_shared: dict[type, type] = {}


def _shared_with_cuda_core(own: type) -> type:
    """The class to raise: `own`, and where cuda.core is loaded its CUDAError as well."""
    # It is public from cuda.core 1.3 on.
    modules = map(sys.modules.get, ("cuda.core", "cuda.core._utils.cuda_utils"))
    theirs = next((found for one in modules if (found := getattr(one, "CUDAError", None))), None)
    if theirs is None:
        return own
    if own not in _shared:
        body = {"__module__": own.__module__, "__doc__": own.__doc__}
        _shared[own] = type(own.__name__, (own, theirs), body)
    return _shared[own]


def _make(status, domain, code, code_name, call, message, exchange=False):
    """The exception of an error. The extension calls this."""
    parts = [code_name, message] if code_name else [message or status]
    if call:
        parts[-1] += f" ({call})"
    own = ExchangeError if exchange else _CLASSES.get(status, CUDAError)
    error = _shared_with_cuda_core(own)(": ".join(parts))
    error.status, error.domain, error.code = status, DOMAINS[domain], code
    error.code_name, error.call, error.message = code_name, call, message
    return error


def last_error() -> Error | None:
    """The calling thread's last error; None if there was none."""
    status, domain, code, name, call, message = _grinterop._last_error()
    if status == "GR_OK":
        return None
    return Error(status, DOMAINS[domain], code, name, call, message)


_grinterop._set_maker(_make)
