#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Settings to run grinterop-nvcc from the build folder. Sourced by test scripts.
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
# The compiler does not start if the sanitizer library is preloaded.
unset LD_PRELOAD
# Removes ccache from the command.
NVCC_CCBIN=${CXX##* }
export NVCC_CCBIN

# sanitize: prints the options that build a program with the sanitizer of this build, or nothing.
sanitize() {
    case ${GR_SANITIZER:-no} in
    no | '') ;;
    *) printf -- '-Xcompiler -fsanitize=%s' "$(echo "$GR_SANITIZER" | sed 's/,/\\,/g')" ;;
    esac
}
