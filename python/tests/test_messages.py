# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Messages name what Python has: its functions, parameters and values, not those of C.

Here each message in the source code is checked; conftest.py checks those of all tests.
"""

import ast
import functools
import os
import pickle
import re
import socket
from pathlib import Path

import grinterop
import numpy as np
import pytest
from grinterop import GraphicsResource, _errors

import gl
from conftest import C_NAMES, refuses

TOP = Path(os.environ.get("GR_SOURCE", "."))
needs_source = pytest.mark.skipif("GR_SOURCE" not in os.environ, reason="needs the source folder")

LITERALS = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"\s*(?:[A-Z]\w{3,}\s*)?)+')
CALLS = re.compile(r"(?:PyErr_(?:SetString|Format|WarnFormat)|wrong_type|wrong_value)\([^;]*;")

# Mistakes that Python code cannot make: the extension passes valid pointers, structs and
# enumerators, and calls no function with these names.
OF_C = re.compile(
    "is None|struct_size|gr_cuda\\(\\)|room for only|`points`|`bytes` is"
    "|Set `type`|through_host|`type` to VK|gr_vk_submit_fill|info_v1"
    "|gr_dlpack:"
    "|`use_count`|`uses` is NULL"
    "|gr_semaphore_create_vk|^gr_(?:resource_free|buffer_release_later): |VkSemaphore\\.$"
)

# The members of the dict that describes an image.
MEMBERS = {"cube", "srgb", "normalized", "levels", "layers", "width", "height", "depth", "format"}


def texts(path):
    source = re.sub(r"/\*.*?\*/|^\s*#.*?$", "", path.read_text(), flags=re.S | re.M)
    for found in LITERALS.finditer(source):
        text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found[0]))
        if " " in text.strip():
            yield text


def names_of_python():
    stub = ast.parse(Path(grinterop.__file__).with_name("_grinterop.pyi").read_text())
    nodes = list(ast.walk(stub))
    names = {node.arg for node in nodes if isinstance(node, ast.arg)}
    return names | {node.name for node in nodes if isinstance(node, ast.FunctionDef)} | MEMBERS


@needs_source
def test_messages_of_the_library_have_python_names():
    """Catches: make_current(NULL), cuda_load(true), z_near, `chroma`, gr_gl_options.packed, ..."""
    python, wrong, count = names_of_python() - {"target"}, [], 0
    files = [file for part in ("lib", "gl", "vk") for file in (TOP / part).rglob("*.c")]
    for file in (file for file in files if "compat" not in file.parts):
        for text in map(_errors._python_names, texts(file)):
            count += 1
            foreign = set(re.findall("`(\\w+)`", text)) - python
            if (foreign or C_NAMES.search(text)) and not OF_C.search(text):
                wrong.append(f"{file.name}: {text}")
    assert not wrong and count > 800


@needs_source
def test_messages_of_the_package_have_python_names():
    wrong, count = [], 0
    for file in (TOP / "python/src").glob("*.c"):
        for call in CALLS.findall(file.read_text()):
            count += 1
            wrong += [text for text in re.findall('"[^"]*"', call) if C_NAMES.search(text)]
    assert not wrong and count > 60


@needs_source
def test_functions_of_the_library_have_python_names():
    """Checks each function that the extension calls, but those that cannot fail."""
    sources = "".join(file.read_text() for file in (TOP / "python/src").glob("*.c"))
    called = set(re.findall(r"\b(gr_\w+)\(", sources))
    silent = "_(free|functions|info|interrupt|later|name)$"
    missing = {name for name in called if _errors._python_names(name) == name}
    assert all(re.search(silent, name) for name in missing) and len(called) > 60


def test_import_errors_name_the_arguments(cuda):
    image = {"format": "u8", "channels": 4, "width": 4, "height": 4}
    for given, expected in ({"length": 100}, "A length of 0"), ({"image": image, "length": 7},
                                                                 "Set `length` to 0; `size`"):
        with pytest.raises(ValueError, match=expected):
            GraphicsResource.from_fd(0, 64, **given)


def test_import_errors_name_the_call(cuda):
    """Catches: "GraphicsResource: ..." for each import."""
    for call in (
        lambda: GraphicsResource.from_fd(-1, 64),
        lambda: GraphicsResource.from_win32(1, 64),
        lambda: GraphicsResource.from_nvscibuf(1, 64),
        lambda: grinterop.Semaphore.from_fd(-1),
        lambda: grinterop.Semaphore.from_win32(1),
        lambda: grinterop.Semaphore.from_nvscisync(1),
    ):
        with pytest.raises(grinterop.CUDAError) as caught:
            call()
        name = call.__code__.co_names[-1]
        assert f".{name}" in str(caught.value), str(caught.value)


def test_arguments_of_a_wrong_type_are_named(egl, vbo, cuda):
    """Catches: Python's own texts, such as "'str' object cannot be interpreted as an integer"."""
    egl.make_current()
    one = GraphicsResource.from_gl_buffer(vbo)
    image = GraphicsResource.create_gl_image(gl.TEXTURE_2D, gl.RGBA8, 4, 4)
    tensor = grinterop.Tensor.create((4, 4, 4), stream=cuda)
    ring = grinterop.Ring([GraphicsResource.create_gl_buffer(64)])
    alloc, fetch = grinterop.Tensor.create, grinterop.fetch_framebuffer
    for refused, words in (
        (lambda: grinterop.CudaContext("0"), "^device: expected an integer"),
        (lambda: grinterop.EglContext(0, "4"), "^major: expected an integer"),
        (lambda: grinterop.VulkanDevice.headless("0"), "^cuda_device: expected an integer"),
        (lambda: GraphicsResource.from_fd("0", 64), "^fd: expected an integer"),
        (lambda: GraphicsResource.from_win32(1.5, 64), "^handle: expected an integer"),
        (lambda: grinterop.Semaphore.from_nvscisync(""), "^object: expected an integer"),
        (lambda: grinterop.Tensor.from_memory("0", 4), "^pointer: expected an integer"),
        (lambda: grinterop.Ring(one), "^resources: expected a sequence of GraphicsResources"),
        (lambda: ring.resize(one), "^resources: expected a sequence of GraphicsResources"),
        (lambda: grinterop.Submit(5), "^resources: expected a sequence of GraphicsResources"),
        (lambda: grinterop.map_many(one, stream=cuda), "^resources: expected a sequence"),
        (lambda: ring.acquire_read("1"), "^n: expected an integer"),
        (lambda: ring.acquire_read(1, 2), r"^acquire_read\(\) takes at most 1 positional"),
        (lambda: one.wait("1"), "^timeout: expected a number"),
        (lambda: one.map(stream=cuda, flags=1.5), "^flags: expected names"),
        (lambda: alloc(1.5), "^shape: expected an integer or several"),
        (lambda: alloc((1, "2")), "^shape: expected an integer"),
        (lambda: alloc(4, strides=4), "^strides: expected integers"),
        (lambda: alloc((np.zeros(3, "f4"), 2)), "^shape: expected an integer, not .*ndarray"),
        (lambda: grinterop.Tensor.from_memory(np.zeros(3), 3), "^pointer: .*Tensor.from_dlpack"),
        (lambda: GraphicsResource.from_gl_buffer(np.zeros(3)), "^gl_buffer: expected an integer"),
        (lambda: image.texture(border=5), "^border: expected four numbers"),
        (lambda: image.texture(border=(1, 2, 3, "4")), "^border: expected a number"),
        (lambda: image.texture(address=5), "^address: expected a mode, or three"),
        (lambda: image.texture(mip_bias=""), "^mip_bias: expected a number"),
        (lambda: image.surface(1, 2, 3), r"^surface\(\) takes at most 2"),
        (lambda: fetch(0, tensor, stream=cuda, near=""), "^near: expected a number"),
        (lambda: grinterop.publish(image, tensor, stream=cuda, scale="x"), "^scale: expected"),
        (lambda: grinterop.publish(image, tensor, stream=cuda, bgr=""), "^bgr: expected True"),
        (lambda: grinterop.publish(image, one, stream=cuda), "pass the Buffer that map"),
    ):
        refuses(TypeError, refused, match=words)
    refuses(AttributeError, lambda: np.from_dlpack(one), match="pass the Buffer that map")
    refuses(ValueError, lambda: image.texture(address=["clamp"]), match="nor three of them")
    for flags in ("texture_gather", "bad", 9, ["read_only", "write_discard"]):
        refuses(ValueError, lambda: one.map(stream=cuda, flags=flags), match="^flags: .*a map has")
    image.close()
    one.close()


def test_refused_argument_is_the_one_that_is_named(cuda):
    """Catches: the first argument with the same value was named, though it may be negative."""
    refuses(ValueError, lambda: grinterop.Semaphore.from_fd(-1, value=-1), match="^value: -1")
    refuses(ValueError, lambda: GraphicsResource.from_fd(-1, -1), match="^size: -1")


def test_texts_of_the_library_have_python_names(egl, vbo, doomed):
    """Catches: GR_TRANSPORT_INTEROP in a reason, and gr_resource_close in a warning."""
    stream, destroy = doomed
    egl.make_current()
    for transport in ("interop", "shared", "copy", "peer"):
        reason = grinterop.gl_probe(transport).reason
        assert reason and not C_NAMES.search(reason), reason
    resource = GraphicsResource.from_gl_buffer(vbo)
    destroy()
    with pytest.warns(RuntimeWarning, match=r"\(?GraphicsResource.close") as caught:
        resource.close()
    assert not C_NAMES.search(str(caught[0].message))
    for call in (lambda: grinterop.map_many([], stream=stream), lambda: grinterop.Submit([]),
                 lambda: grinterop.Ring([])):
        refuses(ValueError, call, match="`resources` is empty")


def test_mistakes_are_described_in_terms_of_python(egl, vbo, cuda):
    """Catches: `data` is None, leave them 0, and -3 is negative without the name of the argument.
    Catches: fill() of a mapped image did nothing.
    """
    egl.make_current()
    create = functools.partial(GraphicsResource.create_gl_image, gl.TEXTURE_2D, gl.RGBA8)
    tensor = grinterop.Tensor.create((4, 4, 4), stream=cuda)
    here, _there = socket.socketpair()
    image, buffer = create(4, 4), GraphicsResource.from_gl_buffer(vbo, stream=cuda)
    with here, _there, image, buffer as buffer:
        publish = functools.partial(grinterop.publish, image, tensor, stream=cuda)
        with image.map(stream=cuda) as mapped:
            for refused, words in (
                (lambda: mapped.fill(0, stream=cuda), r"map_linear\(\).*\(Buffer.fill\)"),
                (lambda: mapped.copy_to(buffer, stream=cuda), r"\(Buffer.copy_to\)"),
                (lambda: mapped.copy_from(buffer, stream=cuda), r"\(Buffer.copy_from\)"),
            ):
                refuses(grinterop.StateError, refused, match=words)
            with pytest.raises(AttributeError) as caught:
                mapped.__cuda_array_interface__
            assert not C_NAMES.search(str(caught.value))
        for refused, words in (
            (lambda: grinterop.Tensor.from_memory(0, 4), "`pointer` is 0"),
            (lambda: publish(shape=4), "`shape`.* omit them"),
            (lambda: publish(x=-1), "^x: -1 is negative"),
            (lambda: create(-3, 4), "^width: -3 is negative"),
            (lambda: create(4, height=-3), "^height: -3 is negative"),
            (lambda: GraphicsResource.create_gl_buffer(-64), "^size: -64 is negative"),
            (lambda: create(2**20, 4), r"at most.*\(GraphicsResource.create_gl_image\)"),
            (lambda: create(4, 4, flags="write_discard", in_flight=4, transports="copy"),
             'which `transports` does not allow: add it, or omit `transports`'),
            (lambda: GraphicsResource.create_gl_buffer(64, transports="shared").send(
                here, bytes(2**17)), "^`data` has 131072 bytes, but a message has"),
        ):
            refuses(grinterop.InvalidValueError, refused, match=words)
        for refused, words in (
            (lambda: create(4, 4, transports="interop|copy"), r"\(several: a list of names\);"),
            (lambda: create(4, 4, flags="read_only surface"), r'several by "\|", or pass a list'),
        ):
            refuses(ValueError, refused, match=words)
        for refused, words in (
            (lambda: image.map(cuda), "stream is a keyword-only argument"),
            (lambda: publish(width="4"), "^width: expected an integer"),
            (lambda: create(4, 4.0), "^height: expected an integer"),
            (lambda: GraphicsResource.from_gl_buffer(image), "moderngl: .glo"),
            (lambda: grinterop.fetch_framebuffer(image, tensor, stream=cuda), "moderngl: .glo"),
        ):
            refuses(TypeError, refused, match=words)


@pytest.mark.parametrize("status", ["GR_ERR_CUDA", *_errors._CLASSES])
def test_exceptions_pickle(status):
    error = _errors._make(status, 1, 400, "CUDA_ERROR_INVALID_HANDLE", "gr_map", "Text.")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and vars(again) == vars(error) and again.args == error.args
