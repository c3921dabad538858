/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Passes cuIpc... handles to a child in its environment, as hexadecimal digits. */
#ifndef GR_TESTS_HANDLE_TEXT_H
#define GR_TESTS_HANDLE_TEXT_H

/*
 * Both functions take a CUipcMemHandle or a CUipcEventHandle, and the name of an environment
 * variable.
 */
void put_handle(const char *name, const void *handle);
void take_handle(const char *name, void *handle);

#endif
