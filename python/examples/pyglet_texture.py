#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""pyglet draws a texture that CUDA computes: a Julia set that turns."""

import math

import grinterop
import numpy
import output
import pyglet

pyglet.options.headless = True  # without this line: a window on the screen


def points(width, height):
    """The real and the imaginary part of each pixel."""
    rows, columns = numpy.indices((height, width), "float32")
    return numpy.stack((2 * columns - width, 2 * rows - height), -1) * numpy.float32(1.2 / height)


def julia(xp, points, time):
    """The colours from 0 to 1: how near each orbit comes to the axes and to 0."""
    x, y = points[:, :, 0], points[:, :, 1]
    real, imaginary = 0.76 * math.cos(time), 0.76 * math.sin(time)
    near_x = near_y = near = xp.ones_like(x)
    for _ in range(40):
        x, y = x * x - y * y + real, 2 * x * y + imaginary
        x, y = x.clip(-9, 9), y.clip(-9, 9)
        near_x, near_y = xp.minimum(near_x, x * x), xp.minimum(near_y, y * y)
        near = xp.minimum(near, x * x + y * y)
    return 1 - xp.stack((near_x**0.2, near_y**0.2, near**0.5, 0 * near), -1)


def main():
    chosen = output.parse(output.options(__doc__, 8, "pyglet"))
    xp, stream = output.arrays()
    config = pyglet.gl.Config(red_size=8, green_size=8, blue_size=8)
    window = pyglet.window.Window(chosen.width, chosen.height, config=config)
    texture = pyglet.image.Texture.create(chosen.width, chosen.height)
    resource = grinterop.GraphicsResource.from_gl_image(
        texture.id, texture.target, flags="surface_load_store"
    )
    start = grinterop.Tensor.from_dlpack(points(chosen.width, chosen.height))
    start = xp.from_dlpack(start.clone(stream=stream))
    for frame in range(chosen.frames):
        picture = julia(xp, start, 2.5 + frame / 50)
        grinterop.publish(resource, picture, stream=stream)
        window.clear()
        texture.blit(0, 0)
        drawn = pyglet.image.get_buffer_manager().get_color_buffer().get_image_data()
        window.flip()
    drawn.save(str(chosen.output / "pyglet.png"))


if __name__ == "__main__":
    main()
