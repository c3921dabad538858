# SPDX-License-Identifier: Apache-2.0 OR MIT
"""PNG files, progress, and the common setup of the examples."""

import argparse
import importlib.util
import struct
import sys
import zlib
from pathlib import Path


def write_png(path, width, height, rgba, bottom_up=True):
    """Writes RGBA bytes to a PNG file. If `bottom_up`, the bytes begin with the bottom row, as in
    OpenGL, otherwise with the top row.
    """

    def chunk(kind, data):
        whole = kind + data
        return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))

    rows = [rgba[4 * width * y : 4 * width * (y + 1)] for y in range(height)]
    if bottom_up:
        rows.reverse()
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 6)
    Path(path).write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


def progress(done, total, what):
    """Prints a line at every tenth of the way."""
    if 10 * done // total != 10 * (done - 1) // total:
        print(f"{done}/{total} {what}", file=sys.stderr)


def options(description, frames, output):
    """The argument parser that the examples share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--frames", type=int, default=frames, help=f"how many; {frames}")
    parser.add_argument("--output", type=Path, default=Path(output), help=f"folder; {output}")
    parser.add_argument("--size", default="960x540", help="of the picture; 960x540")
    return parser


def parse(parser):
    """Parses the arguments, adds width and height, and creates the output folder."""
    arguments = parser.parse_args()
    try:
        arguments.width, arguments.height = (int(number) for number in arguments.size.split("x"))
    except ValueError:
        parser.error(f"--size {arguments.size} is invalid, expected a size like 960x540")
    if arguments.frames < 1 or min(arguments.width, arguments.height) < 1:
        parser.error("at least one frame of one pixel is required")
    arguments.output.mkdir(parents=True, exist_ok=True)
    return arguments


def missing(what, reason):
    """Exits with a message: something that the program needs is missing."""
    sys.exit(f"{Path(sys.argv[0]).name} needs {what}: {reason}")


def begin(allow_software=True):
    """A CUDA context with a stream, and a windowless OpenGL context on the same GPU."""
    import grinterop

    try:
        grinterop.cuda_load(allow_software=allow_software)
        if grinterop.cuda_is_software() and not allow_software:
            missing("a GPU", "the software driver does not support this example")
        return grinterop.CudaContext(0), grinterop.EglContext(0)
    except grinterop.CUDAError as error:
        missing("a GPU with OpenGL" + " or the software driver" * allow_software, error)


def arrays():
    """An array module and the stream of its work: CuPy or PyTorch, or NumPy on the software driver.
    """
    import grinterop

    grinterop.cuda_load(allow_software=True)
    if grinterop.cuda_is_software():
        import numpy
        return numpy, grinterop.CudaContext(0)
    if importlib.util.find_spec("cupy"):
        import cupy
        cupy.zeros(1)  # makes the CUDA context current
        return cupy, cupy.cuda.get_current_stream()
    try:
        import torch
        torch.zeros(1, device="cuda")
        return torch, torch.cuda.current_stream()
    except (ImportError, RuntimeError, AssertionError) as error:  # also: built without CUDA
        missing("CuPy, PyTorch or GR_CUDA_DRIVER=soft", error)


def begin_torch(torch):
    """The PyTorch device, and its stream. With the software driver, tensors are on the CPU."""
    import grinterop

    context, egl = begin()
    if grinterop.cuda_is_software():
        return "cpu", context, egl
    if not torch.cuda.is_available():
        missing("a PyTorch that sees the GPU", f"PyTorch {torch.__version__} does not")
    torch.cuda.init()
    return "cuda", torch.cuda.current_stream(), egl
