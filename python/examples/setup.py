# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Builds rasterizer.c. CUDAExtension of PyTorch takes the same arguments."""

import grinterop
from setuptools import Extension, setup

files = {"include_dirs": [grinterop.get_include()], "extra_objects": [grinterop.get_library()]}
setup(ext_modules=[Extension("rasterizer", ["rasterizer.c"], **files)])
