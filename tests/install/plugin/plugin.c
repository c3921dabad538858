/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A plug-in that contains the static library. host.c loads it. */
#include <grinterop/driver.h>
#include <grinterop/gr.h>

__attribute__((visibility("default"))) const char *plugin_fail(void);
__attribute__((visibility("default"))) int plugin_use(void);

/* Records an error in the library of the plug-in, and returns the message. */
const char *plugin_fail(void)
{
    gr_resource_unmap(NULL, GR_STREAM_NONE);
    return gr_last_error()->message;
}

/* Loads a driver, and leaves an object open. */
int plugin_use(void)
{
    return gr_cuda_load(true) == GR_OK && gr_cuda_context_create(0);
}
