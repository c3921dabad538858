/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Views: tensors in the memory of another tensor. */
#include "lib/base/error.h"
#include "lib/base/struct_size.h"
#include "lib/tensor/tensor.h"

/* Copies and checks the description, and computes the shape. */
static gr_status prepare(const gr_tensor *tensor, const gr_tensor_desc *desc, gr_tensor_desc *own,
                         struct gr_shape *shape)
{
    GR_TRY(gr_tensor_check(tensor));
    GR_TRY(gr_tensor_refuse_array(tensor, "which has no views"));
    GR_REFUSE_IF(!desc, "`desc` is NULL: pass the description of the view.");
    GR_TRY(GR_TAKE(gr_tensor_desc, own, desc));
    GR_REFUSE_IF(own->memory && own->memory != tensor->info.memory,
                 "`memory` is %d, but that of the tensor is %d: leave the field 0.",
                 (int)own->memory, (int)tensor->info.memory);
    own->memory = tensor->info.memory;
    own->read_only = own->read_only || tensor->info.read_only;
    GR_TRY(gr_shape_init(shape, own));
    return gr_shape_check_room(shape, own->offset, tensor->room, "tensor");
}

/*
 * A view of a tensor of a mapping is a user of that mapping, too. The mapping may end meanwhile on
 * another thread, so only the tensor is read. If the tensor is an import, its own stream is not the
 * one of the mapping, whose release would not wait for the view.
 */
static gr_tensor *finish(gr_tensor *view, gr_tensor *tensor, const struct gr_shape *shape,
                         size_t offset)
{
    CUdeviceptr ptr = tensor->low + offset, low = ptr - shape->before;
    view->copied = tensor->copied;
    gr_tensor_set_memory(view, ptr, low, shape->span);
    if (tensor->user.revoke) {
        const gr_status held = gr_context_hold(&tensor->context, &view->context);
        view->info.device = tensor->info.device;
        view->user.revoke = tensor->user.revoke;
        if (gr_tensor_expose(view, held))
            gr_mapping_users_join(&tensor->user, &view->user, &view->stream);
        return held == GR_OK ? view : NULL;
    }
    gr_tensor *root = tensor->root ? tensor->root : tensor;
    gr_status status = gr_tensor_set_context(view, &tensor->context);
    view->stream = root->stream;
    view->root = root;
    if (status == GR_OK)
        gr_tensor_hold(root);
    return gr_tensor_expose(view, status);
}

gr_tensor *gr_tensor_view(gr_tensor *tensor, const gr_tensor_desc *desc)
{
    GR_CALL();
    gr_tensor_desc own;
    struct gr_shape shape;
    if (prepare(tensor, desc, &own, &shape) != GR_OK)
        return NULL;
    gr_tensor *view = gr_tensor_make(&own, &shape);
    return view ? finish(view, tensor, &shape, own.offset) : NULL;
}
