/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* cuSurfObject...: surface objects. */
#include "softcuda/driver/image/image_object.h"

#include <stdatomic.h>
#include <string.h>

SOFT_API cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc)
{
    soft_image object;
    memset(&object, 0, sizeof(object));
    SOFT_TRY(soft_check_context(&object.context));
    SOFT_FAIL_IF(!pSurfObject || !pResDesc || pResDesc->flags != 0 ||
                     pResDesc->resType != CU_RESOURCE_TYPE_ARRAY || !pResDesc->res.array.hArray,
                 CUDA_ERROR_INVALID_VALUE);
    soft_array *array = soft_array_get(pResDesc->res.array.hArray);
    SOFT_FAIL_IF(!array, CUDA_ERROR_INVALID_HANDLE);
    SOFT_TRY(soft_image_check_reach(object.context, array));
    /*
     * A GPU driver creates the object although the array lacks SURFACE_LDST. Programs may create
     * one per frame, so the message is logged once per array.
     */
    if (!(array->descriptor.Flags & CUDA_ARRAY3D_SURFACE_LDST) &&
        !atomic_exchange(&array->told, true))
        soft_log(SOFT_WARN,
                 "a surface object is created for %s without CUDA_ARRAY3D_SURFACE_LDST: on a GPU "
                 "its use is undefined",
                 array->what);
    object.resource = *pResDesc;
    soft_image_set_array(&object.image, array);
    return soft_image_new(&object, GR_CUHOST_SURFACE, pSurfObject);
}

SOFT_FORWARD(cuSurfObjectDestroy, (CUsurfObject surfObject),
             soft_image_destroy(surfObject, GR_CUHOST_SURFACE, "cuSurfObjectDestroy",
                                "a surface object"))
SOFT_FORWARD(cuSurfObjectGetResourceDesc, (CUDA_RESOURCE_DESC * pResDesc, CUsurfObject surfObject),
             soft_image_resource(surfObject, GR_CUHOST_SURFACE, pResDesc))
