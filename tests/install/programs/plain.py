# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Calls grinterop through ctypes, as from any language that can call C: CUDA fills an OpenGL
buffer, and OpenGL reads the buffer back."""

import ctypes

SIZE = 1000
WRITE_DISCARD = 2


def library(name, **results):
    loaded = ctypes.CDLL(name)
    for function, result in results.items():
        getattr(loaded, function).restype = result
    return loaded


class Error(ctypes.Structure):
    _fields_ = [
        ("status", ctypes.c_int),
        ("domain", ctypes.c_int),
        ("code", ctypes.c_int),
        ("code_name", ctypes.c_char_p),
        ("call", ctypes.c_char_p),
        ("message", ctypes.c_char_p),
    ]


pointer = ctypes.c_void_p
gr = library(
    "libgrinterop.so.1",
    gr_cuda_context_create=pointer,
    gr_cuda_driver_path=ctypes.c_char_p,
    gr_egl_create=pointer,
    gr_from_gl_buffer=pointer,
    gr_map=pointer,
    gr_buffer_ptr=ctypes.c_uint64,
    gr_last_error=ctypes.POINTER(Error),
)


def check(made, what):
    if not made:
        raise SystemExit(f"{what}: {gr.gr_last_error().contents.message.decode()}")
    return pointer(made)


def gl(name, *arguments):
    """Calls an OpenGL function. For each, libepoxy exports a variable with its pointer."""
    function = ctypes.CFUNCTYPE(None, *map(type, arguments))
    return function(pointer.in_dll(epoxy, f"epoxy_{name}").value)(*arguments)


def cuda(name, *arguments):
    assert getattr(driver, name)(*arguments) == 0


assert gr.gr_cuda_load(True) == 0
context = check(gr.gr_cuda_context_create(0), "the CUDA context")
stream = check(ctypes.cast(context, ctypes.POINTER(pointer))[1], "the stream")  # its second member
driver = ctypes.CDLL(gr.gr_cuda_driver_path().decode())
egl = check(gr.gr_egl_create(None), "the OpenGL context")
epoxy = ctypes.CDLL("libepoxy.so.0")

array_buffer, dynamic_draw = ctypes.c_uint(0x8892), ctypes.c_uint(0x88E8)
size, start, nothing = ctypes.c_ssize_t(SIZE), ctypes.c_ssize_t(0), pointer()
name = ctypes.c_uint()
gl("glGenBuffers", ctypes.c_int(1), pointer(ctypes.addressof(name)))
gl("glBindBuffer", array_buffer, name)
gl("glBufferData", array_buffer, size, nothing, dynamic_draw)

resource = check(gr.gr_from_gl_buffer(name, WRITE_DISCARD), "the buffer")
mapped = check(gr.gr_map(resource, stream), "the map")
address = ctypes.c_uint64(gr.gr_buffer_ptr(mapped))
cuda("cuMemsetD8Async", address, ctypes.c_ubyte(42), ctypes.c_size_t(SIZE), stream)
assert gr.gr_buffer_release(mapped) == 0

read = (ctypes.c_ubyte * SIZE)()
gl("glGetBufferSubData", array_buffer, start, size, pointer(ctypes.addressof(read)))
assert bytes(read) == bytes([42]) * SIZE, "OpenGL reads other bytes than CUDA wrote"
gr.gr_resource_free(resource)
gr.gr_egl_free(egl)
gr.gr_cuda_context_free(context)
