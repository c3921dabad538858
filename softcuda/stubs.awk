# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# What driver/unsupported.awk and runtime/unsupported.awk share: both read the CUDA headers into
# `declared`, and the symbols that there are into `implemented`. It is given to awk before them.

FILENAME == ARGV[1] {
    implemented[$1] = 1
    next
}

# The C source of a stub for each function that is declared but not implemented.
#   api        what the API is called
#   header     what declares log_call
#   prototype  a function's return type and calling convention
#   log_call   logs a name once, and gives what the stub returns
#
# Callers pass arguments, which no stub looks at. The headers have declared the symbols with them, so
# each stub has a name of its own and gets the symbol's as its assembler name.
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
