# SPDX-License-Identifier: Apache-2.0 OR MIT
"""grinterop for Conan 2, built from the tree of this file:

    conan create packaging/conan -o cuda=/usr/local/cuda

It uses the libepoxy and the EGL, Vulkan, CUDA and DLPack headers of the system, because OpenGL also
comes from the system. The options name the folders of the CUDA and DLPack headers.
"""

import os
import re

from conan import ConanFile
from conan.tools.files import copy, load, rm, rmdir
from conan.tools.gnu import Autotools, AutotoolsToolchain
from conan.tools.layout import basic_layout
from conan.tools.system.package_manager import Apt

ROOT = os.path.join("..", "..")
FOLDERS = "bench docs examples gl include lib m4 packaging python softcuda tests tools vk".split()
# The libraries, and the names of their CMake targets.
LIBRARIES = {"grinterop": "grinterop", "grinterop-compat": "compat"}
# configure builds the shared and the static library, because the static library is made from the
# objects of the shared one. package() selects one of them.
KINDS = ("--enable-shared", "--disable-shared", "--enable-static", "--disable-static")


class Grinterop(ConanFile):
    name = "grinterop"
    license = "Apache-2.0 OR MIT"
    description = "CUDA on memory that OpenGL or Vulkan draws with"
    topics = ("cuda", "opengl", "vulkan", "interop")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "cuda": ["ANY"], "dlpack": ["ANY"], "nvcc": ["ANY"]}
    default_options = {"shared": True, "cuda": "", "dlpack": "no", "nvcc": "no"}

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, ROOT, "configure.ac"))
        self.version = re.search(r"AC_INIT\(\[grinterop\], \[(.*?)\]", text).group(1)

    def export_sources(self):
        root = os.path.join(self.recipe_folder, ROOT)
        for pattern in ("configure.ac", "*.am", "*.in", "*.inc", "LICENSE-*", "NEWS", "README.md"):
            copy(self, pattern, root, self.export_sources_folder, excludes="*/*")
        for folder in FOLDERS:
            copy(self, folder + "/*", root, self.export_sources_folder)

    def configure(self):
        self.settings.rm_safe("compiler.cppstd")
        self.settings.rm_safe("compiler.libcxx")

    def layout(self):
        basic_layout(self, src_folder=".")

    def system_requirements(self):
        Apt(self).check(["libepoxy-dev", "libegl-dev", "libgl-dev", "libvulkan-dev"])

    def generate(self):
        toolchain = AutotoolsToolchain(self)
        toolchain.configure_args = [
            option
            for option in toolchain.configure_args
            if not option.startswith(KINDS)
        ]
        cuda, dlpack = str(self.options.cuda), str(self.options.dlpack)
        if cuda:
            toolchain.configure_args.append(f"--with-cuda={cuda}")
        toolchain.configure_args.append(f"--with-dlpack={dlpack}")
        toolchain.configure_args.append("--without-mpi")
        toolchain.configure_args.append(f"NVCC={self.options.nvcc}")
        toolchain.generate()

    def build(self):
        autotools = Autotools(self)
        autotools.autoreconf()
        autotools.configure()
        kind = "la" if self.options.shared else "a"
        for library in LIBRARIES:
            autotools.make(f"lib{library}.{kind}")

    def package(self):
        autotools = Autotools(self)
        # Build only the programs that are installed.
        for target in ("install-exec", "install-data"):
            autotools.install(target=target)
        copy(self, "LICENSE-*", self.source_folder, os.path.join(self.package_folder, "licenses"))
        libraries = os.path.join(self.package_folder, "lib")
        rm(self, "*.la", libraries, recursive=True)
        rmdir(self, os.path.join(libraries, "pkgconfig"))
        rmdir(self, os.path.join(libraries, "cmake"))
        rmdir(self, os.path.join(self.package_folder, "share", "man"))
        unwanted = "a" if self.options.shared else "so*"
        for library in LIBRARIES:
            rm(self, f"lib{library}.{unwanted}", libraries)

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "grinterop")
        self.cpp_info.set_property("cmake_target_name", "grinterop::all")
        for library, target in LIBRARIES.items():
            component = self.cpp_info.components[target]
            component.libs = [library]
            component.set_property("cmake_target_name", f"grinterop::{target}")
            component.set_property("pkg_config_name", library)
            if not self.options.shared:
                component.system_libs = ["epoxy", "dl", "pthread"]
        self.cpp_info.components["compat"].requires = ["grinterop"]
        driver = os.path.join(self.package_folder, "lib", "grinterop", "libgrinterop-softcuda.so")
        self.runenv_info.define_path("GRINTEROP_SOFTWARE_DRIVER", driver)
