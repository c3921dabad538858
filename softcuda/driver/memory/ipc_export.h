/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Called by cuMemFree. */
#ifndef GR_SOFTCUDA_DRIVER_IPC_EXPORT_H
#define GR_SOFTCUDA_DRIVER_IPC_EXPORT_H

/* Memory of cuMemAlloc that starts there is freed: other processes can no longer open it. */
void soft_ipc_unexport(const void *base);

#endif
