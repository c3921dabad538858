/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What holds for all kinds of resources. A kind that cannot exist on this machine, or for which a
 * fact cannot hold, is skipped with a reason.
 */
#include "facts.h"

#include "tests/drivers/fault_driver.h"

START(fault_control_start())
