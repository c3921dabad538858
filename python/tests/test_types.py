# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What every type of the extension has: a repr, weak references and a context manager."""

import gc
import re
import weakref

import grinterop
import pytest
from grinterop import EglContext, GraphicsResource, Ring, Semaphore, Tensor, _grinterop

import vulkan_fd


@pytest.fixture
def memory(vulkan):
    made = GraphicsResource.from_fd(
        vulkan_fd.export(vulkan, vulkan.create_vk_buffer(65536, 0x20 | 0x3)), 65536
    )
    made.set_sync(*(Semaphore.from_fd(vulkan_fd.semaphore()) for _ in range(2)))
    return made


def ring():
    return Ring([GraphicsResource.create_gl_buffer(64) for _ in range(3)])


# Makes an object of each type from the fixtures, and the pattern of its repr.
AT = "0x[0-9a-f]+"
TYPES = {
    "CudaContext": (lambda of: grinterop.CudaContext(0), f"device=0 handle={AT} stream={AT}"),
    "EglContext": (lambda of: EglContext(share=of("egl")), f"context={AT} OpenGL [34].*"),
    "GraphicsResource": (
        lambda of: GraphicsResource.create_gl_buffer(64),
        r"buffer size=64 transport=\w+.* not mapped",
    ),
    "Buffer": (
        lambda of: GraphicsResource.create_gl_buffer(64).map(stream=of("cuda")),
        f"ptr={AT} size=64",
    ),
    "Tensor": (lambda of: Tensor.create((2, 3), "float32"), r"float32 \(2, 3\)"),
    "Ring": (
        lambda of: ring(),
        "producer=cuda mode=lossless slots=3 free=3 writing=0 ready=0 reading=0",
    ),
    "Slots": (
        lambda of: ring().acquire_write(2, stream=of("cuda")),
        r"writing frames=\(1, 2\)",
    ),
    "Semaphore": (lambda of: Semaphore.from_fd(vulkan_fd.semaphore()), ".*TIMELINE.*value 0.*"),
    "Submit": (lambda of: grinterop.Submit([of("memory")]), "waits=0 signals=1"),
    "VulkanDevice": (lambda of: grinterop.VulkanDevice.headless(0), ".*CUDA device 0.*"),
}
ALL = {name for name, found in vars(_grinterop).items() if isinstance(found, type)}


@pytest.mark.parametrize("name", sorted(ALL))
def test_every_type_has_a_repr_weak_references_and_a_context_manager(name, request, egl):
    """Catches: most objects were shown by their address only, and no cache could refer to them
    weakly.
    """
    if name in ("Semaphore", "Submit") and not grinterop.cuda_is_software():
        pytest.skip("no API here exports a semaphore that a GPU imports")
    egl.make_current()
    make, shown = TYPES[name]
    made = make(request.getfixturevalue)
    assert re.fullmatch(f"<{name} {shown}>", repr(made))
    seen, ended = weakref.ref(made), []
    weakref.finalize(made, ended.append, 1)
    with made as entered:
        assert entered is made is seen() and not ended
    assert re.fullmatch(f"<{name} (.* )?closed>", repr(made))
    del made, entered
    egl.make_current()
    assert seen() is None and ended == [1]


def test_collector_sees_the_context_that_another_shares(egl):
    """Catches: EglContext, which holds a Python object, did not take part in collection."""
    with EglContext(share=egl) as one:
        assert egl in gc.get_referents(one)
    assert egl not in gc.get_referents(one)
    egl.make_current()
