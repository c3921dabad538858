/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Adds ID3D12Device::CreateSharedHandle to the Direct3D 12 of Wine, which returns E_NOTIMPL, by the
 * linker option --wrap=D3D12CreateDevice. A shared buffer is a section of Windows, copied to the
 * buffer when CUDA signals a fence, and back when CUDA waits. The section of a shared fence has the
 * functions of follower_driver.h.
 */
#ifndef GR_TESTS_D3D12_HANDLES_H
#define GR_TESTS_D3D12_HANDLES_H

#include <stdbool.h>
#include <stddef.h>

extern struct d3d12_handles {
    bool added;        /* set it before D3D12CreateDevice(); otherwise nothing changes */
    size_t size;       /* the size of the allocation of the shared buffer */
    const char *wrong; /* a wrong argument of the program; NULL: none */
} d3d12_handles;

#endif
