# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Cycles of objects are collected, and exports keep what they need for as long as they exist."""

import gc
import time
import tracemalloc
import weakref

import grinterop
import numpy as np
import pytest
from grinterop import EglContext, GraphicsResource, Ring, Tensor

from conftest import elsewhere
from test_threads import launch_host, slow  # noqa: F401


class Resource(GraphicsResource):
    """Has attributes, as each subclass."""


class Owner:
    """Owns memory, and is a stream. `seen` tells whether it exists: the collector does not clear
    the weak references to objects that it does not track.
    """

    def __init__(self, cuda):
        self.cuda, self.memory = cuda, np.zeros(64, "u1")
        self.seen = weakref.ref(self.memory)

    def __cuda_stream__(self):
        return self.cuda.__cuda_stream__()

    def wrap(self, stream=None):
        pointer = self.memory.ctypes.data
        return Tensor.from_memory(pointer, 64, memory="host", owner=self, stream=stream)


def tensor(owner):
    owner.made = Tensor.create(64, stream=owner)


def wrapped(owner):
    owner.made = owner.wrap(stream=owner)


def views(owner):
    owner.made = [owner.wrap().view((8, 8)), owner.wrap().view((8, 8)).view((64,))]


def planes(owner):
    owner.made = Tensor.from_dlpack([owner.wrap().view((8, 8)), owner.wrap().view((4, 16))])


def viewed(owner):
    owner.views = memoryview(owner.wrap()), memoryview(owner.wrap(stream=owner).view((8, 8)))


def in_memory(owner):
    owner.whole = Tensor.create(64, exportable=True)
    owner.__cuda_array_interface__ = owner.whole.__cuda_array_interface__
    owner.made = GraphicsResource.create_gl_buffer_of(owner)


def in_memory_and_mapped(owner):
    in_memory(owner)
    owner.buffer = owner.made.map(stream=owner)


def with_stream(owner):
    owner.name = GraphicsResource.create_gl_buffer(64)
    name = owner.name.gl_name
    owner.made = GraphicsResource.from_gl_buffer(name, stream=owner, transports="copy")


def mapping(owner):
    owner.resource = GraphicsResource.create_gl_buffer(64)
    owner.made = owner.resource.map(stream=owner)


def mapping_only(owner):
    mapping(owner)
    del owner.resource


def mapping_tensor(owner):
    mapping(owner)
    owner.tensors = [owner.made.tensor(), owner.made.tensor().view((8, 8))]


def ring(owner):
    owner.made = Resource.create_gl_buffer(64)
    owner.made.ring = Ring([owner.made, GraphicsResource.create_gl_buffer(64)])
    owner.made.owner = owner


def slots(owner):
    ring(owner)
    owner.slots = owner.made.ring.acquire_write(stream=owner)
    owner.buffer = owner.slots.buffer


def ended_slots(owner):
    slots(owner)
    owner.slots.hand_over()


TENSORS = [tensor, wrapped, views, viewed, planes, mapping_tensor]
RESOURCES = [with_stream, mapping, mapping_only, ring, slots, ended_slots]
RESOURCES += [in_memory, in_memory_and_mapped]


def away():
    """Collects on a thread that has no OpenGL context."""
    elsewhere(gc.collect)


CASES = [(gc.collect, make) for make in TENSORS + RESOURCES]
CASES += [(away, make) for make in
          (tensor, wrapped, views, viewed, planes, in_memory, with_stream, ring)]


@pytest.mark.parametrize("collect, make", CASES)
def test_cycle_is_collected(collect, make, cuda, egl, recwarn):
    """Catches: no type took part in garbage collection."""
    egl.make_current()
    if make in (in_memory, in_memory_and_mapped) and not (probe := grinterop.gl_probe("shared")):
        pytest.skip(probe.reason)
    gc.disable()
    owner = Owner(cuda)
    make(owner)
    seen = owner.seen
    gc.collect()
    assert seen() is not None
    del owner
    collect()
    gc.enable()
    grinterop.Tensor.collect()
    collect()
    assert seen() is None and not recwarn.list


def test_collected_mapping_ends_later_without_its_context(vbo, cuda, egl):
    """The mapping ends once its OpenGL context is current again, and its stream stays."""
    owner = Owner(cuda)
    owner.resource = GraphicsResource.from_gl_buffer(vbo)
    owner.buffer, seen = owner.resource.map(stream=owner), owner.seen
    EglContext.release_current()
    grinterop.clear_error()
    del owner
    gc.collect()
    assert not grinterop.last_error() and seen() is not None
    egl.make_current()
    with GraphicsResource.from_gl_buffer(vbo).map(stream=cuda) as buffer:
        assert buffer.handle


def test_owner_lives_until_the_streams_are_done(cuda, launch_host):  # noqa: F811
    """The owner of a collected tensor stays while a stream uses its memory. It ends only then if
    it does not refer to the tensor.
    """
    owner, alone, ended = Owner(cuda), Owner(cuda), []
    owner.tensor, seen = owner.wrap(stream=cuda), owner.seen
    weakref.finalize(alone, ended.append, 1)
    tensor = alone.wrap(stream=cuda)
    launch_host(slow([], 0.3))
    del owner, alone, tensor
    gc.collect()
    assert seen() is not None and not ended
    cuda.sync()
    grinterop.Tensor.collect()
    assert seen() is None and ended == [1]


def test_a_view_keeps_the_memory_that_the_program_rescues(cuda):
    """A finalizer of the cycle hands the view to the program after the collector ended its tensor.
    """
    rescued = []

    class Rescuer(Owner):
        def __del__(self):
            rescued.append(self.view)

    owner = Rescuer(cuda)
    owner.memory[:] = 7
    owner.view, seen = memoryview(owner.wrap()), owner.seen
    del owner
    gc.collect()
    grinterop.Tensor.collect()
    gc.collect()
    assert rescued[0].tobytes() == bytes([7]) * 64 and seen() is not None
    rescued.clear()
    gc.collect()
    grinterop.Tensor.collect()
    assert seen() is None


@pytest.mark.parametrize("with_stream", [False, True])
def test_export_keeps_owner_and_stream(cuda, with_stream):
    """An export outlives its tensor, which is part of a cycle, and needs the memory and stream."""
    owner, stream = Owner(cuda), Owner(cuda)
    owner.memory[0] = 7
    owner.tensor = owner.wrap(stream=stream if with_stream else None)
    array = np.from_dlpack(owner.tensor)
    seen = [owner.seen] + [stream.seen] * with_stream
    del owner, stream
    gc.collect()
    grinterop.Tensor.collect()
    assert all(one() is not None for one in seen) and array[0] == 7
    del array
    time.sleep(0)  # objects of ended exports are released between two instructions
    gc.collect()
    grinterop.Tensor.collect()
    assert all(one() is None for one in seen)


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_exports_do_not_collect_streams(version, cuda):
    """Catches: each export kept its stream object until the process exited."""

    def frame(stream):
        one = Tensor.create(64, stream=stream)
        capsule = one.__dlpack__(max_version=version)
        one.close()
        return Tensor.from_dlpack(capsule) if version else capsule

    stream = Owner(cuda)
    export, seen = frame(stream), stream.seen
    del stream
    assert seen() is not None
    del export
    time.sleep(0)
    grinterop.Tensor.collect()
    assert seen() is None
    for _ in range(100):
        frame(Owner(cuda))
    grinterop.Tensor.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(200):
        frame(Owner(cuda))
    grinterop.Tensor.collect()
    gc.collect()
    # Free-threaded Python keeps the memory of some tuples: 72 bytes per export.
    assert tracemalloc.get_traced_memory()[0] - before < 200 * 100
    tracemalloc.stop()


@pytest.mark.parametrize("arguments", [{}, {"max_version": (1, 0)}, {"copy": False}])
def test_export_of_a_dropped_mapping_keeps_its_stream_until_its_end(arguments, cuda, egl):
    """Catches: the stream object then stayed until the process exited."""
    egl.make_current()
    stream = Owner(cuda)
    seen, resource = stream.seen, GraphicsResource.create_gl_buffer(64)
    export = resource.map(stream=stream).__dlpack__(stream=cuda.stream, **arguments)
    del resource, stream
    gc.collect()
    assert seen() is not None
    del export
    grinterop.Tensor.collect()
    assert seen() is None


def test_finalizer_that_the_program_calls_does_no_harm(resource, cuda):
    buffer = resource.map(stream=cuda)
    one = buffer.tensor()

    class Acts:
        def __cuda_stream__(self):
            one.__del__()
            buffer.__del__()
            return cuda.__cuda_stream__()

    assert len(one.tobytes(stream=Acts())) == 4096
    one.__del__()
    assert one.is_closed
    buffer.close()
    assert not resource.is_mapped


CORE = """
import gc, weakref
import cuda.core, grinterop
stream, egl = grinterop.CudaContext(0), grinterop.EglContext(0)
class Owner:
    def __cuda_stream__(self):
        return stream.__cuda_stream__()
owner = Owner()
owner.resource = grinterop.GraphicsResource.create_gl_buffer(64)
owner.buffer = owner.resource.map(stream=owner)
assert isinstance(owner.buffer, cuda.core.Buffer)
seen = weakref.ref(owner), weakref.ref(owner.resource)
del owner
gc.collect()
print([one() for one in seen])
"""


def test_cycle_with_a_buffer_of_cuda_core_is_collected(egl):
    pytest.importorskip("cuda.core")
    from test_programs import run

    assert run(CORE) == "[None, None]\n"
