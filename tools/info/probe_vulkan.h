/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of Vulkan's buffers and images; what: see probe.h. */
#ifndef INFO_PROBE_VULKAN_H
#define INFO_PROBE_VULKAN_H

#include "tools/info/probe_try.h"

bool probe_vulkan(struct probe_try *t);

#endif
