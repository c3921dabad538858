# Makes the headers that tests/headers/old_program.c is compiled with: as if the last fields of some
# structs, and two functions of CUDA's table, had been added since.
/^    size_t offset, size;$/d
/^    uint64_t key;$/d
/^    unsigned timeout_ms;$/d
/^    \(const \)*void \*nvsci_fence;$/d
/^    bool skip_nvscibuf;$/d
/^    const gr_egl \*share;$/d
/^    unsigned index;$/d
/ X(DeviceGetLuid, /d
/ X(CtxGetId, /d
