# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Publishes and fetches NumPy arrays, and compares the bytes with the results of NumPy."""

import functools

import grinterop
import numpy as np
import pytest
from grinterop import GraphicsResource, Ring, Tensor

import gl
from conftest import refuses


@pytest.fixture
def picture(egl):
    """An RGBA8 texture of 8x4 texels that kernels can write to."""
    egl.make_current()
    name = gl.texture(8, 4, data=bytes(128))
    with GraphicsResource.from_gl_image(name, gl.TEXTURE_2D, flags="surface_load_store") as made:
        yield made


def texels(picture):
    """The texture contents as OpenGL reads them, in the shape (4, 8, 4)."""
    return np.frombuffer(gl.read_texture(picture.gl_name, 8, 4), "u1").reshape(4, 8, 4)


def noise(*shape, dtype="u1"):
    values = np.random.default_rng(7).integers(0, 256, shape)
    return values.astype(dtype) if np.dtype(dtype).kind == "u" else (values / 255).astype(dtype)


def test_rgba_bytes_are_copied_unchanged(picture, cuda):
    array = noise(4, 8, 4)
    grinterop.publish(picture, array, stream=cuda)
    assert (texels(picture) == array).all()
    back = np.zeros_like(array)
    grinterop.fetch(picture, back, stream=cuda)
    cuda.sync()
    assert (back == array).all()


def test_rgb_gets_opaque_alpha(picture, cuda):
    array = noise(4, 8, 3)
    grinterop.publish(picture, array, stream=cuda)
    assert (texels(picture)[..., :3] == array).all() and (texels(picture)[..., 3] == 255).all()
    grinterop.publish(picture, array, stream=cuda, bgr=True, flip=True, alpha=0)
    assert (texels(picture)[..., :3] == array[::-1, :, ::-1]).all()
    assert (texels(picture)[..., 3] == 0).all()


@pytest.mark.parametrize("format", [("a2b10g10r10", gl.RGB10_A2), ("b10g11r11", gl.R11F_G11F_B10F)])
def test_packed_images_are_converted(egl, cuda, format):
    egl.make_current()
    image = GraphicsResource.create_gl_image(
        gl.TEXTURE_2D, format[1], 8, 4, flags="none", transports="copy"
    )
    array, back = noise(4, 8, 3, dtype="f4"), np.zeros((4, 8, 3), "f4")
    grinterop.publish(image, array, stream=cuda)
    grinterop.fetch(image, back, stream=cuda)
    cuda.sync()
    assert abs(back - array).max() <= 1 / 64
    with image.map(stream=cuda) as buffer:
        assert buffer.image_info()["format"] == format[0]
    image.close()


def test_a_rectangle_is_published_and_fetched(picture, cuda):
    array, back = noise(2, 3, 4), np.zeros((2, 3, 4), "u1")
    grinterop.publish(picture, array, stream=cuda, x=4, y=1, width=3, height=2)
    expected = np.zeros((4, 8, 4), "u1")
    expected[1:3, 4:7] = array
    assert (texels(picture) == expected).all()
    grinterop.fetch(picture, back, stream=cuda, x=4, y=1, width=3, height=2)
    cuda.sync()
    assert (back == array).all()
    refuses(
        ValueError,
        lambda: grinterop.publish(picture, array, stream=cuda, x=8),
        match="is not within level 0",
    )


@pytest.mark.parametrize("target, layers", [(0x8C1A, 3), (0x8513, 6)])  # an array, a cube map
def test_a_tensor_has_all_layers(egl, cuda, target, layers):
    egl.make_current()
    depth = layers if target == 0x8C1A else 0
    with GraphicsResource.create_gl_image(target, gl.RGBA8, 5, 5, depth, 2) as image:
        array, one = noise(layers, 5, 5, 4), np.zeros((5, 5, 4), "u1")
        back, planes = np.zeros_like(array), np.zeros((layers, 4, 5, 5), "f4")
        small = noise(layers, 2, 2, 4)
        grinterop.publish(image, array, stream=cuda, layer="all")
        grinterop.publish(image, small, stream=cuda, layer="all", level=1)
        for i in range(layers):
            grinterop.fetch(image, one, stream=cuda, layer=i)
            cuda.sync()
            assert (one == array[i]).all()
        grinterop.fetch(image, back, stream=cuda, layer="all")
        grinterop.fetch(image, planes, stream=cuda, layer="all", layout="chw")
        cuda.sync()
        assert (back == array).all()
        assert (planes == (array.transpose(0, 3, 1, 2) / np.float32(255))).all()
        grinterop.publish(image, planes[:, ::-1], stream=cuda, layer="all", layout="chw")
        grinterop.fetch(image, back, stream=cuda, layer="all")
        cuda.sync()
        assert (back == array[..., ::-1]).all()
        grinterop.publish(image, array[:2], stream=cuda, layer=1, layers=2)
        grinterop.fetch(image, back[:1], stream=cuda, layer=2, layers=1)
        cuda.sync()
        assert (back[0] == array[1]).all()
        refuses(
            ValueError,
            lambda: grinterop.publish(image, array[1:], stream=cuda, layer="all"),
            match="layers must be equal",
        )
        refuses(
            ValueError,
            lambda: grinterop.publish(image, array, stream=cuda),
            match='`layer` to "all"',
        )
        refuses(
            ValueError,
            lambda: grinterop.publish(image, array, stream=cuda, layer="every"),
            match="'every' is not a valid layer; choose one of \\['all'\\]",
        )


def test_tiles_of_a_picture_are_a_batch(picture, cuda):
    batch = noise(3, 2, 4, 4)  # the fourth tile is missing
    before = texels(picture).copy()
    grinterop.publish(picture, batch, stream=cuda, columns=2)
    after = texels(picture).copy()
    assert (after[:2] == np.hstack(batch[:2])).all() and (after[2:, :4] == batch[2]).all()
    assert (after[2:, 4:] == before[2:, 4:]).all()
    planes = np.zeros((4, 4, 2, 4), "f4")
    grinterop.fetch(picture, planes, stream=cuda, columns=2, layout="chw", flip=True)
    cuda.sync()
    tiles = after[::-1].reshape(2, 2, 2, 4, 4).transpose(0, 2, 4, 1, 3).reshape(4, 4, 2, 4)
    assert (planes == tiles / np.float32(255)).all()
    refuses(
        ValueError,
        lambda: grinterop.publish(picture, batch, stream=cuda, columns=3),
        match="3 tiles of 4 x 2 in 3 columns need 12 x 2",
    )


def test_slices_of_a_3d_image_are_published(egl, cuda):
    egl.make_current()
    array, back = noise(5, 4, 8, 4), np.zeros((2, 4, 8, 4), "u1")
    with GraphicsResource.create_gl_image(
        gl.TEXTURE_3D, gl.RGBA8, 8, 4, depth=5, flags="none", transports="copy"
    ) as image:
        grinterop.publish(image, array, stream=cuda)
        grinterop.publish(image, array[0, ..., :3], stream=cuda, z=3, depth=1, alpha=0)
        grinterop.fetch(image, back, stream=cuda, z=2, depth=2)
        cuda.sync()
        assert (back[0] == array[2]).all() and (back[1, ..., :3] == array[0, ..., :3]).all()
        copy = Tensor.create((2, 4, 8, 4), "u1", stream=cuda)
        with image.map(stream=cuda) as mapped:
            mapped.copy_to_linear(copy.handle, z=2, depth=2)
        cuda.sync()
        assert copy.tobytes() == back.tobytes()


def test_float_planes_are_published(picture, cuda):
    array = noise(4, 8, 3, dtype="f4")
    planes = np.ascontiguousarray(array.transpose(2, 0, 1))[None]
    grinterop.publish(picture, planes, stream=cuda, layout="chw")
    assert (texels(picture)[..., :3] == np.rint(array * 255)).all()
    grinterop.publish(picture, array * 2 - 1, stream=cuda, scale=0.5, bias=0.5)
    assert abs(texels(picture)[..., :3] - np.rint(array * 255)).max() <= 1
    grinterop.publish(picture, array, stream=cuda, scale=(0, 1), bias=(1,))
    assert (texels(picture)[..., 0] == 255).all()
    assert (texels(picture)[..., 1:3] == np.rint(array * 255)[..., 1:]).all()


def test_numbers_of_the_options_have_53_bits(egl, cuda):
    """Catches: scale, bias and alpha were rounded to float32."""
    egl.make_current()

    def published(values, **options):
        values = np.array(values).reshape(1, 1, -1)
        got = np.zeros_like(values)
        with GraphicsResource.create_gl_buffer(values.nbytes) as buffer:
            grinterop.publish(buffer, values, stream=cuda, **options)
            grinterop.fetch(buffer, got, stream=cuda)
            cuda.sync()
        return got.ravel().tolist()

    assert published(np.int32([2000000000, 10]), scale=0.1) == [200000000, 1]
    assert published([3.0], scale=1 / 3) == [1.0] and published([1.0], bias=0.1) == [1.1]
    assert published([3.0], scale=np.array(0.5), bias=np.array([1.0])) == [2.5]
    rgb, rgba = np.ones((1, 1, 3)), np.zeros((1, 1, 4))
    with GraphicsResource.create_gl_buffer(32) as buffer:
        grinterop.publish(buffer, rgb, stream=cuda, shape=(1, 1, 4), alpha=0.1)
        grinterop.fetch(buffer, rgba, stream=cuda)
        cuda.sync()
    assert rgba.tolist() == [[[1, 1, 1, 0.1]]]


def test_strided_array_is_published(picture, cuda):
    array = noise(8, 32, 3)[::2, 1::4]
    grinterop.publish(picture, array, stream=cuda)
    assert (texels(picture)[..., :3] == array).all()


def test_planes_are_fetched(picture, cuda):
    array = noise(4, 8, 4)
    grinterop.publish(picture, array, stream=cuda)
    planes = np.zeros((3, 4, 8), "f4")
    grinterop.fetch(picture, planes, stream=cuda, layout="chw")
    cuda.sync()
    assert np.allclose(planes, array[..., :3].transpose(2, 0, 1) / 255, atol=1e-6)


def test_nv12_planes_are_published(picture, cuda):
    luma, chroma = np.full((4, 8), 235, "u1"), np.full((2, 4, 2), 128, "u1")
    whole = np.concatenate([luma, chroma.reshape(2, 8)])
    for tensor in ((luma, chroma), whole):
        grinterop.publish(picture, np.zeros((4, 8, 4), "u1"), stream=cuda)
        grinterop.publish(picture, tensor, stream=cuda, layout="nv12", matrix="bt601")
        assert (texels(picture) == 255).all()


def planes_of(frame, dtype, pairs):
    """The planes with the pitches of FFmpeg; those in `pairs` have two values per column."""
    for i, plane in enumerate(frame.planes):
        rows = np.frombuffer(plane, dtype).copy().reshape(plane.height, -1, 1 + (i in pairs))
        yield rows[:, : plane.width]


@pytest.mark.parametrize(
    "name, layout, bits, pairs",
    [
        ("nv12", "nv12", 0, [1]), ("nv16", "nv16", 0, [1]), ("p010le", "p016", 0, [1]),
        ("yuv420p", "yuv420", 0, []), ("yuv420p", "nv12", 0, []), ("yuv422p", "yuv422", 0, []),
        ("yuv444p", "yuv444", 0, []), ("yuv420p10le", "yuv420", 10, []),
        ("yuv422p12le", "yuv422", 12, []), ("yuv444p10le", "yuv444", 10, []),
        ("yuyv422", "yuyv", 0, [0]), ("uyvy422", "uyvy", 0, [0]),
        ("yuv422p10le", "yuv422", 10, []), ("yuv444p12le", "yuv444", 12, []),
    ],
)
def test_frames_of_ffmpeg_get_the_colours_of_ffmpeg(egl, cuda, name, layout, bits, pairs):
    av = pytest.importorskip("av")
    flags = av.video.reformatter.Interpolation
    colours = np.random.default_rng(7).integers(0, 256, (3, 6, 3)).astype("u1")
    rgb = np.ascontiguousarray(colours.repeat(16, 0).repeat(16, 1)[:, :90])
    source = av.VideoFrame.from_ndarray(rgb, format="rgb24")
    egl.make_current()
    with GraphicsResource.from_gl_image(
        gl.texture(90, 48), gl.TEXTURE_2D, flags="surface_load_store"
    ) as picture:
        for matrix, space in (("bt709", "ITU709"), ("bt601", "ITU601"), ("bt2020", "BT2020")):
            for full in (False, True):
                size = "JPEG" if full else "MPEG"
                frame = source.reformat(
                    format=name, dst_colorspace=space, dst_color_range=size, src_color_range="JPEG"
                )
                planes = tuple(planes_of(frame, "u2" if name.endswith("le") else "u1", pairs))
                grinterop.publish(
                    picture, planes if len(planes) > 1 else planes[0], stream=cuda, layout=layout,
                    matrix=matrix, full_range=full, bits=bits,
                )
                wanted = frame.reformat(
                    format="rgb24", src_colorspace=space, src_color_range=size,
                    dst_color_range="JPEG", interpolation=flags.ACCURATE_RND | flags.FULL_CHR_H_INT,
                ).to_ndarray()
                got = np.frombuffer(gl.read_texture(picture.gl_name, 90, 48), "u1")
                got = got.reshape(48, 90, 4)[..., :3].astype(int)
                # FFmpeg interpolates chroma where colours meet.
                assert abs(got - wanted)[8::16, 8::16].max() <= 2, (matrix, full)


YUV = [
    # the format of FFmpeg, the layout, the dtype, bits, high_bits, and the planes with pairs
    ("nv12", "nv12", "u1", 0, False, [1]), ("nv16", "nv16", "u1", 0, False, [1]),
    ("p010le", "p016", "u2", 10, True, [1]), ("p016le", "p016", "u2", 0, False, [1]),
    ("yuv420p", "yuv420", "u1", 0, False, []), ("yuv422p", "yuv422", "u1", 0, False, []),
    ("yuv444p", "yuv444", "u1", 0, False, []), ("yuv420p10le", "yuv420", "u2", 10, False, []),
    ("yuv422p12le", "yuv422", "u2", 12, False, []), ("yuv444p10le", "yuv444", "u2", 10, False, []),
    ("yuv420p12le", "yuv420", "u2", 12, False, []), ("yuyv422", "yuyv", "u1", 0, False, [0]),
    ("uyvy422", "uyvy", "u1", 0, False, [0]), ("p012le", "p016", "u2", 12, True, [1]),
    ("yuv422p10le", "yuv422", "u2", 10, False, []), ("yuv444p12le", "yuv444", "u2", 12, False, []),
]


@pytest.mark.parametrize("name, layout, dtype, bits, high, pairs", YUV)
def test_fetched_yuv_is_that_of_ffmpeg(egl, cuda, name, layout, dtype, bits, high, pairs):
    av = pytest.importorskip("av")
    flags = av.video.reformatter.Interpolation
    rng = np.random.default_rng(9)
    # FFmpeg averages the colours of 2 x 2 pixels by SWS_AREA, of which half are noise
    rgba = rng.integers(0, 256, (34, 90, 4)).astype("u1")
    rgba[:, 45:] = rng.integers(0, 256, (17, 23, 4)).astype("u1").repeat(2, 0).repeat(2, 1)[:, 1:]
    source = av.VideoFrame.from_ndarray(np.ascontiguousarray(rgba[..., :3]), format="rgb24")
    steps = 1 << ((16 if high else bits) or 8 * np.dtype(dtype).itemsize) - 8
    egl.make_current()
    with GraphicsResource.from_gl_image(
        gl.texture(90, 34), gl.TEXTURE_2D, flags="surface_load_store"
    ) as picture:
        grinterop.publish(picture, rgba, stream=cuda)
        for matrix, space in (("bt709", "ITU709"), ("bt601", "ITU601"), ("bt2020", "BT2020")):
            for full in (False, True):
                frame = source.reformat(
                    format=name, dst_colorspace=space,
                    dst_color_range="JPEG" if full else "MPEG", src_color_range="JPEG",
                    interpolation=flags.AREA | flags.ACCURATE_RND | flags.FULL_CHR_H_INP,
                )
                wanted = list(planes_of(frame, dtype, pairs))
                got = [np.zeros(plane.shape, dtype) for plane in wanted]
                grinterop.fetch(
                    picture, tuple(got) if len(got) > 1 else got[0], stream=cuda, layout=layout,
                    matrix=matrix, full_range=full, bits=bits, high_bits=high,
                )
                for one, other in zip(got, wanted):
                    difference = abs(one.astype(int) - other).max() / steps
                    assert difference <= 2, (matrix, full, difference)


@pytest.mark.parametrize("origin", ["framebuffer", "buffer"])
@pytest.mark.parametrize("name, layout, pairs", [("nv12", "nv12", [1]), ("yuv422p", "yuv422", [])])
def test_yuv_of_an_odd_size_is_that_of_ffmpeg(egl, cuda, origin, name, layout, pairs):
    """Luma is noise. Chroma only rises, since FFmpeg scales odd sizes by other weights."""
    av = pytest.importorskip("av")
    flags = av.video.reformatter.Interpolation
    row, column = np.mgrid[0:33, 0:45]
    grey = np.random.default_rng(5).integers(40, 80, (33, 45))
    rgb = np.dstack([grey + 3 * column, grey + 60, grey + 3 * row]).astype("u1")
    frame = av.VideoFrame.from_ndarray(rgb, format="rgb24").reformat(
        format=name, dst_colorspace="ITU709", dst_color_range="MPEG", src_color_range="JPEG",
        interpolation=flags.AREA | flags.ACCURATE_RND | flags.FULL_CHR_H_INP,
    )
    wanted = list(planes_of(frame, "u1", pairs))
    got = [np.zeros(plane.shape, "u1") for plane in wanted]
    rgba = np.dstack([rgb, np.zeros((33, 45), "u1")]).tobytes()
    egl.make_current()
    if origin == "buffer":
        with GraphicsResource.from_gl_buffer(gl.buffer(len(rgba), rgba)) as buffer:
            grinterop.fetch(
                buffer, tuple(got), stream=cuda, layout=layout, shape=(33, 45, 4), dtype="u1"
            )
    else:
        screen = gl.Screen(45, 33)
        gl.write_texture(screen.texture, 45, 33, rgba)
        grinterop.fetch_framebuffer(screen.name, tuple(got), stream=cuda, layout=layout)
    cuda.sync()
    for one, other in zip(got, wanted):
        assert abs(one.astype(int) - other).max() <= 2


@pytest.mark.parametrize("position, at", [("center", 0.5), ("left", 0), ("top_left", 0)])
def test_chroma_is_that_of_its_position(picture, cuda, position, at):
    """The green of a ramp falls by 12 per column and 4 per row, and chroma with it."""
    rows, columns = np.mgrid[0:4, 0:8]
    rgba = np.dstack([rows * 0, 200 - 12 * columns - 4 * rows, rows * 0, rows * 0]).astype("u1")
    grinterop.publish(picture, rgba, stream=cuda)
    y, uv = np.zeros((4, 8), "u1"), np.zeros((2, 4, 2), "u1")
    grinterop.fetch(
        picture, (y, uv), stream=cuda, layout="nv12", full_range=True, chroma_position=position
    )
    row = 0 if position == "top_left" else 0.5
    for j in range(position == "top_left", 2):
        for i in range(1, 4):
            green = 200 - 12 * (2 * i + at) - 4 * (2 * j + row)
            assert abs(uv[j, i, 0] - (128 - green * 0.7152 / 1.8556)) <= 0.51


def test_yuv_options_that_do_not_fit_are_named(picture, cuda):
    y, u = np.zeros((4, 8), "u1"), np.zeros((2, 4), "u1")
    for tensor, options, text in [
        ((y, u, u), {"layout": "yuv420"}, "U and V share bytes"),
        (np.zeros((6, 8), "u2"), {"layout": "p016", "high_bits": True}, "`bits` is 0"),
        (np.zeros((4, 8, 4), "u1"), {"chroma_position": "left"}, '`chroma_position` is "left"'),
        ((y, u), {"layout": "nv12", "chroma_position": "right"}, "chroma position"),
        ((y, u, u), {"layout": "nv12", "bits": 7}, "omit `bits`"),
    ]:
        with pytest.raises(ValueError, match=text):
            grinterop.fetch(picture, tensor, stream=cuda, **options)
    assert not y.any() and not u.any()


@pytest.mark.parametrize("call", ["publish", "fetch", "framebuffer"])
def test_p016_of_fewer_bits_needs_high_bits(picture, cuda, call):
    """Catches: 10 bits of P016 were silently the low bits, in an almost black film."""
    planes = y, _ = np.zeros((4, 8), "u2"), np.zeros((2, 4, 2), "u2")
    white = np.full((4, 8, 4), 255, "u1")
    screen = gl.Screen(8, 4)
    gl.write_texture(screen.texture, 8, 4, white.tobytes())

    def run(planes, **options):
        grinterop.publish(picture, white, stream=cuda)
        if call == "framebuffer":
            grinterop.fetch_framebuffer(screen.name, planes, stream=cuda, **options)
        else:
            getattr(grinterop, call)(picture, planes, stream=cuda, **options)
        cuda.sync()

    tensor = Tensor.from_dlpack(planes, layout="p016")
    for given, options in ((planes, {"layout": "p016"}), (tensor, {})):
        for bits in (10, 12):
            refuses(ValueError, lambda: run(given, bits=bits, **options), match="set `high_bits`")
        run(given, bits=10, high_bits=True, **options)
        assert call == "publish" or y[0, 0] == 940 << 6
        run(given, bits=16, **options)
        run(given, **options)


def test_planes_that_do_not_match_are_named(picture, cuda):
    luma, half, quarter = noise(4, 8), noise(4, 4), noise(2, 4)
    for planes, layout, text in [
        ((luma, quarter, half), "yuv420", r"the third plane is .*the V plane must be \(2, 4\)"),
        ((luma, quarter, quarter), "yuv422", r"the second plane is .*the U plane must be \(4, 4\)"),
        ((luma, quarter, quarter), None, 'three planes were passed, .*set `layout` to "yuv420"'),
        ((luma, quarter), "nv12", r"the UV plane must be \(2, 4, 2\) or \(2, 8\)"),
        (luma, "yuv420", "pass a sequence of Y, U and V"),
        (noise(4, 8, 2), None, 'such as "yuyv"'),
        (noise(4, 8, 2), "nv16", 'is "yuyv" or "uyvy"'),
    ]:
        with pytest.raises(ValueError, match=text):
            grinterop.publish(picture, planes, stream=cuda, layout=layout)


def test_depth_is_published_and_fetched_by_copy(egl, cuda):
    egl.make_current()
    name = gl.texture(8, 4, gl.DEPTH_COMPONENT24)
    with pytest.raises(grinterop.UnsupportedError, match='"copy" in transports'):
        GraphicsResource.from_gl_image(name, gl.TEXTURE_2D)
    array = noise(4, 8)
    with GraphicsResource.from_gl_image(name, gl.TEXTURE_2D, transports="copy") as depth:
        grinterop.publish(depth, array, stream=cuda)
        # NVIDIA's OpenGL reads 24 bits as floats with errors of up to 1.25 steps of 2**-24.
        texels = np.frombuffer(gl.read_texture(name, 8, 4, gl.DEPTH_COMPONENT24), "f4")
        assert np.allclose(texels.reshape(4, 8), array / 255, rtol=0, atol=1.25 * 2**-24)
        back = np.zeros((4, 8), "u1")
        grinterop.fetch(depth, back, stream=cuda)
        cuda.sync()
        assert (back == array).all()
        assert "GR_" not in depth.describe()


def test_publish_fills_a_mapping(picture, cuda):
    array = noise(4, 8, 4)
    with picture.map(stream=cuda) as buffer:
        grinterop.publish(buffer, array)
        with pytest.raises(RuntimeError, match="pass its Buffer"):
            grinterop.publish(picture, array, stream=cuda)
    assert (texels(picture) == array).all()


def test_publish_fills_a_buffer(resource, vbo, cuda):
    array = noise(16, 3, dtype="f4")
    grinterop.publish(resource, array, stream=cuda, offset=64)
    assert gl.read_buffer(vbo, 4096)[64 : 64 + 192] == array.tobytes()
    assert gl.read_buffer(vbo, 4096)[:64] == bytes(range(64))
    grinterop.publish(resource, array, stream=cuda, dtype="u1")
    expected = np.rint(array * 255).astype("u1")
    assert gl.read_buffer(vbo, 48) == expected.tobytes()
    back = np.zeros((16, 3), "u1")
    grinterop.fetch(resource, back, stream=cuda)
    cuda.sync()
    assert (back == expected).all()


def test_publish_fills_the_slots_of_a_ring(egl, cuda):
    egl.make_current()
    made = [GraphicsResource.from_gl_buffer(gl.buffer(64)) for _ in range(2)]
    with Ring(made) as ring:
        for i in range(5):
            grinterop.publish(ring, np.full(64, i, "u1"), stream=cuda, timeout=5)
            with ring.acquire_read() as slot:
                assert gl.read_buffer(slot.resource.gl_name, 64) == bytes([i]) * 64
        grinterop.publish(ring, np.zeros(64, "u1"), stream=cuda)
        grinterop.publish(ring, np.zeros(64, "u1"), stream=cuda)
        with pytest.raises(TimeoutError):
            grinterop.publish(ring, np.zeros(64, "u1"), stream=cuda, timeout=0)
        assert ring.info()["ready"] == 2
    with Ring(made, producer="graphics") as ring:
        with ring.acquire_write() as slot:
            gl.write_buffer(slot.resource.gl_name, bytes(range(64)))
        back = np.zeros(64, "u1")
        grinterop.fetch(ring, back, stream=cuda)
        cuda.sync()
        assert back.tobytes() == bytes(range(64))
    for resource in made:
        resource.close()


@pytest.mark.parametrize(
    "arguments, error",
    [
        ({"layout": "wch"}, ValueError), ({"matrix": "bt470"}, ValueError),
        ({"scale": (1, 2, 3, 4, 5)}, ValueError), ({"scale": "large"}, (TypeError, ValueError)),
        ({"bias": [None]}, TypeError), ({"alpha": "opaque"}, TypeError), ({"level": 7}, ValueError),
        ({"layer": 1}, ValueError), ({"wait_event": "now"}, TypeError), ({"colour": 1}, TypeError),
        ({"stream": None}, TypeError),
    ],
)
def test_invalid_options_are_refused(picture, cuda, arguments, error):
    with pytest.raises(error):
        grinterop.publish(picture, np.zeros((4, 8, 4), "u1"), **({"stream": cuda} | arguments))


def test_mismatched_shapes_are_refused(picture, cuda):
    with pytest.raises(ValueError, match="5") as caught:
        grinterop.publish(picture, np.zeros((5, 8, 4), "u1"), stream=cuda)
    assert "8" in str(caught.value)
    refuses(TypeError, lambda: grinterop.publish(picture, None, stream=cuda), match="not a tensor")
    with pytest.raises(TypeError, match="GraphicsResource, Buffer or Ring"):
        grinterop.publish(None, np.zeros(4, "u1"), stream=cuda)


def test_fetch_into_read_only_memory_is_refused(picture, cuda):
    array = noise(4, 8, 4)
    array.flags.writeable = False
    refuses(grinterop.StateError, lambda: grinterop.fetch(picture, array, stream=cuda))
    grinterop.publish(picture, array, stream=cuda)
    assert (texels(picture) == array).all()


@pytest.mark.parametrize("strides", [(0, 4, 1), (32, 0, 1), (32, 4, 0)])
def test_fetch_into_elements_that_share_bytes_is_refused(picture, cuda, strides):
    array = np.zeros(128, "u1")
    shared = np.lib.stride_tricks.as_strided(array, (4, 8, 4), strides)
    refuses(ValueError, lambda: grinterop.fetch(picture, shared, stream=cuda), match="share bytes")
    cuda.sync()
    assert not array.any()


def test_array_may_be_dropped_after_publish(picture, cuda):
    for value in range(50):
        grinterop.publish(picture, np.full((4, 8, 4), value, "u1"), stream=cuda)
    assert (texels(picture) == 49).all()


def test_publish_waits_for_the_stream_of_the_tensor(picture, cuda):
    tensor = Tensor.create((4, 8, 4), stream=cuda)
    tensor.copy_from(noise(4, 8, 4), stream=cuda)
    grinterop.publish(picture, tensor, stream=1)
    assert (texels(picture) == noise(4, 8, 4)).all()


# ---- Types ---------------------------------------------------------------------------------------

TYPES = "bool i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8".split()
WIDE = "i4 i8 u4 u8".split()
# The OpenGL format of an image with one channel, its type, and whether integers are numbers.
FORMATS = [
    (0x8229, "u1", False), (0x822A, "u2", False), (0x822D, "f2", False), (0x822E, "f4", False),
    (0x8231, "i1", True), (0x8232, "u1", True), (0x8233, "i2", True), (0x8234, "u2", True),
    (0x8235, "i4", True), (0x8236, "u4", True),
]


def anything(random, shape, dtype):
    """Values of all sizes, many of which other types cannot represent."""
    kind, size = np.dtype(dtype).kind, np.dtype(dtype).itemsize
    if kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    if kind == "f":
        values = random.uniform(-1.2, 1.2, shape) * 10.0 ** random.integers(0, 5, shape)
        values[random.random(shape) < 0.1] = np.nan
        values[random.random(shape) < 0.1] = np.inf
        return values.astype(dtype)
    bits = min(8 * size, 53) - (kind == "i")  # computing in float64 represents no more bits
    values = random.integers(0, 2 ** random.integers(1, bits + 1, shape), shape, "u8")
    negative = random.random(shape) < (kind == "i") / 2
    return np.where(negative, ~values, values).astype(dtype)


@np.errstate(all="ignore")
def converted(array, dtype, numbers):
    """What publish.h promises, computed by NumPy."""
    numbers = numbers or array.dtype.str[1:] in WIDE or dtype in WIDE
    kind = "f8" if {array.dtype.str[1:], dtype} & {*WIDE, "f8"} else "f4"
    values = array.astype(kind)
    if array.dtype.kind in "iu" and not numbers:
        unit = np.iinfo(array.dtype).max
        values = np.maximum(values, -unit) / values.dtype.type(unit)
    if dtype == "bool":
        return values != 0
    if np.dtype(dtype).kind == "f":
        return values.astype(kind if dtype == "f8" else "f4").astype(dtype)
    most, least = np.iinfo(dtype).max, np.iinfo(dtype).min
    unit = 1 if numbers else most
    least = -most if least and not numbers else least
    values = np.rint(np.nan_to_num(values.astype("f8"), posinf=1e30, neginf=-1e30) * unit)
    result = np.clip(values, least, most).astype(dtype)
    result[values >= most] = most  # float64 represents 2**63 - 1 as 2**63
    return result


def same(a, b):
    """Whether two arrays have the same bytes; the bits of a NaN may differ."""
    bits = f"u{a.itemsize}"
    return ((a.view(bits) == b.view(bits)) | ((a != a) & (b != b))).all()


@pytest.mark.parametrize("source", TYPES)
def test_buffers_convert_every_type_as_numpy(egl, cuda, source):
    egl.make_current()
    random = np.random.default_rng(TYPES.index(source))
    with GraphicsResource.from_gl_buffer(gl.buffer(4096)) as buffer:
        for target in TYPES:
            array = anything(random, (random.integers(1, 99), random.integers(1, 5)), source)
            expected = array if source == target else converted(array, target, False)
            grinterop.publish(buffer, array, stream=cuda, dtype=target)
            back = np.frombuffer(gl.read_buffer(buffer.gl_name, expected.nbytes), target)
            assert same(back, expected.ravel()), (source, target)


@pytest.mark.parametrize("dtype", ["u8", "i8", "f8"])
def test_elements_of_8_bytes_are_rearranged_unchanged(egl, cuda, dtype):
    """All 64 bits, which computing in float64 would not preserve."""
    egl.make_current()
    array = np.random.default_rng(3).integers(0, 2**64, (5, 8, 3), "u8").view(dtype)
    with GraphicsResource.from_gl_buffer(gl.buffer(5 * 8 * 4 * 8)) as buffer:
        grinterop.publish(buffer, array, stream=cuda, shape=(5, 8, 4), bgr=True)
        back = np.frombuffer(gl.read_buffer(buffer.gl_name, 5 * 8 * 4 * 8), dtype)
    expected = np.concatenate([array[..., ::-1], np.ones((5, 8, 1), dtype)], axis=2)
    assert back.tobytes() == expected.tobytes()


@pytest.mark.parametrize("format, stored, numbers", FORMATS)
def test_images_convert_every_type_as_numpy(egl, cuda, format, stored, numbers):
    egl.make_current()
    random = np.random.default_rng(format)
    create = functools.partial(GraphicsResource.create_gl_image, gl.TEXTURE_2D, format, 37, 5)
    with create(flags="surface_load_store") as image:
        for dtype in TYPES:
            array, there = anything(random, (5, 37), dtype), anything(random, (5, 37), stored)
            result, back = np.zeros_like(array), np.zeros_like(there)
            publish = functools.partial(grinterop.publish, image, array, stream=cuda)
            fetch = functools.partial(grinterop.fetch, image, result, stream=cuda)
            if dtype in WIDE and not numbers and stored in ("u1", "u2"):
                refuses(ValueError, publish, fetch, match="set `scale`")
                continue
            publish()
            grinterop.fetch(image, back, stream=cuda)
            cuda.sync()
            expected = array if dtype == stored else converted(array, stored, numbers)
            assert same(back, expected), (dtype, stored)
            grinterop.publish(image, there, stream=cuda)
            fetch()
            cuda.sync()
            expected = there if dtype == stored else converted(there, dtype, numbers)
            assert same(result, expected), (stored, dtype)
