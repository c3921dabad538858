/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Formats the UUID of a device of any API for messages. */
#ifndef GR_LIB_BASE_UUID_TEXT_H
#define GR_LIB_BASE_UUID_TEXT_H

/* A device UUID in the form that nvidia-smi prints. `text` holds at least 41 characters. */
#define GR_UUID_TEXT_SIZE 41
void gr_uuid_text(const unsigned char uuid[16], char *text);

#endif
