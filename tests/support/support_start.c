/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The main() of test programs that do not have their own. */
#include "support.h"

int main(int argc, char **argv)
{
    return run_tests(argc, argv);
}
