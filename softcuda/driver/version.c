/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A symbol that only this driver exports. A program can recognise the driver by it. */

__attribute__((visibility("default"))) const char *gr_softcuda_version(void);

const char *gr_softcuda_version(void)
{
    return GR_LIBRARY_VERSION;
}
