/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What holds for all kinds of resources. A kind that cannot exist on this machine, or for which a
 * fact cannot hold, is skipped with a reason.
 */
#include "tests/drivers/fault_driver.h"
#include "tests/kinds/kinds.h"

START(fault_control_start())
