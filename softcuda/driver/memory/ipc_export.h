/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The part of ipc_export.c that cuMemFree calls. */
#ifndef GR_SOFTCUDA_DRIVER_IPC_EXPORT_H
#define GR_SOFTCUDA_DRIVER_IPC_EXPORT_H

/*
 * Called when cuMemAlloc memory that starts at `base` is freed: other processes can then no longer
 * open it.
 */
void soft_ipc_unexport(const void *base);

#endif
