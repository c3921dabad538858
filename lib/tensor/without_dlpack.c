/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The DLPack functions in a build without the DLPack header: all fail. */
#include <grinterop/tensor.h>

#include "lib/error.h"

static void refuse(const void *given, const char *call)
{
    if (!given)
        gr_fail(GR_ERR_INVALID_VALUE, call, "The tensor is NULL.");
    else
        gr_fail(GR_ERR_UNSUPPORTED, call,
                "This grinterop was built without DLPack. Build it with configure "
                "--with-dlpack=DIR, the folder that contains dlpack/dlpack.h, or by ./bootstrap.");
}

struct DLManagedTensorVersioned *gr_tensor_dlpack(gr_tensor *tensor, CUstream consumer)
{
    (void)consumer;
    refuse(tensor, "gr_tensor_dlpack");
    return NULL;
}

struct DLManagedTensor *gr_tensor_dlpack_legacy(gr_tensor *tensor, CUstream consumer)
{
    (void)consumer;
    refuse(tensor, "gr_tensor_dlpack_legacy");
    return NULL;
}

gr_tensor *gr_tensor_from_dlpack(struct DLManagedTensorVersioned *managed, CUstream ready_on)
{
    (void)ready_on;
    refuse(managed, "gr_tensor_from_dlpack");
    return NULL;
}

gr_tensor *gr_tensor_from_dlpack_legacy(struct DLManagedTensor *managed, CUstream ready_on)
{
    (void)ready_on;
    refuse(managed, "gr_tensor_from_dlpack_legacy");
    return NULL;
}
