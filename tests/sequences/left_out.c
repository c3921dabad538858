/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The public functions that the sequences do not call, with the tests that cover them. */
#include "calls.h"

const struct left_out left_out[] = {
    LEFT_OUT(gr_compat, "returns CUDA error codes, checked by test_compat"),
    LEFT_OUT(gr_cuda_context_create,
             "its stream and context equal those of the steps here: test_driver"),
    LEFT_OUT(gr_cuda_context_free,
             "its stream and context equal those of the steps here: test_driver"),
    LEFT_OUT(gr_cuda_table, "gr_cuda() calls it, once per source file"),
    LEFT_OUT(gr_egl_free, "called by the steps gr_egl_create and gl_current"),
    LEFT_OUT(gr_egl_make_current, "called by the steps gr_egl_create and gl_current"),
    LEFT_OUT(gr_from_vk_image,
             "errors in its arguments are Vulkan errors: test_vk_image, test_vk_create"),
    LEFT_OUT(gr_ring_receive,
             "the end of one side waits for the other, which is on this thread: test_share"),
    LEFT_OUT(gr_ring_send,
             "the end of one side waits for the other, which is on this thread: test_share"),
    LEFT_OUT(gr_semaphore_from_vk,
             "takes a semaphore of the program; its errors are Vulkan errors: test_vk_sync"),
    LEFT_OUT(gr_semaphore_import,
             "takes handles of another API, which the driver cannot check: test_external"),
    LEFT_OUT(gr_vk_cmd_from_cuda, "no status reports errors in recorded commands: test_vk_barrier"),
    LEFT_OUT(gr_vk_cmd_to_cuda, "no status reports errors in recorded commands: test_vk_barrier"),
    LEFT_OUT(gr_vk_headless_create,
             "each run creates one device with it; test_vk_device covers its life"),
    LEFT_OUT(gr_vk_headless_free,
             "each run creates one device with it; test_vk_device covers its life"),
    LEFT_OUT(gr_vk_headless_get,
             "each run creates one device with it; test_vk_device covers its life"),
    LEFT_OUT(gr_vk_submit_fill, "no status reports errors in recorded commands: test_vk_barrier"),
    {0},
};
