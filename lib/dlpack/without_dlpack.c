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

void *gr_tensor_to_dlpack(gr_tensor *tensor, gr_dlpack form, CUstream consumer)
{
    (void)form;
    (void)consumer;
    refuse(tensor, __func__);
    return NULL;
}

gr_tensor *gr_tensor_from_dlpack(void *managed, gr_dlpack form, CUstream ready_on)
{
    (void)form;
    (void)ready_on;
    refuse(managed, __func__);
    return NULL;
}
