#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A window that shows a tensor of PyTorch, CuPy, JAX or NumPy in each frame."""

import numpy
import pyglet
from grinterop import CudaContext, GraphicsResource, publish

window = pyglet.window.Window(640, 360)
image = pyglet.image.Texture.create(640, 360)
shown = GraphicsResource.from_gl_image(image.id, image.target, flags="write_discard", in_flight=4)
stream = CudaContext(0)  # or a stream of the framework, in which it computes
tensor = numpy.zeros((360, 640, 3), "float32")


@window.event
def on_draw():
    tensor[:] = (tensor + 1 / 255) % 1
    publish(shown, tensor, stream=stream)
    image.blit(0, 0)


pyglet.app.run()
