/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of test_client_calls share. */
#ifndef GR_TESTS_CLIENT_CALLS_H
#define GR_TESTS_CLIENT_CALLS_H

#include "tests/support/driver_symbol.h"

#define SIZE ((size_t)64 * 1024)

/* The children of client_calls_context.c, client_calls_ipc.c and client_calls_ipc_event.c. */
int child_calls_before_init(void);
int child_opens_memory(void);
int child_opens_in_two_contexts(void);
int child_opens_nothing(void);
int child_opens_changed_handles(void);
int child_takes_turn(void);
int child_opens_changed_events(void);
int child_dies_before_the_record(void);
int child_goes_on_without_its_first_thread(void);

#endif
