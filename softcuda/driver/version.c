/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A symbol that only this driver exports, by which a program can recognise it. */

__attribute__((visibility("default"))) const char *gr_softcuda_version(void);

const char *gr_softcuda_version(void)
{
    return GR_LIBRARY_VERSION;
}
