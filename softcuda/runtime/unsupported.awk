# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Writes a C file with a stub for every unimplemented runtime API function. A stub returns
# cudaErrorNotSupported and logs the name of its function once. Called by the Makefile as
#
#     awk -f ../stubs.awk -f unsupported.awk implemented.txt cuda_runtime_api.h cuda_gl_interop.h > unsupported.c
#
# implemented.txt has one symbol per line, as nm lists them for the objects. The headers are those
# of the installed CUDA Toolkit. If the headers rename a function for the per-thread default stream,
# the function has two symbols.

# Matches #define cudaX __CUDART_API_PTSZ(cudaX).
/^[ \t]*#[ \t]*define[ \t]+cuda[A-Z][A-Za-z0-9]*[ \t]+__CUDART_API_PT[DS][SZ]\(/ {
    sub(/^[ \t]*#[ \t]*define[ \t]+/, "")
    declared[$1 ($2 ~ /PTDS/ ? "_ptds" : "_ptsz")] = 1
    next
}

# A declaration. All functions that do not return a cudaError_t are implemented.
/cudaError_t[ \t]+CUDARTAPI[ \t]+cuda[A-Z]/ {
    sub(/^.*CUDARTAPI[ \t]+/, "")
    match($0, /^[A-Za-z0-9_]+/)
    name = substr($0, 1, RLENGTH)
    if (name !~ /^cudaWGL/)
        declared[name] = 1
}

END {
    write_stubs("the runtime API", "softcuda/runtime/runtime.h", "cudaError_t CUDARTAPI",
        "rt_unsupported")
}
