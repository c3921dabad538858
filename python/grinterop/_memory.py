# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Memory of frameworks that OpenGL and Vulkan can use without a copy."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from . import _grinterop
from ._errors import CUDAError, _make

# Pools keep what tensors freed, so that later tensors reuse it. They last until the process ends,
# because tensors may.
_pools: dict[str, Any] = {}


def _unsupported(message: str) -> CUDAError:
    return _make("GR_ERR_UNSUPPORTED", 0, 0, "", "exportable_memory", message)


def _torch_pool(torch: Any) -> Any:
    if "torch" not in _pools:
        allocator = torch.cuda.memory.CUDAPluggableAllocator(
            _grinterop.__file__, "grinterop_torch_malloc", "grinterop_torch_free"
        )
        # The pool needs the allocator as long as it exists.
        _pools["torch"] = torch.cuda.MemPool(allocator.allocator()), allocator
    return _pools["torch"][0]


def _cupy_pool(cupy: Any) -> Any:
    if "cupy" not in _pools:
        allocate, release = _grinterop._cupy_functions()
        allocator = cupy.cuda.CFunctionAllocator(0, allocate, release, _grinterop)
        _pools["cupy"] = cupy.cuda.MemoryPool(allocator.malloc)
    return _pools["cupy"]


@contextmanager
def exportable_memory() -> Iterator[None]:
    """Within it, PyTorch and CuPy allocate CUDA memory that OpenGL and Vulkan can use without a
    copy: GraphicsResource.from_tensor() and VulkanDevice.from_tensor().

        with grinterop.exportable_memory():
            points = torch.empty((n, 3), device="cuda")
        resource = GraphicsResource.from_tensor(points)  # draw resource.gl_name

    It serves the frameworks that the program has imported, on this thread. A tensor of its own
    takes at least 2 MiB; small tensors share such a block. Freed memory stays in a pool, which
    later tensors within exportable_memory() reuse.

    Raises:
        UnsupportedError: Neither PyTorch nor CuPy is imported, or its version has no such pools.
    """
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is None and cupy is None:
        raise _unsupported("import torch or cupy first: exportable_memory() serves their tensors")
    if torch is not None and not hasattr(torch.cuda, "use_mem_pool"):
        raise _unsupported("this PyTorch has no torch.cuda.use_mem_pool(): install 2.6 or newer")
    with ExitStack() as stack:
        if torch is not None:
            stack.enter_context(torch.cuda.use_mem_pool(_torch_pool(torch)))
        if cupy is not None:
            stack.enter_context(cupy.cuda.using_allocator(_cupy_pool(cupy).malloc))
        yield
