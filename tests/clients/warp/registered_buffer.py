# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Replacements for warp.RegisteredGLBuffer on grinterop."""

import functools

import grinterop
import warp
from pyglet import gl


class RegisteredBuffer:
    """Has the methods and flags of warp.RegisteredGLBuffer. Frames are in order."""

    NONE, READ_ONLY, WRITE_DISCARD = 0, 1, 2

    def __init__(self, gl_buffer_id, device=None, flags=NONE, fallback_to_copy=True):
        self.device = warp.get_device(device)
        stream_of(self.device)  # on the CPU, makes a CUDA context current
        transports = "any" if fallback_to_copy else None
        with self.device.context_guard:
            self.resource = grinterop.GraphicsResource.from_gl_buffer(
                int(gl_buffer_id), flags=flags, transports=transports
            )

    def map(self, dtype, shape):
        buffer = self.resource.map(stream=stream_of(self.device))
        return warp.array(ptr=buffer.handle, dtype=dtype, shape=shape, device=self.device)

    def unmap(self):
        self.resource.unmap()


class StreamedBuffer:
    """For a buffer that each frame overwrites: keeps several frames in flight.

    CUDA writes to the next buffer of a ring, and OpenGL copies it into the buffer that it draws.
    """

    def __init__(self, gl_buffer_id, device=None, frames=4):
        self.device = warp.get_device(device)
        self.gl_buffer_id = int(gl_buffer_id)
        size = gl.GLint()
        gl.glBindBuffer(gl.GL_COPY_WRITE_BUFFER, self.gl_buffer_id)
        gl.glGetBufferParameteriv(gl.GL_COPY_WRITE_BUFFER, gl.GL_BUFFER_SIZE, size)
        with self.device.context_guard:
            create = grinterop.GraphicsResource.create_gl_buffer
            self.resources = [
                create(size.value, flags="write_discard", transports="any") for _ in range(frames)
            ]
            self.ring = grinterop.Ring(self.resources)

    def map(self, dtype, shape):
        self.written = self.ring.acquire_write(stream=stream_of(self.device))
        return warp.array(
            ptr=self.written.buffer.handle, dtype=dtype, shape=shape, device=self.device
        )

    def unmap(self):
        self.written.hand_over()
        with self.ring.acquire_read() as drawn:
            gl.glBindBuffer(gl.GL_COPY_READ_BUFFER, drawn.resource.gl_name)
            gl.glBindBuffer(gl.GL_COPY_WRITE_BUFFER, self.gl_buffer_id)
            size = drawn.resource.size
            gl.glCopyBufferSubData(gl.GL_COPY_READ_BUFFER, gl.GL_COPY_WRITE_BUFFER, 0, 0, size)


def stream_of(device):
    """The current stream of the device."""
    return warp.get_stream(device).cuda_stream if device.is_cuda else software()


@functools.cache
def software():
    """A context of the software driver. Its memory is also that of Warp's CPU device."""
    grinterop.cuda_load(allow_software=True)
    return grinterop.CudaContext(0)


def install():
    """Lets Warp's OpenGL renderer use grinterop."""
    warp.RegisteredGLBuffer = RegisteredBuffer
