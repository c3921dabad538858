# SPDX-License-Identifier: Apache-2.0 OR MIT
"""wheel.py FOLDER: checks that the wheel installed in FOLDER is self-contained.

Tests a map, a tensor and a publish on the software driver, that no other grinterop library is
loaded, and, unless under the emulator GR_TEST_EMULATOR, the commands of `python -m grinterop`.
"""

import json
import os
import subprocess
import sys

import grinterop

GL_TEXTURE_2D, GL_RGBA8 = 0x0DE1, 0x8058


def libraries():
    """The grinterop and libepoxy files that this process has loaded."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        files = {line.split(None, 5)[5].strip() for line in maps if "/" in line}
    return sorted(
        file
        for file in files
        if not file.startswith("/memfd:")
        and ("grinterop" in file.rsplit("/", 1)[1] or "epoxy" in file)
    )


def command(*arguments):
    """The output of `python -m grinterop`, without a setting that chooses the driver."""
    settings = {name: value for name, value in os.environ.items() if name != "GR_CUDA_DRIVER"}
    words = [sys.executable, "-m", "grinterop", *arguments]
    return subprocess.run(words, env=settings, check=False, stdout=subprocess.PIPE).stdout.decode()


def check_commands(folder):
    driver = command("libcuda").strip() + "/libcuda.so.1"
    assert driver.startswith(folder) and os.path.isfile(driver), driver
    code = "import ctypes; print(ctypes.CDLL('libcuda.so.1').cuInit(0)); import grinterop; " \
        "grinterop.cuda_load(); print(grinterop.cuda_is_software())"
    assert command("run", "-c", code) == "0\nTrue\n", command("run", "-c", code)
    assert json.loads(command("--json")), command("--json")
    assert "libcuda.so.1" in command("--help")


def main():
    folder = sys.argv[1]
    if not os.environ.get("GR_TEST_EMULATOR"):
        check_commands(folder)
    grinterop.cuda_load(allow_software=True)
    stream, egl = grinterop.CudaContext(0), grinterop.EglContext(0)
    buffer = grinterop.GraphicsResource.create_gl_buffer(4096)
    with buffer.map(stream=stream) as mapped:
        assert mapped.handle and mapped.size == 4096
        assert mapped.tensor((32, 32), "float32").nbytes == 4096
    image = grinterop.GraphicsResource.create_gl_image(
        GL_TEXTURE_2D, GL_RGBA8, 8, 4, 1, flags="surface_load_store"
    )
    pixels = grinterop.Tensor.create((4, 8, 3), "uint8", stream=stream)
    grinterop.publish(image, pixels, stream=stream)
    found = libraries()
    assert len(found) == 4, found
    assert all(file.startswith(folder) for file in found), found
    print(f"grinterop {grinterop.__version__}: map and publish by {grinterop.cuda_driver_path()}")
    print(f"drawn by {egl.describe()}")


main()
