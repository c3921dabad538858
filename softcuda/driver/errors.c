/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The error codes of the driver API with their names and messages. */
#include "softcuda/driver/soft.h"

/* The table contains numbers, because an older cuda.h lacks the constants of newer codes. */
#define ERRORS(X)                                                                                  \
    X(0, SUCCESS, "no error")                                                                      \
    X(1, ERROR_INVALID_VALUE, "invalid argument")                                                  \
    X(2, ERROR_OUT_OF_MEMORY, "out of memory")                                                     \
    X(3, ERROR_NOT_INITIALIZED, "initialization error")                                            \
    X(4, ERROR_DEINITIALIZED, "driver shutting down")                                              \
    X(5, ERROR_PROFILER_DISABLED, "profiler disabled while using external profiling tool")         \
    X(6, ERROR_PROFILER_NOT_INITIALIZED, "profiler not initialized")                               \
    X(7, ERROR_PROFILER_ALREADY_STARTED, "profiler already started")                               \
    X(8, ERROR_PROFILER_ALREADY_STOPPED, "profiler already stopped")                               \
    X(34, ERROR_STUB_LIBRARY, "the loaded driver library is a stub")                               \
    X(36, ERROR_CALL_REQUIRES_NEWER_DRIVER, "the call requires a newer driver")                    \
    X(46, ERROR_DEVICE_UNAVAILABLE, "device is busy or unavailable")                               \
    X(100, ERROR_NO_DEVICE, "no CUDA-capable device is detected")                                  \
    X(101, ERROR_INVALID_DEVICE, "invalid device ordinal")                                         \
    X(102, ERROR_DEVICE_NOT_LICENSED, "device doesn't have a valid license")                       \
    X(200, ERROR_INVALID_IMAGE, "device kernel image is invalid")                                  \
    X(201, ERROR_INVALID_CONTEXT, "invalid device context")                                        \
    X(202, ERROR_CONTEXT_ALREADY_CURRENT, "context already current")                               \
    X(205, ERROR_MAP_FAILED, "mapping of buffer object failed")                                    \
    X(206, ERROR_UNMAP_FAILED, "unmapping of buffer object failed")                                \
    X(207, ERROR_ARRAY_IS_MAPPED, "array is mapped")                                               \
    X(208, ERROR_ALREADY_MAPPED, "resource already mapped")                                        \
    X(209, ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for the device")                 \
    X(210, ERROR_ALREADY_ACQUIRED, "resource already acquired")                                    \
    X(211, ERROR_NOT_MAPPED, "resource not mapped")                                                \
    X(212, ERROR_NOT_MAPPED_AS_ARRAY, "resource not mapped as array")                              \
    X(213, ERROR_NOT_MAPPED_AS_POINTER, "resource not mapped as pointer")                          \
    X(214, ERROR_ECC_UNCORRECTABLE, "uncorrectable ECC error encountered")                         \
    X(215, ERROR_UNSUPPORTED_LIMIT, "limit is not supported")                                      \
    X(216, ERROR_CONTEXT_ALREADY_IN_USE, "context is in use by another thread")                    \
    X(217, ERROR_PEER_ACCESS_UNSUPPORTED, "peer access is not supported")                          \
    X(218, ERROR_INVALID_PTX, "a PTX JIT compilation failed")                                      \
    X(219, ERROR_INVALID_GRAPHICS_CONTEXT, "invalid OpenGL or DirectX context")                    \
    X(220, ERROR_NVLINK_UNCORRECTABLE, "uncorrectable NVLink error detected")                      \
    X(221, ERROR_JIT_COMPILER_NOT_FOUND, "PTX JIT compiler library not found")                     \
    X(222, ERROR_UNSUPPORTED_PTX_VERSION, "PTX was compiled with an unsupported toolchain")        \
    X(223, ERROR_JIT_COMPILATION_DISABLED, "PTX JIT compilation is disabled")                      \
    X(224, ERROR_UNSUPPORTED_EXEC_AFFINITY, "execution affinity is not supported")                 \
    X(225, ERROR_UNSUPPORTED_DEVSIDE_SYNC, "device-side synchronization is not supported")         \
    X(226, ERROR_CONTAINED, "a contained error occurred")                                          \
    X(300, ERROR_INVALID_SOURCE, "device kernel source is invalid")                                \
    X(301, ERROR_FILE_NOT_FOUND, "file not found")                                                 \
    X(302, ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, "shared object symbol not found")                 \
    X(303, ERROR_SHARED_OBJECT_INIT_FAILED, "shared object initialization failed")                 \
    X(304, ERROR_OPERATING_SYSTEM, "an operating system call failed")                              \
    X(400, ERROR_INVALID_HANDLE, "invalid resource handle")                                        \
    X(401, ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state")          \
    X(402, ERROR_LOSSY_QUERY, "the query would lose information")                                  \
    X(500, ERROR_NOT_FOUND, "named symbol not found")                                              \
    X(600, ERROR_NOT_READY, "device not ready")                                                    \
    X(700, ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered")                      \
    X(701, ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch")               \
    X(702, ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated")                        \
    X(703, ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, "launch uses incompatible texturing mode")         \
    X(704, ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled")                    \
    X(705, ERROR_PEER_ACCESS_NOT_ENABLED, "peer access has not been enabled")                      \
    X(708, ERROR_PRIMARY_CONTEXT_ACTIVE, "the primary context is already active")                  \
    X(709, ERROR_CONTEXT_IS_DESTROYED, "context is destroyed")                                     \
    X(710, ERROR_ASSERT, "device-side assert triggered")                                           \
    X(711, ERROR_TOO_MANY_PEERS, "peer mapping resources exhausted")                               \
    X(712, ERROR_HOST_MEMORY_ALREADY_REGISTERED, "memory range is already page-locked")            \
    X(713, ERROR_HOST_MEMORY_NOT_REGISTERED, "memory range has not been page-locked")              \
    X(714, ERROR_HARDWARE_STACK_ERROR, "hardware stack error")                                     \
    X(715, ERROR_ILLEGAL_INSTRUCTION, "an illegal instruction was encountered")                    \
    X(716, ERROR_MISALIGNED_ADDRESS, "misaligned address")                                         \
    X(717, ERROR_INVALID_ADDRESS_SPACE, "operation not supported in this address space")           \
    X(718, ERROR_INVALID_PC, "invalid program counter")                                            \
    X(719, ERROR_LAUNCH_FAILED, "unspecified launch failure")                                      \
    X(720, ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks in cooperative launch")            \
    X(721, ERROR_TENSOR_MEMORY_LEAK, "tensor memory was not freed")                                \
    X(800, ERROR_NOT_PERMITTED, "operation not permitted")                                         \
    X(801, ERROR_NOT_SUPPORTED, "operation not supported")                                         \
    X(802, ERROR_SYSTEM_NOT_READY, "system not yet initialized")                                   \
    X(803, ERROR_SYSTEM_DRIVER_MISMATCH, "display driver and CUDA driver do not match")            \
    X(804, ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "compatibility mode is not supported here")       \
    X(805, ERROR_MPS_CONNECTION_FAILED, "MPS client failed to connect")                            \
    X(806, ERROR_MPS_RPC_FAILURE, "the remote call to the MPS server failed")                      \
    X(807, ERROR_MPS_SERVER_NOT_READY, "MPS server is not ready")                                  \
    X(808, ERROR_MPS_MAX_CLIENTS_REACHED, "MPS has no room for another client")                    \
    X(809, ERROR_MPS_MAX_CONNECTIONS_REACHED, "MPS has no room for another connection")            \
    X(810, ERROR_MPS_CLIENT_TERMINATED, "the MPS client was terminated")                           \
    X(811, ERROR_CDP_NOT_SUPPORTED, "dynamic parallelism is not supported")                        \
    X(812, ERROR_CDP_VERSION_MISMATCH, "dynamic parallelism versions do not match")                \
    X(900, ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing")   \
    X(901, ERROR_STREAM_CAPTURE_INVALIDATED, "an earlier error invalidated the capture")           \
    X(902, ERROR_STREAM_CAPTURE_MERGE, "the call would have merged two captures")                  \
    X(903, ERROR_STREAM_CAPTURE_UNMATCHED, "the capture was not begun in this stream")             \
    X(904, ERROR_STREAM_CAPTURE_UNJOINED, "the capture has an unjoined stream")                    \
    X(905, ERROR_STREAM_CAPTURE_ISOLATION, "a dependency would cross the capture's boundary")      \
    X(906, ERROR_STREAM_CAPTURE_IMPLICIT, "the capture disallows implicit dependencies")           \
    X(907, ERROR_CAPTURED_EVENT, "operation not permitted on an event last recorded in a capture") \
    X(908, ERROR_STREAM_CAPTURE_WRONG_THREAD, "the capture was begun in another thread")           \
    X(909, ERROR_TIMEOUT, "wait operation timed out")                                              \
    X(910, ERROR_GRAPH_EXEC_UPDATE_FAILURE, "the graph update was not performed")                  \
    X(911, ERROR_EXTERNAL_DEVICE, "an error occurred on a device outside of CUDA")                 \
    X(912, ERROR_INVALID_CLUSTER_SIZE, "the kernel's cluster configuration is invalid")            \
    X(913, ERROR_FUNCTION_NOT_LOADED, "the function is not loaded")                                \
    X(914, ERROR_INVALID_RESOURCE_TYPE, "resource type is not valid for the operation")            \
    X(915, ERROR_INVALID_RESOURCE_CONFIGURATION, "resource configuration is invalid")              \
    X(916, ERROR_KEY_ROTATION, "a key rotation is in progress")                                    \
    X(999, ERROR_UNKNOWN, "unknown error")

static const struct {
    int code;
    const char *name;
    const char *sentence;
} errors[] = {
#define ROW(code, name, sentence) {code, "CUDA_" #name, sentence},
    ERRORS(ROW)
#undef ROW
};

/* The index of the code's row, or -1. */
static int find_error(CUresult error)
{
    for (int i = 0; i < (int)(sizeof(errors) / sizeof(*errors)); i++)
        if (errors[i].code == (int)error)
            return i;
    return -1;
}

SOFT_API cuGetErrorName(CUresult error, const char **pStr)
{
    int row = find_error(error);
    SOFT_FAIL_IF(!pStr, CUDA_ERROR_INVALID_VALUE);
    *pStr = row < 0 ? NULL : errors[row].name;
    return row < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

SOFT_API cuGetErrorString(CUresult error, const char **pStr)
{
    int row = find_error(error);
    SOFT_FAIL_IF(!pStr, CUDA_ERROR_INVALID_VALUE);
    *pStr = row < 0 ? NULL : errors[row].sentence;
    return row < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
