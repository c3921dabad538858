# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The objects that random_threads.py creates, and its calls on each kind."""

import asyncio
import gc
import inspect
import sys
from pathlib import Path

import grinterop
import numpy as np
from grinterop import GraphicsResource, Ring, Semaphore, Submit, Tensor

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples"))

import gl  # noqa: E402
import vulkan_fd  # noqa: E402

if "--without-core" in sys.argv:
    core = None
else:
    try:
        import cuda.core as core
        from cuda.core.utils import StridedMemoryView
    except ImportError:
        core = None

BYTES = 1024
EXTERNAL_BYTES = 65536
KINDS = "resources buffers tensors rings slots egls vulkans cudas semaphores submits".split()
KINDS += ["cores"] * bool(core)

ALLOWED = (
    grinterop.CUDAError,
    ValueError,
    TypeError,
    BufferError,
    AttributeError,
    OverflowError,
    MemoryError,
)


# ---- New objects ---------------------------------------------------------------------------------


def new_gl_buffer(w):
    made = GraphicsResource.from_gl_buffer(
        gl.buffer(BYTES),
        flags=w.flags(),
        stream=w.random.choice([None, w.stream]),
        in_flight=w.random.choice([0, 0, 0, 1, 2]),
    )
    w.put("resources", made)


def new_created_buffer(w):
    transports = w.random.choice([None, "interop", "shared", "copy", "any"])
    w.put(
        "resources",
        GraphicsResource.create_gl_buffer(BYTES, flags=w.flags(), transports=transports),
    )


def new_gl_image(w):
    name = gl.texture(16, 16, data=bytes(1024))
    w.put("resources", GraphicsResource.from_gl_image(name, gl.TEXTURE_2D, flags=w.flags()))


def new_name(w):
    """OpenGL gives the name of a deleted buffer to another one, which no map may reach."""
    name = gl.buffer(BYTES)
    transports = w.random.choice(["interop", "copy", "peer"])
    made = GraphicsResource.from_gl_buffer(name, transports=transports)
    gl.delete_buffer(name)
    gl.buffer(BYTES)
    try:
        made.map(stream=w.stream)
    except RuntimeError as error:
        if "has been deleted" not in str(error):
            raise
    else:
        raise AssertionError(f"a buffer that had been deleted was mapped by {transports}")
    w.put("resources", made)


def new_created_image(w):
    transports = w.random.choice([None, "interop", "shared", "copy", "any"])
    made = GraphicsResource.create_gl_image(
        gl.TEXTURE_2D, gl.RGBA8, 16, 16, flags=w.flags(), transports=transports
    )
    w.put("resources", made)


def new_layers(w):
    target, layers = w.random.choice([(gl.TEXTURE_2D_ARRAY, 3), (gl.TEXTURE_CUBE_MAP, 1)])
    transports = w.random.choice([None, "shared", "copy", "any"])
    made = GraphicsResource.create_gl_image(
        target, gl.RGBA8, 16, 16, layers, flags=w.flags(), transports=transports
    )
    w.put("resources", made)


def new_packed_image(w):
    internal = w.random.choice([gl.RGB10_A2, gl.R11F_G11F_B10F, gl.RGB9_E5, gl.RGB565])
    made = GraphicsResource.create_gl_image(
        gl.TEXTURE_2D, internal, 16, 16, flags=w.flags(), transports="copy"
    )
    w.put("resources", made)


def new_drawn(w):
    """OpenGL or Vulkan draws the memory of a tensor."""
    tensor = w.any("tensors")
    if w.random.randrange(2) or tensor is None:
        tensor = Tensor.create((BYTES,), exportable=True, stream=w.stream)
        w.put("tensors", tensor)
    if w.random.randrange(2):
        made = w.vulkan.create_vk_buffer_of(tensor, 0x20 | 0x3, flags=w.flags())
    else:
        stream = w.random.choice([None, w.stream])
        made = GraphicsResource.create_gl_buffer_of(tensor, flags=w.flags(), stream=stream)
    w.put("resources", made)


def new_ring(w):
    mode = w.random.choice(["lossless", "newest"])
    producer = w.random.choice(["cuda", "graphics"])
    made = [GraphicsResource.create_gl_buffer(BYTES) for _ in range(3)]
    for one in made:
        w.put("resources", one)
    w.put("rings", Ring(made, producer=producer, mode=mode))


def new_wrapped(w):
    owner = Owner(w)
    owner.tensor = Tensor.from_memory(w.host.ctypes.data, (BYTES,), memory="host", owner=owner)
    w.put("tensors", owner.tensor)


def new_vulkan(w):
    if grinterop.cuda_is_software() and w.random.randrange(20) == 0:
        w.put("vulkans", grinterop.VulkanDevice.headless())
    elif w.random.randrange(3) == 0:
        options = dict(flags=w.flags(), in_flight=w.random.choice([0, 1, 2, 4]))
        w.put("resources", w.vulkan.from_vk_buffer(w.copied.vk_buffer, 0, 0, BYTES, **options))
    else:
        w.put("resources", w.vulkan.create_vk_buffer(BYTES, 0x20 | 0x3, flags=w.flags()))


def new_external(w):
    fd = vulkan_fd.export(w.vulkan, w.vulkan.create_vk_buffer(EXTERNAL_BYTES, 0x20 | 0x3))
    made = GraphicsResource.from_fd(fd, EXTERNAL_BYTES, flags="write_discard")
    made.set_sync(None, None)
    w.put("resources", made)


def new_same(w):
    w.put("resources", GraphicsResource.from_same_memory(w.any("resources"), length=BYTES))


def new_semaphore(w):
    if grinterop.cuda_is_software():
        w.put("semaphores", Semaphore.from_fd(vulkan_fd.semaphore()))


def new_egl(w):
    try:
        share = w.random.choice([None, w.own_egl, w.any("egls")])
        w.put("egls", grinterop.EglContext(0, share=share, es=w.random.randrange(2) == 0))
    finally:
        w.own_egl.make_current()


def new_core(w):
    stream = w.streams[-1]
    made = core.Device(0).allocate(BYTES, stream=stream)
    made.fill(w.random.randrange(256), stream=stream)
    w.put("cores", made)


class Acts:
    """An argument, a stream, a number or a tensor, that makes a random call while another call
    reads it: half of the time on the same object.
    """

    def __init__(self, w, value):
        self.worker, self.value = w, value

    def act(self):
        w = self.worker
        kind, found = w.current
        if w.random.randrange(2) or found is None:
            kind = w.random.choice(KINDS[:5])
            found = w.any(kind)
        name, call = w.random.choice(CALLS[kind])
        try:
            if found is not None:
                call(w, found)
        except ALLOWED + (RuntimeError,):
            pass

    def __cuda_stream__(self):
        self.act()
        return 0, self.worker.stream.stream

    def __index__(self):
        self.act()
        return self.value

    def __dlpack__(self, **keywords):
        self.act()
        return np.zeros(BYTES, "u1").__dlpack__()

    def __dlpack_device__(self):
        self.act()
        return 1, 0


class Owner(Acts):
    """A memory owner, in a cycle with its tensor, whose destructor makes a random call."""

    def __init__(self, w):
        super().__init__(w, 0)

    def __del__(self):
        self.act()


def stream_of(w):
    return w.random.choice(w.streams)


# ---- Calls ---------------------------------------------------------------------------------------


def with_resource(w, one):
    with one as entered:
        w.any("resources")
        if entered is not one:
            w.put("buffers", entered)


def map_many(w, one):
    buffers = grinterop.map_many([one, *w.some("resources", 2)], stream=stream_of(w))
    for buffer in buffers:
        w.put("buffers", buffer)
    if w.random.randrange(2):
        buffers.close()


def submit(w, one):
    w.vulkan.submit([one, *w.some("resources", 1)])


def export(w, one):
    """Exports the tensor without reading the exports."""
    version = w.random.choice([None, (1, 0), (Acts(w, 1), 0)])
    capsule = one.__dlpack__(stream=stream_of(w), max_version=version)
    if w.random.randrange(2):
        Tensor.from_dlpack(capsule).close()


def publish(w, one):
    grinterop.publish(
        one,
        w.array(),
        stream=stream_of(w),
        timeout=0,
        offset=w.random.choice([0, 0, 16]),
        shape=w.random.choice([None, None, (Acts(w, 4), 4)]),
    )


def fetch(w, one):
    grinterop.fetch(one, np.zeros(BYTES, "u1"), stream=stream_of(w), timeout=0)


def layers_of(w):
    """The arguments and a tensor for all layers of an array or a cube map."""
    layout, shape = w.random.choice([("hwc", (16, 16, 4)), ("chw", (4, 16, 16))])
    tensor = np.zeros((w.random.choice([1, 3, 6]), *shape), "u1")
    return tensor, {"stream": stream_of(w), "timeout": 0, "layer": "all", "layout": layout}


def publish_layers(w, one):
    tensor, given = layers_of(w)
    grinterop.publish(one, tensor, **given)


def fetch_layers(w, one):
    tensor, given = layers_of(w)
    grinterop.fetch(one, tensor, **given)


def multisampled(size):
    """A framebuffer with 4 samples in the current context."""
    target = gl.Target(size, size)
    target.attach(gl.COLOR_ATTACHMENT0, gl.RGBA8, 4)
    target.clear(1, 0.2, 0)
    return target.name


def fetch_sample(w):
    sample = w.random.choice([0, 1, 4, 4, 5, Acts(w, 2)])
    to = w.random.choice([np.zeros((16, 16, 4), "u1"), Tensor.create((16, 16), stream=w.stream)])
    grinterop.fetch_framebuffer(w.framebuffer, to, stream=stream_of(w), sample=sample)


def copy_sample(w, one):
    grinterop.copy_framebuffer(w.framebuffer, one, sample=w.random.randrange(6))


def fetch_yuv(w, one):
    """Of an image of 16 x 16 texels, or of a buffer."""
    layout, rows = w.random.choice([("nv12", 24), ("nv16", 32), ("yuv444", 48), ("yuv420", 24)])
    to = np.zeros((rows, 16), "u1")
    shape = w.random.choice([None, (16, 16, 3), (Acts(w, 16), 16, 3)])
    grinterop.fetch(one, to, stream=stream_of(w), timeout=0, layout=layout, shape=shape)


def acquire(w, one, call):
    with_stream = w.random.choice([None, w.stream])
    timeout = w.random.choice([0, 0.002])
    w.put("slots", call(w.random.randint(1, 2), stream=with_stream, timeout=timeout))


def await_slots(w, one):
    call = w.random.choice([one.read, one.write])
    acquire(w, one, lambda *given, **named: asyncio.run(call(*given, **named)))


def with_slots(w, one):
    with one as entered:
        for buffer in entered.buffers:
            if buffer is not None:
                w.put("buffers", buffer)
                w.put("tensors", buffer.tensor())


def slot_buffer(w, one):
    if one.buffer is not None:
        w.put("buffers", one.buffer)
        w.put("tensors", one.buffer.tensor())


def resize(w, one):
    one.resize([GraphicsResource.create_gl_buffer(BYTES) for _ in range(w.random.randint(2, 3))])


def current(w, one):
    try:
        one.make_current()
    finally:
        w.own_egl.make_current()


def close_egl(w, one):
    try:
        one.close()
    finally:
        w.own_egl.make_current()


def core_views(w, one):
    """Wraps the memory in a cuda.core object, which is never read."""
    StridedMemoryView.from_any_interface(one, stream_ptr=-1)
    StridedMemoryView.from_buffer(one, shape=(64,), dtype=np.dtype("u1"))


def core_copy(w, one):
    one.copy_to(w.any("cores"), stream=w.streams[-1])


def core_events(w, one):
    """A map between cuda.core events."""
    stream, ready = w.streams[-1], core.Device(0).create_event()
    given = {"wait_event": stream.record(), "ready_event": ready}
    w.put("buffers", grinterop.map_many([one], stream=stream, **given)[0])
    ready.sync()


def properties(w, one):
    kind = type(one)
    for name in dir(kind):
        value = getattr(kind, name)
        if not callable(value) and not name.startswith("_"):
            try:
                getattr(one, name)
            except ALLOWED + (RuntimeError,):
                pass
    repr(one)


def view(w, one):
    count = w.random.choice([64, Acts(w, 64)])
    w.put("tensors", one.view((count,), offset=w.random.choice([0, 8])))


# ---- Random arguments ----------------------------------------------------------------------------

NUMBERS = [-(2**70), -(2**63) - 1, -(2**32), -1, 0, 1, 2, 3, 4, 7, 64, 255, 256]
NUMBERS += [2**32, 2**32 + 1, 2**40, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**70]
NUMBERS += [-0.5, 1.5, float("nan"), float("inf"), True, np.float32(2), np.int8(-1), np.uint8(4)]
NUMBERS += [np.int32(16), np.int64(-1), np.uint64(2**64 - 1), np.bool_(True)]

# Parameters for handles and addresses, which the drivers trust, and for waits without an end.
TRUSTED = "pointer address instance fd socket commands fence queue object value".split()


def value_of(w, name):
    if name == "timeout":
        return w.random.choice([0, 0.001, -1, float("nan"), "0"])
    if name in ("stream", "wait_event", "ready_event") and not grinterop.cuda_is_software():
        return None if "event" in name else stream_of(w)  # the GPU's driver trusts these, too
    dice = w.random.randrange(8)
    if dice < 3:
        return w.random.choice(NUMBERS)
    if dice == 3:
        return Acts(w, w.random.choice([0, 4, 64, -1, 2**32]))
    if dice == 4:
        return tuple(w.random.choice(NUMBERS) for _ in range(w.random.randint(0, 4)))
    if dice == 5:
        return w.random.choice([None, "", "any", "host", "nv12", "float32", "read_only"])
    return w.array() if dice == 6 else w.any(w.random.choice(w.kinds))


def with_random_arguments(w, function, *given):
    """Calls with a random value for each required parameter, and for some others."""
    if function in DEVICES and not grinterop.cuda_is_software():
        return
    given, named = list(given), {}
    for one in PARAMETERS[function]:
        omitted = one.name != "timeout" and w.random.random() < 0.6  # the default waits forever
        if one.default is not one.empty and (one.name in TRUSTED or omitted):
            continue
        if one.name in TRUSTED:
            return
        if one.kind is one.POSITIONAL_ONLY:
            given.append(value_of(w, one.name))
        else:
            named[one.name] = value_of(w, one.name)
    w.last = f"{function.__qualname__}(*{given[:1]}, **{list(named)})"
    try:
        function(*given, **named)
    finally:
        w.own_egl.make_current()


def any_method(w, one):
    kind = next(kind for kind in METHODS if isinstance(one, kind))
    with_random_arguments(w, w.random.choice(METHODS[kind]), one)


# The functions of each class that take an object of it, and the functions that take none.
METHODS, FUNCTIONS = {}, [grinterop.publish, grinterop.fetch, grinterop.fetch_framebuffer]
FUNCTIONS += [grinterop.map_many, grinterop.gl_probe, grinterop.cuda_load, Ring, Submit]
FUNCTIONS += [grinterop.CudaContext, grinterop.EglContext]
for kind in (GraphicsResource, grinterop.Buffer, Tensor, Ring, grinterop.Slots, Semaphore, Submit,
             grinterop.EglContext, grinterop.CudaContext, grinterop.VulkanDevice):
    unused = ("_", "from_vk", "commit")  # a commit without a submit never ends
    found = [getattr(kind, name) for name in dir(kind) if not name.startswith(unused)]
    METHODS[kind] = [one for one in found if inspect.ismethoddescriptor(one)]
    FUNCTIONS += [one for one in found if inspect.isbuiltin(one)]

# Create or end Vulkan devices. vkDestroyDevice of the NVIDIA driver (580) deadlocks while other
# threads use OpenGL or Vulkan (docs/driver.md).
DEVICES = [grinterop.VulkanDevice.headless, grinterop.VulkanDevice.close]

# The calls themselves do not parse signatures: CPython 3.11 cannot do so in two threads.
PARAMETERS = {
    one: [part for part in inspect.signature(one).parameters.values() if part.name != "self"]
    for one in [*FUNCTIONS, *(one for found in METHODS.values() for one in found)]
}

CALLS = {
    "new": [
        ("any", lambda w: with_random_arguments(w, w.random.choice(FUNCTIONS))),
        ("any", lambda w: with_random_arguments(w, w.random.choice(FUNCTIONS))),
        ("gl_buffer", new_gl_buffer),
        ("name", new_name),
        ("created_buffer", new_created_buffer),
        ("gl_image", new_gl_image),
        ("created_image", new_created_image),
        ("layers", new_layers),
        ("packed_image", new_packed_image),
        ("fetch_sample", fetch_sample),
        ("drawn", new_drawn),
        ("drawn", new_drawn),
        ("ring", new_ring),
        ("wrapped", new_wrapped),
        ("vulkan", new_vulkan),
        ("external", new_external),
        ("same", new_same),
        ("semaphore", new_semaphore),
        ("egl", new_egl),
        ("cuda", lambda w: w.put("cudas", grinterop.CudaContext(0))),
        ("tensor", lambda w: w.put("tensors", Tensor.create((BYTES,), stream=w.stream))),
        ("large", lambda w: w.put("tensors", Tensor.create((1 << 20,), stream=w.stream))),
        ("imported", lambda w: w.put("tensors", Tensor.from_dlpack(w.array(), stream=w.stream))),
        ("collect", lambda w: grinterop.Tensor.collect(w.random.choice([0, 0.01]))),
        ("gc", lambda w: w.random.randrange(50) or gc.collect()),
        ("error", lambda w: (grinterop.last_error(), grinterop.clear_error())),
        ("probe", lambda w: grinterop.gl_probe(w.random.choice(["interop", "shared", "copy"]))),
        ("device", lambda w: grinterop.gl_cuda_device()),
    ],
    "resources": [
        ("map", lambda w, one: w.put("buffers", one.map(stream=stream_of(w)))),
        ("map", lambda w, one: w.put("buffers", one.map(stream=stream_of(w)))),
        ("map_linear", lambda w, one: w.put("buffers", one.map_linear(stream=stream_of(w)))),
        ("map_many", map_many),
        ("unmap", lambda w, one: one.unmap(stream=w.random.choice([None, stream_of(w)]))),
        ("wait", lambda w, one: one.wait(w.random.choice([0, 0.01, 1]))),
        ("with", with_resource),
        ("properties", properties),
        ("publish", publish),
        ("fetch", fetch),
        ("fetch_yuv", fetch_yuv),
        ("publish_layers", publish_layers),
        ("fetch_layers", fetch_layers),
        ("copy_sample", copy_sample),
        ("submit", submit),
        ("begin", lambda w, one: w.put("submits", Submit([one, *w.some("resources", 1)]))),
        ("set_sync", lambda w, one: one.set_sync(w.any("semaphores"), w.any("semaphores"))),
        ("close", lambda w, one: w.random.randrange(3) or one.close(stream_of(w))),
    ],
    "buffers": [
        ("tensor", lambda w, one: w.put("tensors", one.tensor())),
        ("tensor", lambda w, one: w.put("tensors", one.tensor((Acts(w, 16), 4), "f4"))),
        ("export", export),
        ("device", lambda w, one: one.__dlpack_device__()),
        ("interface", lambda w, one: one.__cuda_array_interface__),
        ("fill", lambda w, one: one.fill(w.random.choice([7, b"ab"]), stream=w.stream)),
        ("copy_to", lambda w, one: one.copy_to(w.any("buffers"), stream=w.stream)),
        ("copy_from", lambda w, one: one.copy_from(w.any("buffers"), stream=w.stream)),
        ("out", lambda w, one: one.copy_to_linear(w.host.ctypes.data, host=True)),
        ("in", lambda w, one: one.copy_from_linear(w.host.ctypes.data, host=True)),
        ("publish", publish),
        ("fetch", fetch),
        ("fetch_yuv", fetch_yuv),
        ("properties", properties),
        ("close", lambda w, one: one.close(w.random.choice([None, stream_of(w)]))),
        ("release", lambda w, one: grinterop.Buffers([one, *w.some("buffers")]).close()),
    ],
    # Waits use the value 0, and submits are not committed: nothing may wait for a missing signal.
    "semaphores": [
        ("wait", lambda w, one: one.wait(stream_of(w))),
        ("signal", lambda w, one: one.signal(stream_of(w), w.random.randrange(1 << 20))),
        ("properties", properties),
        ("close", lambda w, one: one.close()),
    ],
    "submits": [
        ("properties", properties),
        ("close", lambda w, one: one.close()),
    ],
    "tensors": [
        ("view", view),
        ("clone", lambda w, one: w.put("tensors", one.clone(stream=stream_of(w)))),
        ("clone", lambda w, one: w.put("tensors", one.clone("host", stream=w.stream))),
        ("tobytes", lambda w, one: one.tobytes(stream=stream_of(w))),
        ("copy_to", lambda w, one: one.copy_to(w.array(), stream=stream_of(w))),
        ("copy_from", lambda w, one: one.copy_from(w.array(), stream=stream_of(w))),
        ("wait", lambda w, one: one.wait(stream_of(w))),
        ("used_on", lambda w, one: one.used_on(stream_of(w))),
        ("export", export),
        ("interface", lambda w, one: one.__cuda_array_interface__),
        ("properties", properties),
        ("layout", lambda w, one: w.put("tensors", Tensor.from_dlpack(one, layout="hwc"))),
        ("close", lambda w, one: one.close()),
    ],
    "rings": [
        ("write", lambda w, one: acquire(w, one, one.acquire_write)),
        ("read", lambda w, one: acquire(w, one, one.acquire_read)),
        ("write", lambda w, one: acquire(w, one, one.acquire_write)),
        ("read", lambda w, one: acquire(w, one, one.acquire_read)),
        ("await", await_slots),
        ("publish", publish),
        ("fetch", fetch),
        ("fetch_yuv", fetch_yuv),
        ("properties", properties),
        ("resize", resize),
        ("stop", lambda w, one: w.random.randrange(20) or one.stop()),
        ("close", lambda w, one: one.close()),
    ],
    "slots": [
        ("hand_over", lambda w, one: one.hand_over()),
        ("give_back", lambda w, one: one.give_back()),
        ("cancel", lambda w, one: one.cancel()),
        ("with", with_slots),
        ("buffer", slot_buffer),
        ("properties", properties),
    ],
    "egls": [
        ("current", current),
        ("properties", properties),
        ("close", close_egl),
    ],
    "vulkans": [
        ("buffer", lambda w, one: w.put("resources", one.create_vk_buffer(BYTES, 0x23))),
        ("image", lambda w, one: w.put("resources", one.create_vk_image(37, 16, 16, 0x3))),
        ("submit", lambda w, one: one.submit(w.some("resources"))),
        ("properties", properties),
        ("close", lambda w, one: with_random_arguments(w, grinterop.VulkanDevice.close, one)),
    ],
    "cudas": [
        ("properties", properties),
        ("close", lambda w, one: one.close()),
    ],
}
for kind in KINDS[:10]:
    CALLS[kind] += [("any", any_method)] * 3
if core:
    CALLS["new"].append(("core", new_core))
    CALLS["resources"].append(("core_events", core_events))
    CALLS["buffers"].append(("core_views", core_views))
    CALLS["cores"] = [
        ("tensor", lambda w, one: w.put("tensors", Tensor.from_dlpack(one, stream=stream_of(w)))),
        ("views", core_views),
        ("copy", core_copy),
        ("properties", properties),
    ]
