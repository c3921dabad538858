# SPDX-License-Identifier: Apache-2.0
"""CUDA on the memory that OpenGL or Vulkan draws with.

    from grinterop import GraphicsResource

    resource = GraphicsResource.from_gl_buffer(name, flags="write_discard")
    with resource.map(stream=stream) as buffer:
        ...  # kernels on `stream` write to buffer.handle

GraphicsResource has the names, arguments and exceptions of cuda.core's class of that name.

Streams   anything with __cuda_stream__(), the stream objects of PyTorch, CuPy and Numba, or a
          handle as an int, of which 0 is the legacy default stream. A CudaContext is one, too.
Types     of elements: 'float32', '<f4', numpy.float32, numpy.dtype('f4') or torch.float32.
Timeouts  seconds; None is without end.
Errors    grinterop.CUDAError, which is a ValueError, RuntimeError and so on too where one fits.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple, Sequence

if "free-threading" in sys.version:
    raise ImportError(
        "grinterop does not support free-threaded Python: use the build of Python that has the GIL"
    )

from ._errors import (
    CUDAError,
    CUDAWarning,
    DeviceLostError,
    Error,
    ExchangeError,
    InvalidValueError,
    NoDriverError,
    OutOfMemoryError,
    PartialError,
    StateError,
    StoppedError,
    UnsupportedError,
    WaitTimeoutError,
    last_error,
)
from ._grinterop import (
    Buffer,
    CudaContext,
    EglContext,
    GraphicsResource,
    Ring,
    Slots,
    Tensor,
    VulkanDevice,
    _map_many,
    _parse_register_flags,
    _probe,
    _release_many,
    bytes_moved,
    clear_error,
    collect,
    driver_path,
    fetch,
    gl_cuda_device,
    is_software,
    library_version,
    load,
    publish,
    set_log,
)

__all__ = [
    "Buffer",
    "Buffers",
    "CUDAError",
    "CUDAWarning",
    "CudaContext",
    "DeviceLostError",
    "EglContext",
    "Error",
    "ExchangeError",
    "GraphicsResource",
    "InvalidValueError",
    "NoDriverError",
    "OutOfMemoryError",
    "PartialError",
    "Probe",
    "Ring",
    "Slots",
    "StateError",
    "StoppedError",
    "Tensor",
    "UnsupportedError",
    "VulkanDevice",
    "WaitTimeoutError",
    "bytes_moved",
    "clear_error",
    "collect",
    "driver_path",
    "fetch",
    "gl_cuda_device",
    "is_software",
    "last_error",
    "library_version",
    "load",
    "map_many",
    "probe",
    "publish",
    "set_log",
]

__version__ = library_version()


class Probe(NamedTuple):
    """What probe() found: true if the transport works."""

    usable: bool
    reason: str

    def __bool__(self) -> bool:
        return self.usable


def probe(transport: str = "interop") -> Probe:
    """Whether a transport, "interop", "shared", "copy" or "peer", works between the OpenGL context
    that is current and CUDA, and why."""
    return Probe(*_probe(transport))


class Buffers(list[Buffer]):
    """The Buffers of map_many(); as a context manager it releases them all at the end."""

    def close(self, stream: Any = None, *, wait_event: Any = None) -> None:
        """Releases all on `stream`, with one call of the driver for neighbours of one transport.

        None is the stream of each one's map. The release comes after `wait_event`.
        """
        _release_many(self, stream, wait_event)

    def __enter__(self) -> Buffers:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def map_many(
    resources: Sequence[GraphicsResource],
    *,
    stream: Any,
    wait_event: Any = None,
    ready_event: Any = None,
    offset: int = 0,
    size: int = 0,
) -> Buffers:
    """Maps several resources with one call of the driver: all or none.

    The map comes after `wait_event`; `ready_event` is recorded when the data is CUDA's. Of each
    buffer `size` bytes at `offset` are mapped, and with a size of 0 all from there.
    """
    return Buffers(_map_many(resources, stream, wait_event, ready_event, offset, size))
