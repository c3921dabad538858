/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The DLPack functions in a build without the DLPack header: all fail. */
#include <grinterop/tensor.h>

#include "lib/base/error.h"

static void refuse(const void *given, const char *call)
{
    if (!given)
        gr_fail(GR_ERR_INVALID_VALUE, call, "The tensor is NULL.");
    else
        gr_fail(GR_ERR_UNSUPPORTED, call,
                "This grinterop was built without DLPack. Build it with configure "
                "--with-dlpack=DIR, the folder that contains dlpack/dlpack.h, or by ./bootstrap.");
}

#define REFUSED(made, call, given)                                                                 \
    made *call(given *from, CUstream stream)                                                       \
    {                                                                                              \
        (void)stream;                                                                              \
        refuse(from, #call);                                                                       \
        return NULL;                                                                               \
    }

REFUSED(struct DLManagedTensorVersioned, gr_tensor_to_dlpack, gr_tensor)
REFUSED(struct DLManagedTensor, gr_tensor_dlpack_legacy, gr_tensor)
REFUSED(gr_tensor, gr_tensor_from_dlpack, struct DLManagedTensorVersioned)
REFUSED(gr_tensor, gr_tensor_from_dlpack_legacy, struct DLManagedTensor)
