# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Writes the manual pages of the public headers into a folder:
# awk -v out=FOLDER -v version=V -f comment.awk -f man.awk HEADER...
#
#     man3/NAME.3            for each comment of functions, a type or a macro; all names that share
#                            a comment, and the values of an enum, are links to one page
#     man7/grinterop-NAME.7  for each header except gr.h: its file comment
#     man7/grinterop-index.7 the list of all pages of section 3
#     laws                   the rules for all functions from gr.h, for grinterop.7

# Escapes special characters of roff.
function escape(text) {
    gsub(/\\/, "\\e", text)
    sub(/^[.']/, "\\\\\\&&", text)
    return text
}

# Escapes a sentence, with parameter names in italics.
function prose(text) {
    text = escape(text)
    while (match(text, /`[^`]+`/))
        text = substr(text, 1, RSTART - 1) "\\fI" substr(text, RSTART + 1, RLENGTH - 2) "\\fP" \
            substr(text, RSTART + RLENGTH)
    return text
}

# A line of code, in bold.
function bold(text) { return "\\fB" escape(text) "\\fP\n" }

function close_code() {
    if (in_example) add(".EE\n.RE\n.PP")
    in_example = 0
}

# Adds a line to the current part of the page.
function add(text) { part[where] = part[where] text "\n" }

# Adds a line of a comment to the page.
function take(text) {
    classify(text)
    if (text == "Rules for all functions:") {
        begin_page()
        return
    }
    if (kind != "code" && kind != "blank") close_code()
    if (kind == "blank") {
        if (!in_example) pending = 1
        else add("")
        return
    }
    if (kind == "code") {
        if (!in_example) add(".PP\n.RS 4\n.EX")
        in_example = 1
        pending = 0
        add(escape(substr(text, 5)))
        return
    }
    if (kind == "heading" || kind == "errors") {
        where = "errors"
        pending = 0
        if (kind == "heading") kind_text = substr(kind_name, index(kind_name, " ") + 1) ":"
        if (kind == "heading" && kind_name == "Errors") kind_text = ""
        if (kind_text != "") add(prose(kind_text))
        return
    }
    # "Wraps ..." after the list of errors belongs to the description again.
    if (pending && kind == "text" && where == "errors" && text ~ /^Wraps /) where = "description"
    if (kind == "label") add(".TP 10\n.B " kind_name "\n" prose(kind_text))
    else if (kind == "item")
        add((where == "errors" ? ".TP" : ".TP 12") "\n.B " prose(kind_name) "\n" \
            (kind_text == "" ? "\\&" : prose(kind_text)))
    else {
        if (pending) add(where == "member" ? ".IP" : ".PP")
        add(prose(kind_text))
    }
    pending = 0
}

# The first sentence in lower case, for the NAME section.
function about(text) {
    gsub(/`/, "", text)
    sub(/^ +/, "", text)
    if (match(text, /\.( |$)|: |; /)) text = substr(text, 1, RSTART - 1)
    if (text ~ /^([A-Z][a-z]|A )/ && text !~ /^(Vulkan|OpenGL)/)
        text = tolower(substr(text, 1, 1)) substr(text, 2)
    return escape(text)
}

# The functions mentioned in a text, except those of the page.
function mentioned(text,    found) {
    while (match(text, /gr_[a-z0-9_]+\(\)/)) {
        found = found reference(substr(text, RSTART, RLENGTH - 2))
        text = substr(text, RSTART + RLENGTH)
    }
    return found
}

# An entry of SEE ALSO, unless it is the page itself or has been listed.
function reference(name) {
    if (name in own) return ""
    own[name] = 1
    return ",\n.BR " name " (3)"
}

# The other functions and types of the same section of the header: of the same subject.
function neighbours(page,    found, other, n, list, i) {
    for (other = 1; other <= pages; other++)
        if (page_header[other] == page_header[page] && page_section[other] == page_section[page]) {
            n = split(page_listed[other], list, " ")
            for (i = 1; i <= n; i++) if (list[i] ~ /^gr_/) found = found reference(list[i])
        }
    return found
}

# The pages of functions and types that use this type, except those mentioned in the text.
function users(name, text,    found, page, first) {
    # Nearly every function returns a gr_status.
    if (name !~ /^gr_/ || name == "gr_status") return ""
    for (page = 1; page <= pages; page++) {
        first = page_names[page]
        sub(/ .*/, "", first)
        if (first == name || index(text, first "()")) continue
        if ((" " page_synopsis[page]) ~ ("[^a-z_]" name "[^a-z0-9_]"))
            found = found reference(first)
    }
    return found
}

# The definitions of the types in a synopsis, and of the enums in those (`only` is "enum"). The
# flags of a resource have a type without a name.
function types_of(text, only,    found, name) {
    if (text ~ /unsigned flags/) text = text " gr_flags"
    while (match(text, /gr_[a-z0-9_]+/)) {
        name = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        if (!(name in type) || name in shown || name ~ /^gr_(status|cuda_api)$/) continue
        if (type[name] !~ ("^(typedef )?" only)) continue
        shown[name] = 1
        found = found type[name] "\n" types_of(type[name], "enum")
    }
    return found
}

# Stores the page of a comment, for everything in `names` and `values`.
function keep_page(    page) {
    page = ++pages
    page_names[page] = names (values == "" ? "" : (names == "" ? "" : " ") values)
    page_listed[page] = names == "" ? values : names
    page_synopsis[page] = synopsis
    page_header[page] = header
    page_about[page] = about(spoken)
    page_spoken[page] = spoken
    page_description[page] = part["description"]
    page_members[page] = part["members"]
    page_errors[page] = part["errors"]
    page_section[page] = section
    names = values = ""
}

# "grinterop-ring", or "grinterop" for gr.h.
function topic_of(header) {
    sub(/\.h$/, "", header)
    return "grinterop" (header == "gr" ? "" : "-" header)
}

function begin_file(file, source, title, section) {
    print ".\\\" Generated from " source "; edit that instead." >file
    print ".TH " title " " section " \"\" \"grinterop " version "\" \"grinterop\"" >file
    print ".nr HY 0\n.ad l\n.nh" >file
}

# Writes the page of a header: its file comment, and the list of its pages.
function write_topic(header,    file, page, functions) {
    file = out "/man7/" topic_of(header) ".7"
    begin_file(file, header, topic_of(header), 7)
    print ".SH NAME\n" topic_of(header) " \\- " topic_about[header] >file
    print ".SH SYNOPSIS\n.nf\n.B #include <grinterop/" header ">\n.fi" >file
    print ".SH DESCRIPTION\n" topic[header] >file
    for (page = 1; page <= pages; page++)
        if (page_header[page] == header) {
            functions = page_listed[page]
            gsub(/ /, " (3),\n.BR ", functions)
            functions_of = functions_of ",\n.BR " functions " (3)"
        }
    print ".SH SEE ALSO\n.BR grinterop (7)" functions_of >file
    functions_of = ""
    close(file)
}

function write_page(page,    n, list, file, i, types, all) {
    n = split(page_names[page], list, " ")
    split("", own)
    for (i = 1; i <= n; i++) own[list[i]] = 1
    file = out "/man3/" list[1] ".3"
    all = page_names[page]
    gsub(/ /, ", ", all)
    begin_file(file, page_header[page], list[1], 3)
    print ".SH NAME\n" all " \\- " page_about[page] >file
    print ".SH SYNOPSIS\n.nf\n.B #include <grinterop/" page_header[page] ">\n.PP" >file
    print page_synopsis[page] ".fi" >file
    print ".SH DESCRIPTION\n" page_description[page] >file
    if (page_members[page] != "") print page_members[page] >file
    if (page_errors[page] != "") print ".SH ERRORS\n" page_errors[page] >file
    split("", shown)
    types = types_of(page_synopsis[page], "")
    if (types != "" && !page_defines[page]) print ".SH TYPES\n.EX\n" types ".EE" >file
    print ".SH SEE ALSO\n.BR " topic_of(page_header[page]) " (7)" mentioned(page_spoken[page]) \
        neighbours(page) users(list[1], page_spoken[page]) >file
    close(file)
    for (i = 2; i <= n; i++) write_link(list[i], "man3/" list[1] ".3")
}

function write_link(name, page,    file) {
    file = out "/man3/" name ".3"
    print ".so " page >file
    close(file)
}

# grinterop-index.7: each page of section 3 with its first sentence, by header and section.
function write_index(    file, page, n, names_of, i, last_header, last_section) {
    file = out "/man7/grinterop-index.7"
    begin_file(file, "the headers", "grinterop-index", 7)
    print ".SH NAME\ngrinterop-index \\- all functions, types and macros of grinterop" >file
    print ".SH DESCRIPTION" >file
    print ".BR grinterop (7)\ndescribes the library and the rules for all functions." >file
    for (page = 1; page <= pages; page++) {
        if (page_header[page] != last_header) {
            print ".SH grinterop/" page_header[page] >file
            last_header = page_header[page]
            last_section = ""
        }
        if (page_section[page] != last_section) {
            print ".SS " page_section[page] >file
            last_section = page_section[page]
        }
        n = split(page_listed[page], names_of, " ")
        for (i = 1; i <= n; i++)
            print (i == 1 ? ".TP\n" : ".TQ\n") ".BR " names_of[i] " (3)" >file
        print page_about[page] >file
    }
    print ".SH SEE ALSO\n.BR grinterop (7)" >file
    close(file)
}

# ---- Comments and prototypes ---------------------------------------------------------------------

function begin_page() {
    begin_comment()
    split("", part)
    where = "description"
    pending = in_example = 0
    spoken = ""
    names = values = synopsis = ""
}

function end_comment() {
    close_code()
    if (!had_file) {
        topic[header] = part["description"]
        topic_about[header] = about(spoken)
        headers = headers " " header
        had_file = 1
    }
    in_comment = 0
    fresh = 1
}

# Adds one line of a comment to the page.
function go_on(text,    ended) {
    ended = sub(/ *\*\/ *$/, "", text)
    sub(/^ *\* ?/, "", text)
    take(text)
    spoken = spoken " " text
    if (ended) end_comment()
}

# A prototype with its name in bold.
function prototype(text,    name, at) {
    name = text
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    if (names !~ ("(^| )" name "($| )")) names = names (names == "" ? "" : " ") name
    at = index(text, name "(")
    return escape(substr(text, 1, at - 1)) "\\fB" name "\\fP" \
        escape(substr(text, at + length(name)))
}

# ---- Types ---------------------------------------------------------------------------------------

# Stores the page of a type or a macro, whose synopsis is its definition.
function define(text) {
    synopsis = text
    page_defines[pages + 1] = 1
    keep_page()
}

# The name in the last line of a typedef.
function name_of(line) {
    sub(/;.*/, "", line)
    sub(/.*[} ]/, "", line)
    return line
}

# Adds the values in a line of an enum to `values`.
function add_values(line,    value) {
    while (match(line, /GR_[A-Z0-9_]+ =/)) {
        value = substr(line, RSTART, RLENGTH - 2)
        values = values (values == "" ? "" : " ") value
        line = substr(line, RSTART + RLENGTH)
    }
}

# The names declared in a line of a type: "offset, size" for "size_t offset, size;".
function declared(line,    list, n, i, all) {
    if (match(line, /GR_[A-Z0-9_]+/)) return substr(line, RSTART, RLENGTH)
    if (match(line, /\*[a-z_]+\)\(/)) return substr(line, RSTART + 1, RLENGTH - 3)
    sub(/;.*/, "", line)
    n = split(line, list, ",")
    for (i = 1; i <= n; i++) {
        sub(/\[.*/, "", list[i])
        sub(/.*[ *]/, "", list[i])
        all = all (i > 1 ? ", " : "") list[i]
    }
    return all
}

# Ends the paragraph of members that share a comment.
function end_members() {
    if (part["member"] != "") part["members"] = part["members"] labels part["member"]
    labels = part["member"] = ""
    part_ended = 0
}

function comment_members(text,    ended) {
    ended = sub(/ *\*\/ *$/, "", text)
    sub(/^ *\/?\* ?/, "", text)
    if (text != "" || in_member && !ended) take(text)
    in_member = !ended
    return ended
}

# A line of a type: adds its declaration to the synopsis, and its comment to the members.
function member(line,    at, said) {
    if (in_member || line ~ /^ *\/\*/) {
        if (!in_member) {
            end_members()
            begin_comment()
            pending = 0
            where = "member"
        }
        comment_members(line)
        return
    }
    if (line == "") {
        end_members()
        return
    }
    at = index(line, "/*")
    if (at) {
        said = substr(line, at)
        line = substr(line, 1, at - 1)
        sub(/ +$/, "", line)
        end_members()
        begin_comment()
        pending = 0
        where = "member"
    }
    if (line ~ /GR_CUDA_FUNCTIONS/) {
        synopsis = synopsis bold("    ...     /* see GR_CUDA_FUNCTIONS */")
        return
    }
    if (line ~ /size_t struct_size;/) part["member"] = "Size of the struct: GR_INIT() sets it.\n"
    synopsis = synopsis bold(line)
    add_values(line)
    labels = labels (labels == "" ? ".TP\n" : ".TQ\n") ".B " declared(line) "\n"
    if (at && comment_members(said)) end_members()
}

function end_type(line,    name) {
    end_members()
    names = line ~ /^};/ ? "" : name_of(line)
    name = values ~ /GR_READ_WRITE/ ? "gr_flags" : names
    type[name] = type_text
    where = "description"
    define(synopsis bold(line))
    in_type = 0
}

# Ends gr_status, whose values and texts are X(NAME, VALUE, "TEXT").
function end_codes(    list, n, i, piece) {
    n = split(codes, list, /X\(/)
    for (i = 2; i <= n; i++) {
        split(list[i], piece, /[,"] */)
        synopsis = synopsis bold("    " piece[1] " = " piece[2] ",")
        values = values " " piece[1]
        part["members"] = part["members"] ".TP\n.B " piece[1] "\n" substr(list[i], \
            index(list[i], "\"") + 1)
        sub(/"\) *$/, "", part["members"])
        part["members"] = part["members"] "\n"
    }
    names = "gr_status"
    in_codes = fresh = 0
    define(synopsis bold("} gr_status;") ".PP\n" bold("#define GR_STATUS_MAP(X)"))
}

# ---- Lines of the headers ------------------------------------------------------------------------

FNR == 1 {
    header = FILENAME
    sub(/.*\//, "", header)
    section = "General"
    in_comment = in_type = in_prototype = in_codes = fresh = 0
    had_file = 0
    next
}
in_comment { go_on($0); next }
in_type {
    type_text = type_text escape($0) "\n"
    if (/^}/) end_type($0)
    else member($0)
    next
}
# Only the file comments of these headers are documentation.
(header == "compat.h" || header == "cuhost.h") && had_file {
    if (/^#define GR_[A-Z_]+\(name\)$/) {
        sub(/\(.*/, "", $2)
        link[$2] = "man7/grinterop-cuhost.7"
    }
    next
}
/^\/\* ---- .* -+ \*\/$/ {
    section = $0
    gsub(/^\/\* -+ | -+ \*\/$/, "", section)
    fresh = 0
    next
}
/^\/\*/ {
    begin_page()
    in_comment = 1
    sub(/^\/\* ?/, "")
    if ($0 != "") go_on($0)
    next
}
# The error codes are in a macro with their names and texts.
/^#define GR_STATUS_MAP\(X\)/ {
    in_codes = 1
    values = "GR_STATUS_MAP"
    synopsis = bold("typedef enum gr_status {")
    next
}
in_codes && /^ +(X\(|")/ {
    codes = codes $0
    sub(/ *\\$/, "", codes)
    if (!/\\$/) end_codes()
    next
}
# A type. Its definition is also in the pages of the functions that use it.
/^(typedef )?(struct|enum) ([a-z_]+ )?\{$/ {
    in_type = 1
    fresh = 0
    type_text = escape($0) "\n"
    synopsis = bold($0)
    labels = label_text = ""
    next
}
# A type without members here, or in one line.
fresh && /^typedef (struct|enum) gr_[a-z_]+ (gr_[a-z_]+|\{.*\} gr_[a-z_]+);$/ {
    fresh = 0
    add_values($0)
    names = name_of($0)
    if (/\{/) type[names] = escape($0) "\n"
    define(bold($0))
    next
}
fresh && /^typedef void \(\*gr_[a-z_]+_fn\)\(/ {
    fresh = 0
    names = $0
    sub(/\)\(.*/, "", names)
    sub(/.*\*/, "", names)
    type[names] = escape($0) "\n"
    define(bold($0))
    next
}
# A public macro, without its expansion if it has parameters.
fresh && /^#define GR_[A-Z_]+/ && !/_H$|^#define GR_(CUDA_(MEMBER|FILL|SYMBOL)|STATUS_ENUM)/ {
    fresh = 0
    names = $2
    sub(/\(.*/, "", names)
    if (match($0, /^#define GR_[A-Z_]+\([^)]*\)/)) $0 = substr($0, 1, RLENGTH)
    define(bold($0))
    next
}
# Functions that only macros and inline functions call have no page.
/^GR_API / && !/gr_cuda_table|gr_compat/ {
    if (!fresh && names == "") next
    fresh = 0
    sub(/^GR_API /, "")
    sub(/ *\/\*.*/, "")
    synopsis = synopsis prototype($0) "\n"
    in_prototype = !/;$/
    next
}
/^(static inline const gr_cuda_api \*gr_cuda|GR_INLINE .*)\(.*\)$/ {
    sub(/^(static inline|GR_INLINE) /, "")
    names = ""
    synopsis = prototype($0) ";\n"
    fresh = 0
    next
}
in_prototype {
    sub(/^       /, "")
    synopsis = synopsis escape($0) "\n"
    in_prototype = !/;/
    next
}
/^$/ || /^}/ {
    if (names != "") keep_page()
    names = ""
    fresh = 0
    next
}
{ if (!/^#/) fresh = 0 }
END {
    for (page = 1; page <= pages; page++) write_page(page)
    for (name in link) write_link(name, link[name])
    write_index()
    count = split(headers, all_headers, " ")
    for (i = 1; i <= count; i++)
        if (all_headers[i] == "gr.h") print topic["gr.h"] >(out "/laws")
        else write_topic(all_headers[i])
}
