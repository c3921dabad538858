# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Memory of frameworks that OpenGL and Vulkan can use without a copy."""

from __future__ import annotations

import ctypes
import importlib
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from . import _grinterop
from ._errors import CUDAError, _make

# Pools keep what tensors freed, so that later tensors reuse it. They last until the process ends,
# because tensors may.
_pools: dict[str, Any] = {}
_lock = threading.Lock()


def _unsupported(message: str) -> CUDAError:
    return _make("GR_ERR_UNSUPPORTED", 0, 0, "", "exportable_memory", message)


def _torch_allocator(torch: Any) -> Any:
    if "torch" not in _pools:
        _pools["torch"] = torch.cuda.memory.CUDAPluggableAllocator(
            _grinterop.__file__, "grinterop_torch_malloc", "grinterop_torch_free"
        )
    return _pools["torch"].allocator()


@contextmanager
def _torch_pool(torch: Any) -> Iterator[None]:
    """Uses a pool that no other use has: PyTorch refuses to enter a pool twice. A pool belongs to
    the device that was current when it was made.
    """
    with _lock:
        free = _pools.setdefault(f"torch {torch.cuda.current_device()}", [])
        pool = free.pop() if free else torch.cuda.MemPool(_torch_allocator(torch))
    try:
        with torch.cuda.use_mem_pool(pool):
            yield
    finally:
        free.append(pool)


def _cupy_pool(cupy: Any) -> Any:
    with _lock:
        if "cupy" not in _pools:
            allocate, release = _grinterop._cupy_functions()
            allocator = cupy.cuda.CFunctionAllocator(0, allocate, release, _grinterop)
            _pools["cupy"] = cupy.cuda.MemoryPool(allocator.malloc)
    return _pools["cupy"]


def _functions() -> tuple[Any, Any]:
    """The two functions that PyTorch calls by address, for calls from Python."""
    library = ctypes.CDLL(_grinterop.__file__)
    allocate, release = library.grinterop_torch_malloc, library.grinterop_torch_free
    allocate.restype = ctypes.c_void_p
    allocate.argtypes = [ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
    release.restype = None
    release.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
    return allocate, release


def _rmm_callbacks(device: int) -> tuple[Any, Any]:
    allocate, release = _functions()

    def take(size: int, stream: Any) -> int:
        pointer: int | None = allocate(size, device, None)
        if not pointer:
            raise MemoryError(f"{size} bytes of exportable memory could not be allocated")
        return pointer

    return take, lambda pointer, size, stream: release(pointer, size, device, None)


class _RmmUses:
    """The uses of exportable_memory() on a device, where RMM had the resource `before`."""

    def __init__(self, pool: Any) -> None:
        self.pool = pool
        self.count = 0
        self.before: Any = None


def _rmm_uses(rmm: Any, device: int) -> _RmmUses:
    key = f"rmm {device}"
    if key not in _pools:
        source = rmm.mr.CallbackMemoryResource(*_rmm_callbacks(device))
        pool = rmm.mr.PoolMemoryResource(source, initial_pool_size=2 << 20)
        # The pool never ends, because its end would call Python while Python ends.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(pool))
        _pools[key] = _RmmUses(pool)
    uses: _RmmUses = _pools[key]
    return uses


def _rmm_device() -> int:
    """The current device. RMM has a resource for each."""
    try:
        runtime = importlib.import_module("cuda.bindings.runtime")
    except ImportError:
        raise _unsupported("this RMM works without cuda.bindings: install a newer one") from None
    error, device = runtime.cudaGetDevice()
    if error:
        raise _unsupported(f"the CUDA runtime has no current device: {error.name}")
    return int(device)


@contextmanager
def _rmm_default(rmm: Any) -> Iterator[None]:
    """The first of overlapping uses sets the resource, and the last one restores it."""
    device = _rmm_device()
    with _lock:
        uses = _rmm_uses(rmm, device)
        if uses.count == 0:
            uses.before = rmm.mr.get_per_device_resource(device)
            rmm.mr.set_per_device_resource(device, uses.pool)
        uses.count += 1
    try:
        yield
    finally:
        with _lock:
            uses.count -= 1
            if uses.count == 0:
                rmm.mr.set_per_device_resource(device, uses.before)
                uses.before = None


@contextmanager
def exportable_memory() -> Iterator[None]:
    """Within it, PyTorch, CuPy and RMM allocate CUDA memory that OpenGL and Vulkan can use without
    a copy: GraphicsResource.create_gl_buffer_of() and VulkanDevice.create_vk_buffer_of().

        with grinterop.exportable_memory():
            points = torch.empty((n, 3), device="cuda")
        resource = GraphicsResource.create_gl_buffer_of(points)  # draw resource.gl_name

    It serves the frameworks that the program has imported, on this thread, and RMM on all threads;
    PyTorch and RMM for the device that is current when it begins. Uses may nest, and threads may
    use it at once. PyTorch without CUDA is left alone beside the others. A tensor of its own
    takes at least 2 MiB; small tensors share such a block. Freed memory stays in a pool, which
    later tensors within exportable_memory() reuse.

    Raises:
        UnsupportedError: None of the three is imported, PyTorch alone is and has no CUDA, or a
            version has no such pools.
    """
    torch, cupy, rmm = (sys.modules.get(name) for name in ("torch", "cupy", "rmm"))
    if torch is None and cupy is None and rmm is None:
        raise _unsupported(
            "import torch, cupy or rmm first: exportable_memory() serves their tensors"
        )
    if torch is not None and not torch.cuda.is_available():
        if cupy is None and rmm is None:
            raise _unsupported(
                "PyTorch has no CUDA here (torch.cuda.is_available() is False): use a PyTorch that "
                "was built with CUDA, on a machine with a GPU, or import cupy or rmm"
            )
        torch = None
    if torch is not None and not hasattr(torch.cuda, "use_mem_pool"):
        raise _unsupported("this PyTorch has no torch.cuda.use_mem_pool(): install 2.6 or newer")
    with ExitStack() as stack:
        if torch is not None:
            stack.enter_context(_torch_pool(torch))
        if cupy is not None:
            stack.enter_context(cupy.cuda.using_allocator(_cupy_pool(cupy).malloc))
        if rmm is not None:
            stack.enter_context(_rmm_default(rmm))
        yield
