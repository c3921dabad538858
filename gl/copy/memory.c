/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Frees the memory and the events of the copy transport. */
#include "gl/copy/memory.h"

#include <stdlib.h>

#include "lib/driver.h"
#include "lib/external/import.h"

void gl_copy_end(struct gr_retired *retired, bool alive)
{
    const gr_cuda_api *cu = gr_driver();
    struct gl_copy *copy = (struct gl_copy *)retired;
    for (unsigned i = 0; alive && i < copy->layer_count; i++)
        if (copy->layers[i])
            cu->MipmappedArrayDestroy(copy->layers[i]);
    if (alive && copy->whole)
        cu->MipmappedArrayDestroy(copy->whole);
    if (alive && copy->ptr)
        cu->MemFree(copy->ptr);
    if (copy->staging.shared)
        gr_import_drop(copy->staging.shared, alive);
    else if (alive && copy->staging.bytes)
        cu->MemHostUnregister(copy->staging.bytes);
    for (int i = 0; alive && i < GL_COPY_MOST_PIECES && copy->piece_ends[i]; i++)
        cu->EventDestroy(copy->piece_ends[i]);
    for (int i = 0; alive && i < 2; i++) {
        if (copy->host[i] && !copy->staging.bytes)
            cu->MemFreeHost(copy->host[i]);
        if (copy->passed[i])
            cu->EventDestroy(copy->passed[i]);
    }
    gl_names_end(copy->scratch); /* the OpenGL objects, which CUDA no longer uses */
    free(copy);
}
