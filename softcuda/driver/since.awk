# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Writes the table of the CUDA versions that introduced each function of the driver API, for
# cuGetProcAddress. The cudaTypedefs.h of the installed CUDA Toolkit has these versions in its type
# names, such as PFN_cuMemAlloc_v2000 and PFN_cuMemAlloc_v3020. Called by the Makefile as
#
#     awk -f since.awk cudaTypedefs.h cudaGLTypedefs.h > since.c

{
    line = $0
    while (match(line, /PFN_cu[A-Z][A-Za-z0-9]*_v[0-9]+/)) {
        name = substr(line, RSTART + 4, RLENGTH - 4)
        line = substr(line, RSTART + RLENGTH)
        version = name
        sub(/_v[0-9]+$/, "", name)
        sub(/^.*_v/, "", version)
        if (!(name in since) || version + 0 < since[name])
            since[name] = version + 0
    }
}

END {
    print "/* Made by since.awk from the toolkit's cudaTypedefs.h. */"
    print "#include \"softcuda/driver/soft.h\""
    print ""
    print "const struct soft_since soft_since[] = {"
    for (name in since)
        printf "    {\"%s\", %d},\n", name, since[name]
    print "    {NULL, 0},"
    print "};"
}
