# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Writes a C file with a stub for every function of the driver API that is not implemented. A stub
# returns CUDA_ERROR_NOT_SUPPORTED and logs the name of its function once. Called by the Makefile as
#
#     awk -f ../stubs.awk -f unsupported.awk implemented.txt cuda.h cudaGL.h > unsupported.c
#
# implemented.txt has one symbol per line, as nm lists them for the objects. The headers are those
# of the installed CUDA Toolkit; cudaProfiler.h can follow. Stubs are written for the symbols that
# the headers declare when __CUDA_API_VERSION_INTERNAL is defined. Functions are renamed by #define
# and #undef lines, which are therefore evaluated in the order of the file.

# Matches #define cuX cuX_v2 and #define cuX __CUDA_API_PTSZ(cuX_v2).
/^[ \t]*#[ \t]*define[ \t]+cu[A-Z]/ {
    sub(/^[ \t]*#[ \t]*define[ \t]+/, "")
    name = $1
    target = $2
    if (name ~ /\(/ || target !~ /^(cu[A-Z]|__CUDA_API_PT[DS][SZ]\(cu[A-Z])[A-Za-z0-9_]*\)?$/)
        next
    if (target ~ /^__CUDA_API_PTDS/)
        sub(/\)$/, "_ptds", target)
    else
        sub(/\)$/, "_ptsz", target)
    sub(/^__CUDA_API_PT[DS][SZ]\(/, "", target)
    renamed[name] = target
    next
}

/^[ \t]*#[ \t]*undef[ \t]+cu[A-Z]/ {
    sub(/^[ \t]*#[ \t]*undef[ \t]+/, "")
    delete renamed[$1]
    next
}

# A declaration. The name of the function follows its type on the same line, or begins the next
# line. Functions for Windows are skipped.
/CUresult[ \t]+CUDAAPI[ \t]+cu[A-Z]/ {
    sub(/^.*CUresult[ \t]+CUDAAPI[ \t]+/, "")
    name_follows = 1
}

name_follows && match($0, /^cu[A-Z][A-Za-z0-9_]*/) {
    name = substr($0, 1, RLENGTH)
    split("", seen)
    while (name in renamed && !(name in seen)) { # a macro doesn't expand within itself
        seen[name] = 1
        name = renamed[name]
    }
    if (name !~ /^cuWGL/)
        declared[name] = 1
}

{
    name_follows = /CUresult[ \t]+CUDAAPI[ \t]*$/
}

END {
    write_stubs("the driver API", "softcuda/driver/soft.h", "CUresult CUDAAPI", "soft_unsupported")
}
