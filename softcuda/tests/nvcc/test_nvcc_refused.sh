#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# test_nvcc_refused.sh: the errors and warnings of grinterop-nvcc, and the lines that they report.
#
# GR_TOOLS  the folder of grinterop-nvcc; default: the build folder, which is the current folder

suite=nvcc_refused
# shellcheck source=softcuda/tests/nvcc/nvcc_cases.sh
. "$(dirname "$0")/nvcc_cases.sh"

echo 'int host() { return 0; }' >host.cpp
check no_file 1 "$nvcc" && says err 'no file'
check march 1 given -march=native -c one.cu && says err 'no option -march' -Xcompiler
check lists 1 given --list-gpu-arch && says err 'lists the GPUs'
check script 1 given -hls=gen-lcs one.o && says err 'remove both'
check unknown 1 given -c one.cu --frobnicate && says err --frobnicate -Xcompiler
check no_value 1 given -c one.cu -o && says err '-o needs a value'
check ptx 1 given -ptx one.cu && says err 'only nvcc generates'
check two_outputs 1 "$nvcc" -c one.cu host.cpp -o both.o && says err 'one file'
check cufft 1 given one.cu -lcufft && says err 'only on GPUs'
check bits 1 given -m32 -c one.cu && says err '64-bit'
check no_headers 1 "$nvcc" --cuda-include "$work" -c one.cu && says err cuda_runtime.h PyPI
check no_compiler 1 given -ccbin "$work/nothing" -c one.cu && says err -ccbin
check no_source bad "$nvcc" -c nothing.cu && says err nothing.cu

# wrong NAME LINE TEXT: NAME.cu must be refused with an error that has this line and text.
wrong() {
    check "$1" bad "$nvcc" -c "$1.cu" && says err "$1.cu:$2" "$3"
    if [ -e "$1.o" ]; then fail "object file created"; fi
}
cat >assembly.cu <<'END'
__device__ unsigned lane()
{
    unsigned id;
    asm("mov.u32 %0, %laneid;" : "=r"(id));
    return id;
}
END
wrong assembly 4 'cannot run PTX'
# without NAME HEADER OTHER [OPTION]...: a program that includes HEADER must be refused with a
# message that names the library, the first part of HEADER. The program includes OTHER only for
# nvcc, so OTHER must have no effect.
without() {
    library=$1 header=$2
    printf '#ifndef __GRINTEROP_NVCC__\n#include <%s>\n#endif\n\n#include <%s>\n' \
        "$3" "$header" >library.cu
    shift 3
    check "$library" bad "$nvcc" "$@" -c library.cu || return
    refused="error: ${header%%[/._]*} runs only on GPUs.*__GRINTEROP_NVCC__"
    if ! grep -qi "^library.cu:5: $refused" err; then
        fail "does not refuse $header"
    fi
}
mkdir -p system/thrust system/cub own
for header in cufft.h cublas_v2.h curand.h npp.h nvrtc.h thrust/sort.h cub/cub.cuh; do
    : >"system/$header"
    without "found_$header" "$header" missing.h -isystem system
done
for header in npp_none.h thrust/none.h cub/none.cuh cufft_none.h; do
    without "missing_$header" "$header" cublas_none.h
done
echo 'typedef int cufftHandle;' >own/cufft.h # a replacement for the library header
printf '#include <cufft.h>\ncufftHandle plan;\n' >library.cu
check own_header 0 "$nvcc" -Iown -c library.cu
if [ -e /usr/local/cuda/include/curand_kernel.h ]; then
    echo '#include <curand_kernel.h>' >library.cu
    check curand_kernel 0 "$nvcc" -c library.cu
fi
cat >reference.cu <<'END'

texture<float, 2> image;
END
wrong reference 2 cudaCreateTextureObject
cat >mistake.cu <<'END'
__global__ void kernel(int *out)
{
    __shared__ int tile[4];
    *out = tile[0] +
        missing;
}
END
wrong mistake 5 missing
# Catches: in kernels, calls of functions by a qualified name were not checked.
cat >host_calls.cu <<'END'
namespace tools
{
int twice(int a) { return 2 * a; }
}
int elsewhere(int a);
template <class T> T halved(T a) { return a; }
__global__ void kernel(int *out)
{
    const auto inner = [](int a) { return 3 + tools::twice(a); };
    out[0] = 2 * elsewhere(inner(1));
}
__device__ int device(int a) { return ::elsewhere(a); }
template <class T> __global__ void any(T *out)
{
    if (halved(*out))
        *out = 0;
}
void start(int *out) { any<<<1, 1>>>(out); }
END
wrong host_calls 9 'calling a __host__ function("twice") from a __global__ function("kernel")'
says err 'host_calls.cu:10: error: calling a __host__ function("elsewhere") from' \
    'host_calls.cu:12: error: calling a __host__ function("elsewhere") from a __device__' \
    'host_calls.cu:15: error: calling a __host__ function("halved") from a __global__'
check calls 0 "$nvcc" -c "$programs/calls.cu" -o calls.o
if grep -q 'warning:' err; then fail "warnings"; fi
cat >by_architecture.cu <<'END'
#ifdef __CUDA_ARCH__
#define FOR_BOTH __host__ __device__
#else
#define FOR_BOTH
#endif
FOR_BOTH int maybe(int a) { return a; }
__global__ void kernel(int *out) { *out = maybe(1); }
END
check by_architecture 0 "$nvcc" -c by_architecture.cu &&
    says err 'by_architecture.cu:7: warning: calling a __host__ function("maybe")' __CUDA_ARCH__
cat >inner.cu <<'END'
__global__ void kernel(int *out)
{
    __shared__ volatile int data[32];
    int sum = 0;
    data[threadIdx.x] = 1;
    if ((sum = data[threadIdx.x] += 2) > 2)
        *out = sum;
}
END
check inner_write 0 "$nvcc" -c inner.cu && says err 'inner.cu:6: warning: lanes do not run'
# Catches: a kernel that is empty without __CUDA_ARCH__ did nothing, without a warning.
cat >emptied.cu <<'END'
__global__ void all(int *out)
{
#if __CUDA_ARCH__ >= 300
    *out = 1;
#endif
}
__global__ void behind_numbers(int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef __CUDA_ARCH__
    if (i < n)
        out[i] = 1;
#endif
}
__global__ void other(int *out)
{
#if __CUDA_ARCH__ >= 300
    *out = 1;
#else
    *out = 2;
#endif
}
__global__ void none(int *) {}
END
check emptied 0 "$nvcc" -c emptied.cu && says err \
    'emptied.cu:1: warning: kernel all does nothing: __CUDA_ARCH__ is not defined' \
    'emptied.cu:7: warning: kernel behind_numbers does nothing' 'or build with -D__CUDA_ARCH__=800'
if grep -E 'kernel (other|none) does' err >/dev/null; then fail "warns about other kernels"; fi
check not_emptied 0 "$nvcc" -D__CUDA_ARCH__=800 -c emptied.cu
if grep -F 'does nothing' err >/dev/null; then fail "warns although __CUDA_ARCH__ is defined"; fi
cat >call.cu <<'END'
__global__ void kernel(int *out, float f) { *out = (int)f; }
int main()
{
    kernel<<<1,
        1>>>(1.0f, "text");
}
END
wrong call 5 ''
cat >old.cu <<'END'
int main()
{
    cudaThreadSynchronize();
    cudaThreadSetCacheConfig(cudaFuncCachePreferL1);
    cudaThreadExit();
}
END
check old_names 0 "$nvcc" -DcudaThreadSynchronize=cudaDeviceSynchronize \
    -DcudaThreadExit=cudaDeviceReset -DcudaThreadSetCacheConfig=cudaDeviceSetCacheConfig -c old.cu
cat >open.cu <<'END'
__global__ void kernel() {}
int main() { kernel<<<1, 1; }
END
wrong open 2 'no >>>('

ended
