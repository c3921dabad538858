/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks for the programs in this folder. Each program prints the first error, or returns 0. */
#ifndef EXPECT_H
#define EXPECT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime.h>

#define CUDA(call)                                                                                 \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    cudaGetErrorString(error_));                                                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define EXPECT(condition, ...)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: check failed: %s: ", __FILE__, __LINE__, #condition);          \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* An array on the device with a copy on the host. */
template <class T> struct numbers {
    T *device;
    T *host;
    size_t count;

    explicit numbers(size_t n) : count(n)
    {
        host = static_cast<T *>(calloc(n, sizeof(T)));
        CUDA(cudaMalloc((void **)&device, n * sizeof(T)));
    }
    ~numbers()
    {
        cudaFree(device);
        free(host);
    }
    void send() { CUDA(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice)); }
    void fetch()
    {
        CUDA(cudaGetLastError());
        CUDA(cudaMemcpy(host, device, count * sizeof(T), cudaMemcpyDeviceToHost));
    }
    T &operator[](size_t i) { return host[i]; }
};

#endif
