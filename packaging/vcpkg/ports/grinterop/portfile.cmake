# SPDX-License-Identifier: Apache-2.0 OR MIT
# The tree that this folder is a part of, as an overlay port:
#
#     vcpkg install grinterop --overlay-ports=packaging/vcpkg/ports --no-binarycaching
#
# CUDA's headers are those of CUDA_HOME or CUDA_PATH, else of /usr/local/cuda. A triplet may name
# them by GRINTEROP_CUDA. A cache of binaries would not see that the tree has changed.

get_filename_component(tree "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)
if(NOT EXISTS "${tree}/configure.ac")
    message(FATAL_ERROR "The port builds the tree it lies in, and ${tree} has no configure.ac: \
name it where it is, by --overlay-ports=TREE/packaging/vcpkg/ports.")
endif()

# Copies the source, since autoreconf writes to it.
set(SOURCE_PATH "${CURRENT_BUILDTREES_DIR}/src/tree")
file(REMOVE_RECURSE "${SOURCE_PATH}")
file(GLOB sources "${tree}/configure.ac" "${tree}/*.am" "${tree}/*.in" "${tree}/*.inc"
    "${tree}/LICENSE-*")
list(FILTER sources EXCLUDE REGEX "/(Makefile|config\\.h)\\.in$")
foreach(folder bench docs examples gl include lib m4 packaging python softcuda tests tools vk)
    list(APPEND sources "${tree}/${folder}")
endforeach()
file(COPY ${sources} DESTINATION "${SOURCE_PATH}" PATTERN "__pycache__" EXCLUDE)

set(options --without-mpi --without-glfw)
if(DEFINED GRINTEROP_CUDA)
    list(APPEND options "--with-cuda=${GRINTEROP_CUDA}")
elseif(DEFINED ENV{CUDA_PATH} AND NOT DEFINED ENV{CUDA_HOME})
    list(APPEND options "--with-cuda=$ENV{CUDA_PATH}")
endif()
foreach(feature opengl vulkan)
    if(NOT feature IN_LIST FEATURES)
        list(APPEND options --without-${feature})
    endif()
endforeach()
if(NOT "softcuda" IN_LIST FEATURES)
    list(APPEND options --disable-softcuda)
endif()
if("dlpack" IN_LIST FEATURES)
    list(APPEND options "--with-dlpack=${CURRENT_INSTALLED_DIR}/include")
else()
    list(APPEND options --without-dlpack)
endif()
if("kernels" IN_LIST FEATURES)
    vcpkg_find_cuda(OUT_CUDA_TOOLKIT_ROOT toolkit)
    list(APPEND options "NVCC=${toolkit}/bin/nvcc")
else()
    list(APPEND options NVCC=no)
endif()

# The interface is C only, so one build serves debug and release. The library type is selected
# below: configure makes the static library from the objects of the shared one.
set(VCPKG_BUILD_TYPE release)
vcpkg_make_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    AUTORECONF
    LANGUAGES C CXX
    DEFAULT_OPTIONS_EXCLUDE "^--(disable|enable)-(static|shared)"
    OPTIONS ${options}
)
# Installs only the programs that users need.
vcpkg_make_install(TARGETS install-exec install-data)

if(VCPKG_LIBRARY_LINKAGE STREQUAL "static")
    # grinterop-info needs the shared library.
    file(GLOB shared "${CURRENT_PACKAGES_DIR}/lib/libgrinterop*.so*")
    file(REMOVE ${shared})
    file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/tools")
else()
    file(REMOVE "${CURRENT_PACKAGES_DIR}/lib/libgrinterop.a"
        "${CURRENT_PACKAGES_DIR}/lib/libgrinterop-compat.a")
endif()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/grinterop)
vcpkg_fixup_pkgconfig()

file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE-APACHE" "${SOURCE_PATH}/LICENSE-MIT")
