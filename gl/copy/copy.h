/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The copy transport: an OpenGL object and memory of CUDA's, with pinned host memory between them.
 */
#ifndef GR_GL_COPY_COPY_H
#define GR_GL_COPY_COPY_H

#include "lib/retire.h"
#include "gl/object.h"
#include "gl/copy/transfer.h"

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

/* Makes the object a resource of this transport; frees `r` after an error, which is recorded. */
gr_resource *gl_copy_make(struct gl_resource *r, unsigned flags, const char *call);

/* Ends all of it but the event `done`; without the CUDA context there is only memory to free. */
void gl_copy_end(struct gr_retired *retired, bool alive);

/* The CUDA device to copy to where no context is current: the one that draws, else the first. */
gr_status gl_find_nearest_device(CUdevice *device);

/* ---- Images (image.c) ------------------------------------------------------------------------ */

/* Whether it is of a format that CUDA has, and OpenGL can move it. */
gr_status gl_copy_image_check(const struct gl_resource *r, const char *call);

/* Where its levels begin; the size of all. */
size_t gl_copy_image_layout(const struct gl_resource *r, size_t offsets[GL_COPY_MOST_LEVELS]);

/*
 * Makes the arrays. What was made stays in `copy` also after an error. The CUDA context is current.
 */
gr_status gl_copy_image_allocate(struct gl_resource *r, struct gl_copy *copy, unsigned flags);

/* All levels and layers between OpenGL and host memory, within a pixel state. */
void gl_copy_image_read(const struct gl_resource *r, unsigned char *to);
void gl_copy_image_write(const struct gl_resource *r, unsigned char *from);

/* And between host memory and the arrays, in the stream. */
gr_status gl_copy_image_upload(const struct gl_resource *r, unsigned char *host, CUstream stream);
gr_status gl_copy_image_download(const struct gl_resource *r, unsigned char *host, CUstream stream);

/* Operations of the backend. */
gr_status gl_copy_image_array(const gr_resource *resource, unsigned level, unsigned layer,
                              CUarray *array);
gr_status gl_copy_image_mipmapped_array(const gr_resource *resource, CUmipmappedArray *array);

#endif
