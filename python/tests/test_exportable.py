# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Buffers in the memory of tensors, and the allocators for the pools of frameworks."""

import ctypes
import gc
import sys
import threading
import time
import weakref
from contextlib import contextmanager, nullcontext
from functools import partial
from types import SimpleNamespace

import grinterop
import numpy as np
import pytest
from grinterop import GraphicsResource, Tensor, VulkanDevice, _grinterop, _memory

import gl
import vk
from conftest import elsewhere, interface, refuses

buffer_of = GraphicsResource.create_gl_buffer_of


@pytest.fixture(autouse=True)
def shared(egl):
    egl.make_current()
    if not (probe := grinterop.gl_probe("shared")):
        pytest.skip(probe.reason)


def test_a_map_returns_the_memory_of_the_tensor(cuda):
    tensor = Tensor.create((4096,), stream=cuda, exportable=True)
    resource = buffer_of(tensor, flags="write_discard", stream=cuda)
    with resource.map(stream=cuda) as buffer:
        assert buffer.handle == tensor.handle and buffer.size == 4096
        buffer.fill(7, stream=cuda)
    assert gl.read_buffer(resource.gl_name, 4096) == b"\7" * 4096
    assert "in the memory of a tensor" in resource.describe()


def test_the_resource_keeps_the_tensor(cuda):
    class Owner:
        __cuda_array_interface__ = None

    owner = Owner()
    whole = Tensor.create((4096,), stream=cuda, exportable=True)
    cuda.sync()
    owner.__cuda_array_interface__ = interface(
        whole.handle, shape=(4096,), data=(whole.handle, False)
    )
    kept = weakref.ref(owner)
    resource = buffer_of(owner)
    del owner
    gc.collect()
    assert kept()
    resource.close()
    grinterop.Tensor.collect(1)
    gc.collect()
    assert not kept()


def test_other_memory_is_refused_with_the_way_out(cuda):
    tensor = Tensor.create((64,), stream=cuda)
    with pytest.raises(grinterop.UnsupportedError, match=r"grinterop\.exportable_memory\(\)"):
        buffer_of(tensor)
    refuses(grinterop.InvalidValueError, lambda: buffer_of(np.zeros(4)))
    refuses(TypeError, lambda: buffer_of(7), buffer_of)
    refuses(grinterop.InvalidValueError, lambda: Tensor.create(4, memory="host", exportable=True))


@pytest.fixture
def vulkan(cuda):
    try:
        device = VulkanDevice.headless(0)
    except grinterop.CUDAError as error:
        pytest.skip(str(error))
    with device:
        yield device


@pytest.fixture(params=["OpenGL", "Vulkan"])
def create_buffer_of(request):
    """GraphicsResource.create_gl_buffer_of() or that of a VulkanDevice."""
    if request.param == "OpenGL":
        return buffer_of
    return partial(request.getfixturevalue("vulkan").create_vk_buffer_of, usage=0x23)


def test_vulkan_has_the_memory_of_the_tensor(cuda, vulkan):
    tensor = Tensor.create((4096,), stream=cuda, exportable=True)
    create = vulkan.create_vk_buffer_of
    resource = create(tensor, 0x23)
    assert resource.vk_buffer and "in the memory of a tensor" in resource.describe()
    with resource.map(stream=cuda) as buffer:
        assert buffer.handle == tensor.handle and buffer.size == 4096
    with pytest.raises(grinterop.UnsupportedError, match=r"grinterop\.exportable_memory\(\)"):
        create(Tensor.create((64,), stream=cuda), 0x23)
    refuses(TypeError, lambda: create(7, 0x23), create)
    unused = "`usage` is 0: state what Vulkan does with the buffer"
    refuses(grinterop.InvalidValueError, lambda: create(tensor, 0), match=unused)
    vulkan.close()
    refuses(RuntimeError, lambda: create(tensor, 0x23), match="^VulkanDevice has been")


@pytest.mark.parametrize(
    "size, read_only, flags, text",
    [
        (64, True, "read_write", 'read-only, but `flags` let CUDA write: pass "read_only"'),
        (64, True, "write_discard", 'pass "read_only"'),
        (0, False, "read_write", "has no elements: pass one with elements in memory of a CUDA"),
        (64, False, "surface_load_store", "for images; a buffer takes read_only or write_discard"),
    ],
)
def test_tensors_that_are_no_buffers_are_refused(create_buffer_of, size, read_only, flags, text):
    tensor = Tensor.create((size,), exportable=True).view(read_only=read_only)
    refuses(grinterop.InvalidValueError, lambda: create_buffer_of(tensor, flags=flags), match=text)
    if read_only:
        create_buffer_of(tensor, flags="read_only").close()


@pytest.mark.parametrize("exportable", [True, False])
def test_a_context_of_opengl_must_be_current(egl, exportable):
    tensor = Tensor.create((64,), exportable=exportable)
    try:
        with grinterop.EglContext(0, es=True):
            refuses(
                grinterop.UnsupportedError, lambda: buffer_of(tensor),
                match="OpenGL ES does not have. Use publish.. with a buffer of "
                "GraphicsResource.from_gl_buffer.., or a context of OpenGL",
            )
        grinterop.EglContext.release_current()
        current = "^No OpenGL context is current on this thread. Make current the context that"
        refuses(grinterop.CUDAError, lambda: buffer_of(tensor), match=current)
    finally:
        egl.make_current()


def test_memory_of_the_allocator_is_drawn(cuda):
    allocate, release = _memory._functions()
    pointer = allocate(4096, 0, None)
    tensor = Tensor.from_memory(pointer, (4096,), stream=cuda)
    resource = buffer_of(tensor)
    with resource.map(stream=cuda) as buffer:
        assert buffer.handle == pointer
        buffer.fill(9, stream=cuda)
    assert gl.read_buffer(resource.gl_name, 4096) == b"\11" * 4096
    resource.close()
    tensor.close()
    release(pointer, 4096, 0, None)


def test_the_allocator_refuses_wrong_sizes_and_addresses():
    allocate, release = _memory._functions()
    assert [allocate(size, 0, None) for size in (0, -1, 1 << 60)] == [None] * 3
    assert allocate(64, 99, None) is None
    release(None, 0, 0, None)
    release(4096, 64, 0, None)


def test_callbacks_of_rmm(cuda):
    take, give = _memory._rmm_callbacks(0)
    pointer = take(4096, None)
    resource = buffer_of(Tensor.from_memory(pointer, (4096,), stream=cuda))
    with resource.map(stream=cuda) as buffer:
        buffer.fill(5, stream=cuda)
    assert gl.read_buffer(resource.gl_name, 4096) == b"\5" * 4096
    resource.close()
    give(pointer, 4096, None)
    with pytest.raises(MemoryError, match=f"{1 << 60} bytes of exportable memory"):
        take(1 << 60, None)


def test_functions_of_cupy(cuda, vulkan):
    """Called as CuPy calls them, they allocate a block. Vulkan draws two tensors of it at once."""
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    allocate, release = _grinterop._cupy_functions()
    allocate = ctypes.CFUNCTYPE(pointer, pointer, size, ctypes.c_int)(allocate)
    release = ctypes.CFUNCTYPE(None, pointer, pointer, ctypes.c_int)(release)
    assert allocate(None, 1 << 60, 0) is None
    block, helper = allocate(None, 2 << 20, 0), vk.Vulkan(vulkan, 4096)
    places = block, block + (1 << 20)
    tensors = [Tensor.from_memory(place, (4096,), stream=cuda) for place in places]
    resources = [vulkan.create_vk_buffer_of(one, 0x23, flags="write_discard") for one in tensors]
    with grinterop.map_many(resources, stream=cuda) as buffers:
        assert tuple(buffer.handle for buffer in buffers) == places
        for value, buffer in enumerate(buffers):
            buffer.fill(value + 7, stream=cuda)
    for value, resource in enumerate(resources):
        helper.run(resource, lambda commands, source=resource.vk_buffer: helper.vkCmdCopyBuffer(
            commands, source, helper.buffer, 1, vk.buffer_copy(4096)
        ))
        assert bytes(helper.bytes) == bytes((value + 7,)) * 4096
        resource.close()
    helper.close()
    for tensor in tensors:
        tensor.close()
    release(None, block, 0)


def test_threads_allocate_at_once():
    allocate, release = _memory._functions()

    def work():
        for _ in range(20):
            pointer = allocate(4096, 0, None)
            assert pointer
            release(pointer, 4096, 0, None)

    elsewhere(work, work, work)


# ---- Frameworks that cannot be served ------------------------------------------------------------


def torch_of(*, available):
    """A PyTorch of the CPU, or one that is older than use_mem_pool()."""
    cuda = SimpleNamespace(is_available=lambda: available)
    if not available:
        cuda.use_mem_pool = cuda.memory = cuda.MemPool = None
    return SimpleNamespace(cuda=cuda)


CPU, OLD, NO_BINDINGS = torch_of(available=False), torch_of(available=True), SimpleNamespace()
RMM = {"rmm": NO_BINDINGS, "cuda.bindings.runtime": None}


@pytest.fixture
def imported(monkeypatch):
    """A function that imports modules in place of the frameworks. Its `uses` are CuPy's."""
    uses = []

    @contextmanager
    def using_allocator(malloc):
        uses.append("begin")
        yield
        uses.append("end")

    def run(modules):
        for name in ("torch", "cupy", "rmm"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        for name, module in modules.items():
            monkeypatch.setitem(sys.modules, name, cupy if module == "cupy" else module)

    allocator = SimpleNamespace(malloc=None)
    cupy = SimpleNamespace(cuda=SimpleNamespace(
        using_allocator=using_allocator, CFunctionAllocator=lambda *address: allocator,
        MemoryPool=lambda malloc: allocator,
    ))
    monkeypatch.setattr(_memory, "_pools", {})
    run.uses = uses
    return run


@pytest.mark.parametrize(
    "modules, text",
    [
        ({}, "^import torch, cupy or rmm first"),
        ({"torch": CPU}, r"^PyTorch has no CUDA here .* built with CUDA, .* import cupy or rmm"),
        ({"torch": OLD}, r"use_mem_pool\(\): install 2\.6 or newer"),
        ({"torch": OLD, "cupy": "cupy"}, "install 2.6 or newer"),
        (RMM, r"without cuda\.bindings: install a newer one"),
        ({"torch": CPU, **RMM}, "without cuda.bindings"),
    ],
)
def test_frameworks_without_pools_are_refused(imported, modules, text):
    imported(modules)
    with pytest.raises(grinterop.UnsupportedError, match=text) as error:
        with grinterop.exportable_memory():
            pass
    assert error.value.call == "exportable_memory" and not imported.uses


def test_pytorch_of_the_cpu_is_left_alone_beside_cupy(imported):
    imported({"torch": CPU, "cupy": "cupy"})
    with grinterop.exportable_memory():
        assert imported.uses == ["begin"]
    assert imported.uses == ["begin", "end"]


class Pool:
    """Of a device."""


class Pools:
    """A PyTorch that refuses to enter a pool twice, or on another device, as PyTorch does."""

    def __init__(self):
        self.made, self.used, self.device, self.lock = [], [], 0, threading.Lock()
        allocator = SimpleNamespace(allocator=lambda: None)
        memory = SimpleNamespace(CUDAPluggableAllocator=lambda *names: allocator)
        self.cuda = SimpleNamespace(
            is_available=lambda: True, use_mem_pool=self.use, MemPool=self.make, memory=memory,
            current_device=lambda: self.device,
        )

    def make(self, allocator):
        pool = Pool()
        pool.device = self.device
        time.sleep(0.02)
        self.made.append(weakref.ref(pool))
        return pool

    @contextmanager
    def use(self, pool):
        with self.lock:
            assert pool not in self.used and pool.device == self.device
            self.used.append(pool)
        try:
            yield
        finally:
            self.used.remove(pool)


def test_uses_of_pytorch_overlap(imported):
    """Catches: nested uses and two threads raised RuntimeError, a second device used the pool of
    the first one, and of two first uses at once one pool ended.
    """
    torch = Pools()
    imported({"torch": torch})
    inside = threading.Barrier(3)

    def use():
        with grinterop.exportable_memory():
            inside.wait(20)

    for _ in range(2):
        elsewhere(use, use, use)
        gc.collect()
        assert len(torch.made) == 3 and all(pool() for pool in torch.made) and not torch.used
    with grinterop.exportable_memory(), grinterop.exportable_memory():
        torch.device = 1
        with pytest.raises(KeyError), grinterop.exportable_memory():
            assert len(torch.used) == 3 and len(torch.made) == 4
            raise KeyError
    assert not torch.used
    with grinterop.exportable_memory():
        assert len(torch.made) == 4


# ---- Frameworks ----------------------------------------------------------------------------------


def framework(name):
    """The module, which needs a GPU."""
    module = pytest.importorskip(name)
    if grinterop.cuda_is_software() or (name == "torch" and not module.cuda.is_available()):
        pytest.skip(f"{name} needs a GPU")
    return module


# Functions that allocate 8192 bytes, and that return those from an offset on.
PARTS = {
    "grinterop": (lambda _: Tensor.create((8192,), exportable=True), lambda whole, offset:
                  whole.view((8192 - offset,), offset=offset)),
    "torch": (lambda torch: torch.empty(8192, dtype=torch.uint8, device="cuda"),
              lambda whole, offset: whole[offset:]),
    "cupy": (lambda cupy: cupy.empty(8192, "u1"), lambda whole, offset: whole[offset:]),
    "rmm": (lambda rmm: rmm.DeviceBuffer(size=8192), lambda whole, offset:
            Tensor.from_dlpack(whole).view((8192 - offset,), offset=offset)),
}


@pytest.mark.parametrize("first", ["tensor", "resource"])
@pytest.mark.parametrize("offset", [0, 4096])
@pytest.mark.parametrize("name", PARTS)
def test_parts_are_drawn_and_end_in_any_order(cuda, name, offset, first):
    own = name == "grinterop"
    module = None if own else framework(name)
    allocate, part_of = PARTS[name]
    with nullcontext() if own else grinterop.exportable_memory():
        whole = allocate(module)
        part = part_of(whole, offset)
        place = Tensor.from_dlpack(part).handle, 8192 - offset
        if offset and b"Mesa" in gl.GetString(gl.VERSION):
            begins = "begins 4096 bytes after the start of its allocation"
            refuses(grinterop.UnsupportedError, lambda: buffer_of(part), match=begins)
            return
        resource = buffer_of(part)
        if first == "tensor":
            del whole, part
            gc.collect()
        other = allocate(module)  # in other memory
    with resource.map(stream=cuda) as buffer:
        assert (buffer.handle, buffer.size) == place
        buffer.fill(7, stream=cuda)
    assert Tensor.from_dlpack(other).handle != place[0] - offset
    assert gl.read_buffer(resource.gl_name, place[1]) == b"\7" * place[1]
    resource.close()
    if first == "resource":
        assert Tensor.from_dlpack(part).tobytes(stream=cuda) == b"\7" * place[1]


@pytest.mark.parametrize("change", ["resize_", "set_"])
def test_a_resource_keeps_the_old_memory_of_a_tensor(cuda, change):
    torch = framework("torch")
    stream = torch.cuda.current_stream()
    with grinterop.exportable_memory():
        tensor = torch.empty(4096, dtype=torch.uint8, device="cuda")
        old = tensor.data_ptr()
        resource = buffer_of(tensor)
        if change == "resize_":
            tensor.resize_(4 << 20)
        else:
            tensor.set_(torch.empty(8192, dtype=torch.uint8, device="cuda"))
    assert tensor.data_ptr() != old
    with resource.map(stream=stream) as buffer:
        assert (buffer.handle, buffer.size) == (old, 4096)
    resource.close()
    with buffer_of(tensor).map(stream=stream) as buffer:
        assert (buffer.handle, buffer.size) == (tensor.data_ptr(), tensor.nbytes)


def test_torch_draws_its_tensors(cuda):
    torch = framework("torch")
    with grinterop.exportable_memory():
        tensors = [torch.full((n,), n, dtype=torch.int32, device="cuda") for n in (1000, 1 << 20)]
    for tensor in tensors:
        resource = buffer_of(tensor)
        stream = torch.cuda.current_stream()
        with resource.map(stream=stream) as buffer:
            assert buffer.handle == tensor.data_ptr()
            tensor += 1
        assert gl.read_buffer(resource.gl_name, 4 * len(tensor)) == tensor.cpu().numpy().tobytes()
    with pytest.raises(grinterop.UnsupportedError, match="exportable_memory"):
        buffer_of(torch.zeros(64, device="cuda"))


def test_cupy_draws_its_arrays(cuda):
    cupy = framework("cupy")
    with grinterop.exportable_memory():
        arrays = [cupy.full(n, n, "i4") for n in (1000, 1 << 20)]
    for array in arrays:
        resource = buffer_of(array)
        with resource.map(stream=cupy.cuda.get_current_stream()) as buffer:
            assert buffer.handle == array.data.ptr
            array += 1
        assert gl.read_buffer(resource.gl_name, array.nbytes) == array.get().tobytes()


def test_rmm_draws_its_buffers(cuda):
    rmm = framework("rmm")
    before = rmm.mr.get_current_device_resource()
    with grinterop.exportable_memory():
        buffers = [rmm.DeviceBuffer(size=size) for size in (1000, 4 << 20)]
        with pytest.raises(MemoryError):
            rmm.DeviceBuffer(size=1 << 50)
    assert rmm.mr.get_current_device_resource() is before
    for own in buffers:
        resource = buffer_of(own)
        with resource.map(stream=cuda) as buffer:
            assert buffer.handle == own.ptr
            buffer.fill(7, stream=cuda)
        assert gl.read_buffer(resource.gl_name, own.size) == b"\7" * own.size
        assert own.tobytes() == b"\7" * own.size
        resource.close()
    with pytest.raises(grinterop.UnsupportedError, match="exportable_memory"):
        buffer_of(rmm.DeviceBuffer(size=64))
