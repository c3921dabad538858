/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies between devices. */
#include "soft_devices.h"

#include <string.h>

#define HALF (SIZE / 2)

GROUP("copies between devices", add_two_case)

/*
 * Memory of cuMemAlloc can be copied between devices from any context. No peer access is necessary.
 */
TWO_TEST(copies_between_devices_need_no_access, 4)
{
    CUdeviceptr a = two.memory[0], b = two.memory[1];
    use_device(_i % 2);
    CU(Memcpy(b, a, HALF));
    assert_memory(b, HALF, DEVICE_BYTE(0));
    assert_memory(b + HALF, HALF, DEVICE_BYTE(1));
    CU(MemcpyDtoD(a, b + HALF, HALF));
    assert_memory(a, HALF, DEVICE_BYTE(1));
    assert_memory(a + HALF, HALF, DEVICE_BYTE(0));
    CU(MemcpyDtoDAsync(b, a, SIZE, two.stream[_i / 2]));
    CU(StreamSynchronize(two.stream[_i / 2]));
    assert_memory(b, HALF, DEVICE_BYTE(1));
    assert_memory(b + HALF, HALF, DEVICE_BYTE(0));
}

TWO_TEST(host_copies_reach_memory_of_another_device)
{
    unsigned char bytes[SIZE];
    memset(bytes, 0x61, sizeof(bytes));
    use_device(1);
    CU(MemcpyHtoD(two.memory[0], bytes, SIZE));
    assert_memory(two.memory[0], SIZE, 0x61);
    memset(bytes, 0, sizeof(bytes));
    CU(MemcpyDtoHAsync(bytes, two.memory[0], SIZE, two.stream[1]));
    CU(StreamSynchronize(two.stream[1]));
    assert_bytes(bytes, SIZE, 0x61);
}

TWO_TEST(row_copies_work_between_devices)
{
    const CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = two.memory[0],
                                .srcPitch = 64,
                                .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                                .dstDevice = two.memory[1],
                                .dstPitch = 128,
                                .WidthInBytes = 64,
                                .Height = 2};
    use_device(1);
    CU(Memcpy2DAsync(&rows, two.stream[1]));
    CU(StreamSynchronize(two.stream[1]));
    assert_memory(two.memory[1], 64, DEVICE_BYTE(0));
    assert_memory(two.memory[1] + 64, 64, DEVICE_BYTE(1));
    assert_memory(two.memory[1] + 128, 64, DEVICE_BYTE(0));
    assert_memory(two.memory[1] + 192, SIZE - 192, DEVICE_BYTE(1));
}

TWO_TEST(peer_copies_work_from_either_context, 2)
{
    CUdeviceptr a = two.memory[0], b = two.memory[1];
    CUcontext of_a = two.context[0], of_b = two.context[1];
    use_device(_i);
    CU(MemcpyPeer(b, of_b, a, of_a, HALF));
    assert_memory(b, HALF, DEVICE_BYTE(0));
    assert_memory(b + HALF, HALF, DEVICE_BYTE(1));
    CU(MemcpyPeerAsync(a, of_a, b + HALF, of_b, HALF, two.stream[_i]));
    CU(StreamSynchronize(two.stream[_i]));
    assert_memory(a, HALF, DEVICE_BYTE(1));
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, MemcpyPeer(b, of_b, a, of_a, SIZE + 512 * 1024 * 1024));
    SOFT_GIVES(CUDA_ERROR_INVALID_CONTEXT, MemcpyPeer(b, (CUcontext)&two, a, of_a, HALF));
}

/* Catches: a synchronous copy began before earlier work of the other device was complete. */
TWO_TEST(peer_copy_waits_for_work_of_both_devices)
{
    CUstream blocking; /* on a GPU the copy does not wait for non-blocking streams */
    use_device(0);
    CU(StreamCreate(&blocking, CU_STREAM_DEFAULT));
    struct gate *gate = gate_put(blocking);
    CU(MemsetD8Async(two.memory[0], 0x71, SIZE, blocking));
    gate_open_after(gate, 50);
    use_device(1);
    CU(MemcpyPeer(two.memory[1], two.context[1], two.memory[0], two.context[0], SIZE));
    CU(MemsetD8Async(two.memory[0], 0x72, SIZE, blocking));
    CU(StreamSynchronize(blocking));
    assert_memory(two.memory[1], SIZE, 0x71);
}

static CUDA_MEMCPY3D_PEER box_of(int i, size_t width, size_t height, size_t depth)
{
    return (CUDA_MEMCPY3D_PEER){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = two.memory[i],
                                .srcContext = two.context[i],
                                .srcPitch = width,
                                .srcHeight = height,
                                .WidthInBytes = width,
                                .Height = height,
                                .Depth = depth};
}

TWO_TEST(peer_copies_of_boxes_work_from_either_context, 2)
{
    CUDA_MEMCPY3D_PEER box = box_of(0, 16, 4, 2);
    box.dstMemoryType = CU_MEMORYTYPE_DEVICE, box.dstDevice = two.memory[1];
    box.dstContext = two.context[1], box.dstPitch = 16, box.dstHeight = 8;
    use_device(_i);
    CU(Memcpy3DPeer(&box));
    assert_memory(two.memory[1], 64, DEVICE_BYTE(0));
    assert_memory(two.memory[1] + 64, 64, DEVICE_BYTE(1));
    assert_memory(two.memory[1] + 128, 64, DEVICE_BYTE(0));
    assert_memory(two.memory[1] + 192, SIZE - 192, DEVICE_BYTE(1));
    box.dstZ = 1;
    CU(Memcpy3DPeerAsync(&box, two.stream[_i]));
    CU(StreamSynchronize(two.stream[_i]));
    assert_memory(two.memory[1] + 256, 64, DEVICE_BYTE(0));
    box.dstPitch = 8;
    CU_GIVES(CUDA_ERROR_INVALID_VALUE, Memcpy3DPeerAsync(&box, two.stream[_i]));
    SOFT_GIVES(CUDA_ERROR_INVALID_VALUE, Memcpy3DPeer(NULL)); /* the NVIDIA driver crashes */
}

static CUarray make_array(int i)
{
    const CUDA_ARRAY_DESCRIPTOR descriptor = {16, 16, CU_AD_FORMAT_UNSIGNED_INT8, 4};
    CUarray array = NULL;
    use_device(i);
    CU(ArrayCreate(&array, &descriptor));
    return array;
}

TWO_TEST(array_of_another_device_can_be_copied_but_not_sampled, 2)
{
    CUarray array = make_array(0);
    CUDA_MEMCPY3D_PEER box = box_of(1, 64, 16, 1);
    box.dstMemoryType = CU_MEMORYTYPE_ARRAY, box.dstArray = array;
    box.dstContext = two.context[0];
    const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY,
                                         .res.array.hArray = array};
    const CUDA_TEXTURE_DESC reading = {.flags = 0};
    CUtexObject texture = 0;
    unsigned char bytes[64] = {0};
    use_device(_i);
    CU(Memcpy3DPeer(&box));
    use_device(1);
    CU(MemcpyAtoH(bytes, array, 0, sizeof(bytes)));
    assert_bytes(bytes, sizeof(bytes), DEVICE_BYTE(1));
    CU_GIVES(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,
             TexObjectCreate(&texture, &resource, &reading, NULL));
}
