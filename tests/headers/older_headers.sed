# SPDX-License-Identifier: Apache-2.0 OR MIT
# Creates the headers for tests/headers/old_program.c. They lack the last fields of some structs and
# two functions of the CUDA table, as if these had been added since.
/^    size_t offset, size;$/d
/^    const gr_map_part \*parts;$/d
/^    uint64_t key;$/d
/^    unsigned timeout_ms;$/d
/^    \(const \)*void \*nvsci_fence;$/d
/^    bool skip_nvscibuf;$/d
/^    const gr_egl \*share;$/d
/^    unsigned index;$/d
/ X(DeviceGetLuid, /d
/ X(CtxGetId, /d
