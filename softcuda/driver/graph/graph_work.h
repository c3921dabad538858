/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The tasks of streams that can be nodes of graphs, and the descriptions of their payloads. The
 * file that queues a task defines these functions.
 */
#ifndef GR_SOFTCUDA_DRIVER_GRAPH_WORK_H
#define GR_SOFTCUDA_DRIVER_GRAPH_WORK_H

#include "softcuda/driver/graph/capture_point.h"

void soft_launch_run(void *payload);
void soft_launch_describe(void *payload, CUDA_KERNEL_NODE_PARAMS *params);
/* A payload holds the module of its kernel. soft_launch_run() drops one reference. */
void soft_launch_hold(const void *payload);
void soft_launch_drop(const void *payload);

void soft_copy_run(void *payload);
void soft_copy_describe(const void *payload, CUDA_MEMCPY3D *params);

void soft_fill_run(void *payload);
void soft_fill_describe(const void *payload, CUDA_MEMSET_NODE_PARAMS *params);

void soft_host_call_run(void *payload);
void soft_host_call_describe(const void *payload, CUDA_HOST_NODE_PARAMS *params);

#endif
