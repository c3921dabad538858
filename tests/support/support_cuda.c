/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* See support_cuda.h. */
#include "support.h"

CUcontext current_context(void)
{
    CUcontext context = NULL;
    CU(CtxGetCurrent(&context));
    return context;
}

CUcontext new_context(CUstream *stream)
{
    CUcontext context = NULL;
    CU(CtxCreate(&context, 0, fx.device));
    if (stream)
        CU(StreamCreate(stream, CU_STREAM_NON_BLOCKING));
    return context;
}

void end_context(CUcontext context)
{
    CU(CtxDestroy(context));
    CU(CtxSetCurrent(fx.context));
}

void launch_kernel(CUmodule module, const char *name, size_t count, void **parameters)
{
    CUfunction function = NULL;
    CU(ModuleGetFunction(&function, module, name));
    CU(LaunchKernel(function, (unsigned)((count + 63) / 64), 1, 1, 64, 1, 1, 0, fx.stream,
                    parameters, NULL));
}

static CUstream capturing;

void drop_capture(void)
{
    CUgraph graph = NULL;
    if (capturing)
        fx.cu->StreamEndCapture(capturing, &graph);
    if (graph)
        fx.cu->GraphDestroy(graph);
    capturing = NULL;
}

static void capture_in(CUstream stream, CUstreamCaptureMode mode)
{
    CUgraph graph = NULL;
    size_t nodes = 0;
    CUstream last = capturing;
    capturing = NULL;
    if (last) {
        CU(StreamEndCapture(last, &graph));
        CU(GraphGetNodes(graph, NULL, &nodes));
        CU(GraphDestroy(graph));
    }
    ck_assert_uint_eq(nodes, 0);
    if (stream)
        CU(StreamBeginCapture(stream, mode));
    capturing = stream;
}

void capture_graph(CUstream stream)
{
    capture_in(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

void capture_graph_relaxed(CUstream stream)
{
    capture_in(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
}

CUDA_MEMCPY2D array_copy(CUarray array, void *host, size_t row, size_t height, bool to_array)
{
    CUDA_MEMCPY2D copy = {.WidthInBytes = row, .Height = height};
    copy.srcMemoryType = to_array ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    copy.dstMemoryType = to_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    copy.srcArray = copy.dstArray = array;
    copy.srcHost = copy.dstHost = host;
    copy.srcPitch = copy.dstPitch = row;
    return copy;
}

void copy_array(CUarray array, void *host, size_t row, size_t height, bool to_array)
{
    const CUDA_MEMCPY2D copy = array_copy(array, host, row, height, to_array);
    CU(Memcpy2DAsync(&copy, fx.stream));
}
