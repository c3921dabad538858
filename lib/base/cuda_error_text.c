/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Remedies for CUDA driver codes that do not name the cause. After a failed cuInit() the usual
 * causes are checked: device nodes and the system.
 */
#include "lib/base/cuda_error_text.h"

#include <stdio.h>

#include "lib/base/machine.h"

#define ASK_NVIDIA_SMI "nvidia-smi shows whether the driver of this machine works."

static const char *sentence(CUresult code)
{
    switch (code) {
    case CUDA_ERROR_STUB_LIBRARY:
        return "This file is the stub for linking programs: remove its folder, lib64/stubs, from "
               "LD_LIBRARY_PATH.";
    case CUDA_ERROR_NO_DEVICE:
        return "The driver sees no GPU: check CUDA_VISIBLE_DEVICES, and in a container "
               "NVIDIA_VISIBLE_DEVICES and --gpus.";
    case CUDA_ERROR_OPERATING_SYSTEM:
        return "The operating system refused a call of the driver: the user's rights, a container "
               "or a sandbox may deny access to the GPU, or NVIDIA's OpenGL driver is missing "
               "(libnvidia-gl, NVIDIA_DRIVER_CAPABILITIES with graphics).";
    case CUDA_ERROR_SYSTEM_NOT_READY:
        return "A service that the GPUs of this machine need is not running yet. On machines with "
               "NVSwitches it is nvidia-fabricmanager.";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        return "The kernel driver and this file have different versions: restart after an update, "
               "or mount the host's driver into the container.";
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        return "This file is from the forward compatibility package (cuda-compat), which does not "
               "support this GPU: remove its folder from LD_LIBRARY_PATH, or update the machine's "
               "driver.";
    case CUDA_ERROR_UNKNOWN:
        return "Often /dev/nvidia-uvm is missing (nvidia-modprobe -u creates it) or was broken by "
               "a suspend (reload the module nvidia_uvm).";
    default:
        return ASK_NVIDIA_SMI;
    }
}

/* Whether missing or inaccessible device nodes can be the cause. */
static bool may_be_device_nodes(CUresult code)
{
    return code == CUDA_ERROR_NO_DEVICE || code == CUDA_ERROR_OPERATING_SYSTEM ||
           code == CUDA_ERROR_UNKNOWN;
}

void gr_init_advise(CUresult code, char *text, size_t size)
{
    /* A Tegra without /dev/dri returns CUDA_ERROR_NOT_SUPPORTED. */
    if (gr_machine_is_tegra() && (may_be_device_nodes(code) || code == CUDA_ERROR_NOT_SUPPORTED))
        snprintf(text, size,
                 "This is a Tegra, where CUDA needs /dev/nvmap, which is %s, and "
                 "/dev/dri/renderD128, which is %s: join their groups (often video and render); "
                 "start a container with --runtime nvidia.",
                 gr_machine_node("/dev/nvmap"), gr_machine_node("/dev/dri/renderD128"));
    else if (!may_be_device_nodes(code))
        snprintf(text, size, "%s", sentence(code));
    else if (!gr_machine_has_nodes())
        snprintf(text, size, "%s", code == CUDA_ERROR_NO_DEVICE ? sentence(code) : ASK_NVIDIA_SMI);
    else if (gr_machine_is_wsl())
        snprintf(text, size,
                 "This is WSL, where the GPU is /dev/dxg, which is %s. libcuda.so.1 must be the "
                 "one in /usr/lib/wsl/lib, which comes with the Windows driver: install no Linux "
                 "driver; update the Windows driver, and WSL by wsl --update.",
                 gr_machine_node("/dev/dxg"));
    else
        snprintf(text, size,
                 "%s Here /dev/nvidiactl is %s, /dev/nvidia0 is %s and /dev/nvidia-uvm is %s.",
                 sentence(code), gr_machine_node("/dev/nvidiactl"), gr_machine_node("/dev/nvidia0"),
                 gr_machine_node("/dev/nvidia-uvm"));
}

bool gr_cuda_is_sticky(CUresult code)
{
    switch (code) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
        return true;
    default:
        return false;
    }
}

const char *gr_cuda_advice(CUresult code)
{
    if (code == CUDA_ERROR_OUT_OF_MEMORY)
        return " Is the GPU memory full, or has the process reached its limit of pinned memory? "
               "nvidia-smi shows which processes use the GPU memory.";
    if (code == CUDA_ERROR_CONTEXT_IS_DESTROYED)
        return " The CUDA context must outlive the objects created in it: free them, and create "
               "them again in another context.";
    if (gr_cuda_is_sticky(code))
        return " This error persists from earlier work in the CUDA context, such as a kernel. "
               "Check that work (compute-sanitizer), and create the context again.";
    return "";
}
