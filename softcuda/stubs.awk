# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The common part of driver/unsupported.awk and runtime/unsupported.awk, which precedes them on the
# command line of awk. Both read the functions that the CUDA headers declare into `declared`, and
# the symbols that are implemented into `implemented`.

FILENAME == ARGV[1] {
    implemented[$1] = 1
    next
}

# Prints the C source of a stub for each function that is declared but not implemented.
#   api        the name of the API
#   header     the header that declares log_call
#   prototype  the return type and calling convention of the functions
#   log_call   the function that logs a name once and returns what the stub returns
#
# Callers pass arguments, which the stubs ignore. The headers have declared the symbols with
# parameters, so each stub has its own C name and gets the name of the symbol as its assembler name.
function write_stubs(api, header, prototype, log_call,    name, list, count, i, j) {
    print "/* Generated: the functions of " api " that are not implemented. */"
    print "#include \"" header "\"\n"
    print "#define STUB(name) \\"
    print "    " prototype " stub_##name(void) __asm__(#name) \\"
    print "        __attribute__((visibility(\"default\"))); \\"
    print "    " prototype " stub_##name(void) \\"
    print "    { \\"
    print "        static int logged; \\"
    print "        return " log_call "(&logged, #name); \\"
    print "    }\n"
    count = 0
    for (name in declared)
        if (!(name in implemented))
            list[count++] = name
    for (i = 1; i < count; i++) {
        name = list[i]
        for (j = i - 1; j >= 0 && list[j] > name; j--)
            list[j + 1] = list[j]
        list[j + 1] = name
    }
    for (i = 0; i < count; i++)
        print "STUB(" list[i] ")"
}
