/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Creates OpenGL buffers in the memory of tensors. */

#include "lib/base/error.h"
#include "lib/base/struct_size.h"
#include "lib/tensor/tensor.h"
#include "gl/shared/shared.h"

static gr_status check_options(const gr_gl_options *options, const char *call)
{
    const char *wrong = options->packed           ? "packed"
                        : options->share_group    ? "share_group"
                        : options->follow_storage ? "follow_storage"
                        : options->in_flight      ? "in_flight"
                                                  : NULL;
    GR_TRY(gr_transports_check(options->transports, call));
    GR_REFUSE_IF(options->transports && !(options->transports & GR_TRANSPORT_SHARED), call,
                 "The buffer has the memory of the tensor, so it needs GR_TRANSPORT_SHARED, which "
                 "`transports` (0x%x) does not allow: add it, or leave `transports` 0.",
                 options->transports);
    if (!wrong)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "`%s` is set, but the buffer has the memory of the tensor and no other: leave "
                   "it 0.",
                   wrong);
}

/* Precedes the check of the memory, since OpenGL ES cannot use exportable memory either. */
static gr_status check_context(struct gl_context *context, const char *call)
{
    GR_TRY(gl_context_begin(context, call, "will own the object"));
    return gl_context_refuse_es(context, "A buffer in the memory of a tensor",
                                "direct state access",
                                "gr_publish() with a buffer of gr_from_gl_buffer()", call);
}

static gr_status attempt(void *wish, const struct gr_transport_choice *choice,
                         gr_transport transport)
{
    (void)choice, (void)transport;
    return gl_shared_create(wish);
}

gr_resource *gr_create_gl_buffer_of(gr_tensor *tensor, unsigned flags, const gr_gl_options *options)
{
    struct gl_wish wish = {.flags = flags, .call = __func__, .choice.call = __func__};
    gr_gl_options own;
    if (GR_TAKE(gr_gl_options, &own, options, __func__) != GR_OK ||
        check_options(&own, __func__) != GR_OK || gr_tensor_check(tensor, __func__) != GR_OK ||
        check_context(&wish.context, __func__) != GR_OK)
        return NULL;
    wish.memory = gr_tensor_memory_make(tensor, flags, __func__);
    if (!wish.memory)
        return NULL;
    gr_transport_add(&wish.choice, GR_TRANSPORT_SHARED, GR_TRANSPORT_SHARED);
    gr_status status = gr_choose_transport(&wish.choice, attempt, &wish);
    gr_tensor_memory_drop(wish.memory);
    return gl_object_finish(wish.made, status, &wish.choice, __func__);
}
