# SPDX-License-Identifier: Apache-2.0
#
# A public header on standard output as Doxygen wants it, line by line, so that a warning's number
# is that of the header's line: awk -f comment.awk -f doxygen.awk HEADER.
#
#     a comment above a declaration, or beside a member   documents it
#     "---- Errors ----"                                  begins a section
#     declarations without an empty line between them     have one comment in common

# Markdown's and HTML's own characters, as characters; between backticks they are that already.
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

# A code of grinterop's, as a link to it.
function link_code(text) { return text ~ /^GR_ERR_[A-Z_]+$/ ? "#" text : "**" escape(text) "**" }

# One line of a comment, without what stands before it.
function body(text) {
    classify(text)
    if (kind == "blank" || kind == "code") return text
    if (kind == "heading") return "@par " kind_name
    if (kind == "label" || kind == "errors") return "@label{" kind_name "} " escape(kind_text)
    if (kind == "item")
        return "- " link_code(kind_name) (kind_text == "" ? "" : ": " escape(kind_text))
    return (kind == "more" ? "  " : "") escape(kind_text)
}

# "size_t width, height;" as two fields, the second with the first one's comment.
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

# The line's part of a comment that has begun, up to its end if that is here.
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
    # What follows there is for compilers.
    top_alone = FILENAME ~ /\/(compat|cuhost)\.h$/
    print "/** @file */"
    next
}

in_comment { print " * " go_on($0); next }

# The file's own comment is the first one.
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

# The codes are in a macro, which also gives their names and texts.
/^    X\(GR_/ {
    split($0, part, /[(,]/)
    codes = codes part[2] " =" part[3]
}
/^    X\(GR_.*"/ || (/^ +"/ && codes != "") {
    split($0, part, "\"")
    codes = codes " /**< " part[2] " */, "
}
/^typedef enum gr_status \{/ {
    print "/** Who refused: the class of an error. gr_last_error() says why. */ " \
        "typedef enum gr_status { " codes "} gr_status;"
    next
}
# The table of the driver's functions has a member for each, under its name without "cu".
/^    GR_CUDA_FUNCTIONS\(GR_CUDA_MEMBER\)/ { print ""; next }
/^    size_t struct_size;$/ { print $0 " /**< The struct's size: GR_INIT() sets it. */"; next }

# Beside a member.
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

# A value whose name says it all is in the list, too.
/^    GR_[A-Z0-9_]+ = [0-9a-fx]+,?$/ && !fresh { print $0 " /**< &nbsp; */"; next }

/^$/ { fresh = shared = 0; print; next }

# C++: a member names the function of C that it calls, or has the comment of those above it.
/^protected:/ { print "/** @cond */ " $0; hidden = 1; next }
/^public:/ && hidden { print "/** @endcond */ " $0; hidden = 0; next }
cpp && !fresh && /^    [a-z:A-Z].*[;})]$/ && !/^    (using|return|throw|check|template) / {
    if (match($0, /gr_[a-z_]+\(/)) text = substr($0, RSTART, RLENGTH) ")."
    else text = field_text
    print (text == "" || /default;/ ? "" : "/** " text " */ ") (/[(]/ ? $0 : each_field($0))
    next
}

# Another declaration below one that has a comment: it has the same one.
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
    if (fresh && /^    [A-Za-z].*[;})]$/) {
        field_text = spoken
        if (!cpp && !/[(){}]/) $0 = each_field($0)
    }
    if (/^[^ ]/) field_text = ""
    if (fresh && !/^#/) fresh = 0
    print
}
END { if (in_section) print "/** @} */" }
