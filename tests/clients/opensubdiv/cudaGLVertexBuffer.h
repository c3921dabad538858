/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Replaces OpenSubdiv's header of this name: the same class on grinterop. */
#ifndef OPENSUBDIV3_OSD_CUDA_GL_VERTEX_BUFFER_H
#define OPENSUBDIV3_OSD_CUDA_GL_VERTEX_BUFFER_H

#include "../version.h"
#include "../osd/opengl.h"

#include <grinterop/gl.h>

namespace OpenSubdiv
{
namespace OPENSUBDIV_VERSION
{
namespace Osd
{

class CudaGLVertexBuffer
{
public:
    /* Returns NULL after an error. */
    static CudaGLVertexBuffer *Create(int numElements, int numVertices, void *deviceContext = NULL);
    ~CudaGLVertexBuffer();

    /* Writes a range of vertices; the other vertices keep their values. */
    void UpdateData(const float *src, int startVertex, int numVertices, void *deviceContext = NULL);
    int GetNumElements() const { return _numElements; }
    int GetNumVertices() const { return _numVertices; }

    /* Map and release the buffer if necessary. */
    float *BindCudaBuffer();
    GLuint BindVBO(void *deviceContext = NULL);

private:
    CudaGLVertexBuffer(int numElements, int numVertices, gr_resource *resource);
    CudaGLVertexBuffer(const CudaGLVertexBuffer &) = delete;

    int _numElements, _numVertices;
    gr_resource *_resource;
    gr_buffer *_mapped = NULL;
};

} // namespace Osd
} // namespace OPENSUBDIV_VERSION
using namespace OPENSUBDIV_VERSION;
} // namespace OpenSubdiv

#endif
