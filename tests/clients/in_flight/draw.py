# SPDX-License-Identifier: Apache-2.0 OR MIT
"""draw.py EVOLUTION FRAMES PICTURE KIND: draws with the moderngl code of `evolution`.

EVOLUTION is a copy of the repository. KIND is `before` for its own cuda-python calls, or the number
of frames in flight for grinterop, where 0 is interop in order. COUNT and SIDE in the environment
are the creatures and the side of the field. Prints the frames per second of the second half.
"""

import os
import pathlib
import sys
import time
import types

import moderngl
import numpy
import stand_ins

WIDTH, HEIGHT = 1280, 720


def port(cuda_utils, in_flight):
    """The lines of evolution/cuda/cuda_utils.py that change."""
    from contextlib import contextmanager

    from grinterop import GraphicsResource

    def register_cuda_buffer(buffer):
        return GraphicsResource.from_gl_buffer(
            buffer.glo, flags="write_discard", in_flight=in_flight
        )

    def register_cuda_image(image):
        return GraphicsResource.from_gl_image(
            image.glo, cuda_utils.GL_TEXTURE_2D, flags="write_discard", in_flight=in_flight
        )

    @contextmanager
    def activate_texture(image):
        with image.map(stream=0) as mapped:
            yield mapped.array()

    @contextmanager
    def activate_buffer(buffer):
        with buffer.map(stream=0) as mapped:
            yield mapped.handle, mapped.size

    for changed in (register_cuda_buffer, register_cuda_image, activate_texture, activate_buffer):
        setattr(cuda_utils, changed.__name__, changed)


def main():
    source, frames, kind = sys.argv[1], int(sys.argv[2]), sys.argv[4]
    picture = pathlib.Path(sys.argv[3]).resolve()
    sys.path.insert(0, source)
    os.chdir(source)
    import evolution.core
    import evolution.state

    torch = stand_ins.install()
    driver = sys.modules["cuda.cuda"]
    driver.cuInit(0)
    driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(0)[1])

    from evolution.cuda import cuda_utils
    from evolution.utils import loading, subscribe
    from evolution.visual.graphics.heatmap import Heatmap
    from evolution.visual.graphics.instanced_creatures import InstancedCreatures

    if kind != "before":
        port(cuda_utils, int(kind))
    libraries = {"libgl": "libGL.so.1", "libegl": "libEGL.so.1"}
    gl = moderngl.create_context(standalone=True, backend="egl", require=330, **libraries)
    target = gl.simple_framebuffer((WIDTH, HEIGHT))
    target.use()
    gl.enable(moderngl.BLEND)

    publisher = subscribe.Publisher()
    count, size = int(os.environ.get("COUNT", 8192)), int(os.environ.get("SIDE", 1000))
    swarm = stand_ins.Swarm(torch, publisher, count, size)
    cfg = types.SimpleNamespace(size=size, max_food=10.0, max_creatures=262144)
    shaders = loading.load_shaders("shaders")
    heatmap = Heatmap(cfg, gl, swarm, shaders)
    creatures = InstancedCreatures(cfg, gl, swarm, swarm.state, shaders)
    camera = numpy.diag([2 / size, 2 / size, 1, 1]).astype("float32")
    camera[3, :2] = -1
    block = gl.buffer(camera.tobytes() * 2)
    block.bind_to_uniform_block()
    publisher.init_publish()

    for frame in range(frames):
        if frame == frames // 2:
            gl.finish()
            began = time.perf_counter()
        swarm.step(frame)
        publisher.publish()
        gl.clear(1.0, 1.0, 1.0)
        heatmap.render()
        creatures.render()
    gl.finish()
    seconds = time.perf_counter() - began
    picture.write_bytes(b"P6 %d %d 255\n" % (WIDTH, HEIGHT) + target.read(components=3))
    rate = (frames - frames // 2) / seconds
    print(f"{rate:.1f} frames per second, OpenGL {gl.info['GL_VERSION']}")


main()
