/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "../osd/cudaGLVertexBuffer.h"
#include "../far/error.h"

#include <cuda_runtime.h>

namespace OpenSubdiv
{
namespace OPENSUBDIV_VERSION
{
namespace Osd
{

static void report(const char *call, const char *message)
{
    Far::Error(Far::FAR_RUNTIME_ERROR, "CudaGLVertexBuffer::%s failed: %s\n", call, message);
}

CudaGLVertexBuffer::CudaGLVertexBuffer(int numElements, int numVertices, gr_resource *resource)
    : _numElements(numElements), _numVertices(numVertices), _resource(resource)
{
}

CudaGLVertexBuffer *CudaGLVertexBuffer::Create(int numElements, int numVertices, void *)
{
    gr_gl_options any = GR_INIT(gr_gl_options);
    any.transports = GR_TRANSPORT_ANY;
    gr_resource *resource =
        gr_create_gl_buffer(sizeof(float) * numElements * numVertices, GR_READ_WRITE, &any);
    if (resource)
        return new CudaGLVertexBuffer(numElements, numVertices, resource);
    report("Create", gr_last_error()->message);
    return NULL;
}

CudaGLVertexBuffer::~CudaGLVertexBuffer()
{
    gr_buffer_release_later(_mapped);
    gr_resource_free(_resource);
}

/*
 * cudaMemcpy() of pageable memory first waits for the stream. cudaMemcpyAsync() need not wait, and
 * has read pageable memory when it returns.
 */
static cudaError_t upload(void *to, const float *from, size_t size)
{
    cudaPointerAttributes memory;
    if (cudaPointerGetAttributes(&memory, from) == cudaSuccess &&
        memory.type == cudaMemoryTypeUnregistered)
        return cudaMemcpyAsync(to, from, size, cudaMemcpyHostToDevice, 0);
    return cudaMemcpy(to, from, size, cudaMemcpyHostToDevice);
}

void CudaGLVertexBuffer::UpdateData(const float *src, int startVertex, int numVertices, void *)
{
    float *data = BindCudaBuffer();
    if (!data)
        return;
    cudaError_t copied =
        upload(data + _numElements * startVertex, src, sizeof(float) * _numElements * numVertices);
    if (copied != cudaSuccess)
        report("UpdateData", cudaGetErrorString(copied));
}

float *CudaGLVertexBuffer::BindCudaBuffer()
{
    if (!_mapped)
        _mapped = gr_map(_resource, GR_STREAM_LEGACY);
    if (!_mapped)
        report("BindCudaBuffer", gr_last_error()->message);
    return _mapped ? (float *)gr_buffer_ptr(_mapped) : NULL;
}

GLuint CudaGLVertexBuffer::BindVBO(void *)
{
    const gr_status status = gr_buffer_release(_mapped);
    if (status != GR_OK)
        report("BindVBO", gr_last_error()->message);
    if (status == GR_OK || status == GR_ERR_PARTIAL)
        _mapped = NULL;
    return gr_gl_name(_resource);
}

} // namespace Osd
} // namespace OPENSUBDIV_VERSION
} // namespace OpenSubdiv
