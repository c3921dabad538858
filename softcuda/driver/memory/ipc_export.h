/* SPDX-License-Identifier: Apache-2.0 */
/* What cuMemFree tells ipc_export.c. */
#ifndef GR_SOFTCUDA_DRIVER_IPC_EXPORT_H
#define GR_SOFTCUDA_DRIVER_IPC_EXPORT_H

/* Memory of cuMemAlloc that starts there is freed: other processes find it no longer. */
void soft_ipc_forget(const void *base);

#endif
