#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""PyOpenGL draws in a GLFW window. CUDA reads the framebuffer, and shows the edges beside it."""

import math

import glfw
import grinterop
import output
from OpenGL import GL


def draw(time):
    GL.glClearColor(0, 0, 0, 1)
    GL.glClear(GL.GL_COLOR_BUFFER_BIT)
    GL.glBegin(GL.GL_TRIANGLES)
    for i in range(180):  # 60 triangles, whose corners are far from each other
        angle, size = time + 0.2 * (i // 3) + 2.1 * (i % 3), 0.95 - i / 210
        GL.glColor3f(*(0.5 + 0.45 * math.sin(i // 3 / 10 + 2 * (i % 3) + j) for j in range(3)))
        GL.glVertex2f(size * math.cos(angle), size * math.sin(angle))
    GL.glEnd()


def edges(picture):
    """How much a pixel differs from its neighbours to the left and below."""
    here, left, below = picture[1:, 1:], picture[1:, :-1], picture[:-1, 1:]
    return 4 * (abs(here - left) + abs(here - below))


def main():
    chosen = output.parse(output.options(__doc__, 100, "glfw"))
    xp, stream = output.arrays()
    width, height = chosen.width // 2, chosen.height
    glfw.init()
    window = glfw.create_window(2 * width, height, "grinterop", None, None)
    glfw.make_context_current(window)
    texture = grinterop.GraphicsResource.create_gl_image(
        GL.GL_TEXTURE_2D, GL.GL_RGBA8, width - 1, height - 1, flags="surface_load_store"
    )
    GL.glViewport(0, 0, width, height)
    GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, GL.glGenFramebuffers(1))
    GL.glFramebufferTexture2D(
        GL.GL_READ_FRAMEBUFFER, GL.GL_COLOR_ATTACHMENT0, GL.GL_TEXTURE_2D, texture.gl_name, 0
    )
    seen = grinterop.Tensor.create((height, width, 3), "float32", stream=stream)
    for frame in range(chosen.frames):
        glfw.swap_buffers(window)
        glfw.poll_events()
        draw(frame / 50)
        grinterop.fetch_framebuffer(0, seen, width=width, height=height, stream=stream)
        grinterop.publish(texture, edges(xp.from_dlpack(seen)), stream=stream)
        places = (0, 0, width - 1, height - 1, width + 1, 1, 2 * width, height)
        GL.glBlitFramebuffer(*places, GL.GL_COLOR_BUFFER_BIT, GL.GL_NEAREST)
    GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, 0)
    pixels = GL.glReadPixels(0, 0, 2 * width, height, GL.GL_RGBA, GL.GL_UNSIGNED_BYTE)
    output.write_png(chosen.output / "glfw.png", 2 * width, height, pixels)


if __name__ == "__main__":
    main()
