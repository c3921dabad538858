/* SPDX-License-Identifier: Apache-2.0 */
/* What a copy needs of CUDA's: events, pinned host memory, device memory. */
#ifndef GR_GL_COPY_MEMORY_H
#define GR_GL_COPY_MEMORY_H

#include "lib/retire.h"
#include "gl/object.h"

/* No image has more levels. */
#define GL_COPY_MOST_LEVELS 32

/* What a resource of this transport has beside its struct gl_resource. */
struct gl_copy {
    struct gr_retired retired; /* where a stream still works with it when the resource is closed */
    size_t size;               /* bytes of the object as CUDA sees it */
    CUdeviceptr ptr;           /* of a buffer */
    /*
     * Bytes on their way. A second half only where maps can run ahead of the stream, which is with
     * read_only: the other releases wait for it.
     */
    unsigned char *host[2];
    CUevent passed[2]; /* the stream has read what a map left in that half */
    unsigned half;     /* the one that was used last */
    CUevent done;      /* the stream is through with the last mapping */
    struct gl_names *scratch;
    /* Of an image: where levels begin in the host memory, and all levels of each layer. */
    size_t offsets[GL_COPY_MOST_LEVELS];
    CUmipmappedArray whole; /* a copy of all layers in one, once it was asked for */
    unsigned layer_count;
    CUmipmappedArray layers[];
};

/* Ends all of it but the event `done`; without the CUDA context there is only memory to free. */
void gl_copy_end(struct gr_retired *retired, bool alive);

#endif
