/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of what lies around the drivers; `root` is the folder that stands for /. */
#ifndef INFO_SURROUNDINGS_H
#define INFO_SURROUNDINGS_H

/* Versions that have to go together: kernel, driver, headers, library (versions.c). */
void say_versions(const char *root);

/* Who has the GPUs: another maker's beside it, another driver, or nobody (gpus.c). */
void say_gpus(const char *root);

/* What the program is kept in: containers, WSL, more rights than its user has (confinement.c). */
void say_confinement(const char *root);

#endif
