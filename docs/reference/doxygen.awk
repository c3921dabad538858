# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Prints a public header with Doxygen's markup: awk -f comment.awk -f doxygen.awk HEADER. Lines are
# converted one to one, so that warnings have the line numbers of the header.
#
#     a comment above a declaration, or beside a member   documents it
#     "---- Errors ----"                                  begins a section
#     declarations without an empty line between them     share one comment

# Escapes special characters of Markdown and HTML, except between backticks.
function escape(text,    piece, count, i) {
    count = split(text, piece, /`/)
    text = ""
    for (i = 1; i <= count; i++) {
        if (i % 2) {
            gsub(/[<*#@]/, "\\\\&", piece[i])
            gsub(/__/, "\\_\\_", piece[i])
            gsub(/\.\.\./, "\\&hellip;", piece[i])
        }
        text = text (i > 1 ? "`" : "") piece[i]
    }
    return text
}

# A grinterop error code as a link, anything else in bold.
function link_code(text) { return text ~ /^GR_ERR_[A-Z_]+$/ ? "#" text : "**" escape(text) "**" }

# Converts one line of a comment, without its leading " * ".
function body(text) {
    classify(text)
    if (kind == "blank" || kind == "code") return text
    if (kind == "heading") return "@par " kind_name
    if (kind == "label" || kind == "errors") return "@label{" kind_name "} " escape(kind_text)
    if (kind == "item")
        return "- " link_code(kind_name) (kind_text == "" ? "" : ": " escape(kind_text))
    return (kind == "more" ? "  " : "") escape(kind_text)
}

# Splits "size_t width, height;" into two fields with the same comment.
function each_field(line,    type, names, n, i, all) {
    if (line !~ /,/) return line
    type = line
    sub(/ [*A-Za-z_0-9[\]]+,.*/, "", type)
    n = split(substr(line, length(type) + 1, length(line) - length(type) - 1), names, /, */)
    all = type names[1] ";"
    for (i = 2; i <= n; i++)
        all = all " /** " field_text " */" type " " names[i] ";"
    return all
}

function open_comment() {
    in_comment = 1
    begin_comment()
    spoken = ""
}

function close_comment() {
    in_comment = 0
    fresh = !beside
    beside = 0
}

# Converts one line of an open comment, and closes the comment if it ends here.
function go_on(text,    ended) {
    ended = sub(/ *\*\/ *$/, "", text)
    sub(/^ *\* ?/, "", text)
    text = body(text)
    spoken = spoken " " text
    if (ended) {
        close_comment()
        return text " */"
    }
    return text
}

FNR == 1 {
    cpp = FILENAME ~ /pp$/
    # The rest of these headers is not documentation.
    top_alone = FILENAME ~ /\/(compat|cuhost)\.h$/
    print "/** @file */"
    next
}

in_comment { print " * " go_on($0); next }

# The first comment documents the file.
/^\/\*$/ && !had_file {
    had_file = 1
    open_comment()
    print "/** @file"
    next
}
top_alone { print ""; next }
/^\/\* ---- .* -+ \*\/$/ {
    title = $0
    gsub(/^\/\* -+ | -+ \*\/$/, "", title)
    print (in_section ? "/** @} */ " : "") "/** @name " title " */ /** @{ */"
    in_section = 1
    fresh = 0
    next
}
/^ *\/\*/ {
    indent = $0
    sub(/\/.*/, "", indent)
    sub(/^ *\/\* ?/, "")
    open_comment()
    print indent "/** " go_on($0)
    next
}

# The error codes are in a macro with their names and texts.
/^    X\(GR_/ {
    split($0, part, /[(,]/)
    codes = codes part[2] " =" part[3]
}
/^    X\(GR_.*"/ || (/^ +"/ && codes != "") {
    split($0, part, "\"")
    codes = codes " /**< " part[2] " */, "
}
/^typedef enum gr_status \{/ {
    print "/** The classes of errors. gr_last_error() has the details. */ " \
        "typedef enum gr_status { " codes "} gr_status;"
    next
}
# The members of the table of driver functions are not documented one by one.
/^    GR_CUDA_FUNCTIONS\(GR_CUDA_MEMBER\)/ { print ""; next }
/^    size_t struct_size;$/ { print $0 " /**< The size of the struct: GR_INIT() sets it. */"; next }

# A comment beside a member.
!/^#/ && /[;,{0-9A-Za-z] +\/\* / && !/^ +\*/ {
    at = index($0, "/*")
    before = substr($0, 1, at - 1)
    after = substr($0, at + 2)
    sub(/^ /, "", after)
    open_comment()
    beside = 1
    print before "/**< " go_on(after)
    next
}

# List values without a comment, too.
/^    GR_[A-Z0-9_]+ = [0-9a-fx]+,?$/ && !fresh { print $0 " /**< &nbsp; */"; next }

/^$/ { fresh = shared = 0; print; next }

# C++: a member's text names the C function that it calls, or is the comment of the members above.
/^protected:/ { print "/** @cond */ " $0; hidden = 1; next }
/^public:/ && hidden { print "/** @endcond */ " $0; hidden = 0; next }
cpp && !fresh && /^    [a-z:A-Z].*([;})]|\) const)$/ && !/^    (return|throw|check|template) / {
    if (match($0, /gr_[a-z_]+\(/)) text = substr($0, RSTART, RLENGTH) ")."
    else text = field_text
    print (text == "" ? "" : "/** " text " */ ") (/[(]/ ? $0 : each_field($0))
    next
}

# A declaration directly below a documented one shares its comment.
/^GR_API / && shared && !fresh {
    print "/** @copydoc " shared " */ " $0
    next
}
/^    [A-Za-z].*;$/ && field_text != "" && !fresh && !/[(){}]/ {
    print "    /** " field_text " */ " each_field($0)
    next
}
{
    if (/^GR_API / && fresh) {
        shared = $0
        sub(/\(.*/, "", shared)
        sub(/.*[ *]/, "", shared)
    }
    if (fresh && /^    [A-Za-z].*([;})]|\) const)$/) {
        field_text = spoken
        if (!cpp && !/[(){}]/) $0 = each_field($0)
    }
    if (/^[^ ]/) field_text = ""
    if (fresh && !/^#/) fresh = 0
    print
}
END { if (in_section) print "/** @} */" }
