#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The settings by which grinterop-nvcc works in the build folder: a test script sources this.
#
# tools   the build folder
# source  the source folder

: "${tools:?}" "${source:?}"
export LC_ALL=C
unset NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS NVCC_CCBIN
GR_NVCC_INCLUDE=$source/softcuda/nvcc/include,$source/softcuda/include,$source/include
GR_NVCC_LIBRARY=$tools/.libs
GR_CUDA_INCLUDE=${CUDA_CPPFLAGS#-isystem }
export GR_NVCC_INCLUDE GR_NVCC_LIBRARY
if [ -n "$GR_CUDA_INCLUDE" ]; then export GR_CUDA_INCLUDE; else unset GR_CUDA_INCLUDE; fi
# The compiler does not start with the sanitizer's library put before it.
unset LD_PRELOAD
# Without ccache before it.
NVCC_CCBIN=${CXX##* }
export NVCC_CCBIN

# sanitize: the options that give a program the sanitizer of this build, or nothing.
sanitize() {
    case ${GR_SANITIZER:-no} in
    no | '') ;;
    *) printf -- '-Xcompiler -fsanitize=%s' "$(echo "$GR_SANITIZER" | sed 's/,/\\,/g')" ;;
    esac
}
