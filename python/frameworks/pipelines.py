# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Whole pipelines: a JPEG and a film are decoded, resized, published, drawn, and read back.

The JPEG and the film show four quadrants of known colours, with which the drawn result is compared.
"""

import gl
import grinterop
import output

WIDTH, HEIGHT = 480, 360
# The colours of the quadrants, row by row from the upper left.
COLORS = ((200, 40, 40), (40, 200, 40), (40, 40, 200), (220, 220, 60))
# The largest allowed deviation of a colour value (0 to 255), due to lossy coding.
TOLERANCE = 12


def drawn(texture):
    """Draws the texture and returns the bytes."""
    screen = gl.Screen(WIDTH, HEIGHT)
    screen.clear()
    gl.Picture().draw(texture)
    return screen.read()


def compare_quadrants(rgba):
    """The largest deviation from the expected colours, of an upright picture."""
    worst = 0
    for number, color in enumerate(COLORS):
        x = WIDTH // 4 + number % 2 * WIDTH // 2
        y = 3 * HEIGHT // 4 - number // 2 * HEIGHT // 2
        texel = rgba[4 * (y * WIDTH + x) :][:4]
        far = max(abs(a - b) for a, b in zip(texel, color))
        if far > TOLERANCE or texel[3] != 255:
            raise RuntimeError(f"quadrant {number} is drawn as {tuple(texel)} instead of {color}")
        worst = max(worst, far)
    return worst


def show(texture, name, out):
    """Draws the texture, saves the picture and compares its quadrants."""
    rgba = drawn(texture)
    if out:
        output.write_png(out / f"pipeline-{name}.png", WIDTH, HEIGHT, rgba)
    return compare_quadrants(rgba)


class Target:
    """A registered texture."""

    def __init__(self, width, height):
        self.texture = gl.texture(width, height)
        self.resource = grinterop.GraphicsResource.from_gl_image(
            self.texture, gl.TEXTURE_2D, flags=("write_discard", "surface_load_store")
        )

    def publish(self, tensor, stream, **options):
        """Publishes a tensor. Returns the number of bytes that were copied."""
        before = grinterop.bytes_moved()
        grinterop.publish(self.resource, tensor, stream=stream, flip=True, **options)
        return grinterop.bytes_moved() - before


def jpeg(stream, out):
    """A JPEG: nvImageCodec decodes, CV-CUDA resizes, and publish() writes the texture."""
    from . import vision

    decoder = vision.NvImageCodec(stream)
    image = decoder.decoder.decode((vision.DATA / "quadrants.jpg").read_bytes())
    yield f"nvImageCodec decoded {tuple(image.shape)}"
    import cvcuda

    tensor = cvcuda.as_tensor(image, "HWC")
    resized = cvcuda.resize(tensor, (HEIGHT, WIDTH, 3), cvcuda.Interp.LINEAR)
    cvcuda.Stream.current.sync()
    yield f"CV-CUDA resized it to {tuple(resized.shape)}"
    target = Target(WIDTH, HEIGHT)
    moved = target.publish(resized.cuda(), stream)
    yield f"published into a texture in one pass, {moved} bytes"
    yield f"drawn; the colours differ by at most {show(target.texture, 'jpeg', out)} of 255"


def film(stream, out):
    """H.264: PyNvVideoCodec decodes to NV12, and publish() writes the texture; then the same with
    CV-CUDA resizing the frame.
    """
    from . import vision

    codec = vision.PyNvVideoCodec(stream)
    target, count = None, 0
    for frame in codec.frames():
        tensor = vision.nv12(frame)
        height, width = tensor.shape[0] * 2 // 3, tensor.shape[1]
        target = target or Target(width, height)
        moved = target.publish(tensor, stream, layout="nv12")
        stream.sync()
        count += 1
    if not target:
        raise RuntimeError("no frame was decoded")
    yield f"PyNvVideoCodec decoded {count} frames of NV12, {tensor.shape}"
    yield f"each published into a texture in one pass, {moved} bytes"
    yield f"drawn; the colours differ by at most {show(target.texture, 'film', out)} of 255"
    yield from film_resized(codec, stream, out)


def film_resized(codec, stream, out):
    try:
        import cvcuda
    except ImportError as error:
        yield f"not resized by CV-CUDA: {error}"
        return
    frames = codec.frames(outputColorType=codec.codec.OutputColorType.RGB)
    frame = next(frames)
    resized = cvcuda.resize(
        cvcuda.as_tensor(grinterop.Tensor.from_dlpack(frame), "HWC"),
        (HEIGHT, WIDTH, 3),
        cvcuda.Interp.LINEAR,
    )
    cvcuda.Stream.current.sync()
    target = Target(WIDTH, HEIGHT)
    target.publish(resized.cuda(), stream)
    worst = show(target.texture, "film-resized", out)
    yield (
        "decoded as RGB, resized by CV-CUDA and published; "
        f"the colours differ by at most {worst} of 255"
    )


STEPS = {"JPEG": jpeg, "H.264": film}
