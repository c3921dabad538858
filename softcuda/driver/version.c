/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one symbol that no GPU's driver has, by which a program can tell that this is the software
 * one.
 */

__attribute__((visibility("default"))) const char *gr_softcuda_version(void);

const char *gr_softcuda_version(void)
{
    return GR_LIBRARY_VERSION;
}
