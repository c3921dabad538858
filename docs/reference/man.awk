# SPDX-License-Identifier: Apache-2.0
#
# Manual pages of the public headers: awk -v out=FOLDER -v version=V -f comment.awk -f man.awk
# HEADER... writes into FOLDER
#
#     man3/NAME.3            for each comment that functions have, with links if several share it
#     man3/grinterop.3       the list of them all
#     man7/grinterop-NAME.7  for each header but gr.h: what it says at its top
#     laws                   what gr.h says of every function, for grinterop.7

# Text for roff: its own characters as characters.
function escape(text) {
    gsub(/\\/, "\\e", text)
    sub(/^[.']/, "\\\\\\&&", text)
    return text
}

# The same of a sentence, with names of parameters in italics.
function prose(text) {
    text = escape(text)
    while (match(text, /`[^`]+`/))
        text = substr(text, 1, RSTART - 1) "\\fI" substr(text, RSTART + 1, RLENGTH - 2) "\\fP" \
            substr(text, RSTART + RLENGTH)
    return text
}

function close_code() {
    if (in_example) add(".EE\n.RE\n.PP")
    in_example = 0
}

# Adds a line to the part of the page that is being written.
function add(text) { part[where] = part[where] text "\n" }

# A line of the comment, into the page's parts.
function take(text) {
    classify(text)
    if (text == "The laws of every function:") {
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
    # What comes after the list of errors belongs to the description again.
    if (pending && kind == "text" && where == "errors" && text ~ /^Wraps /) where = "description"
    if (kind == "label") add(".TP 10\n.B " kind_name "\n" prose(kind_text))
    else if (kind == "item")
        add((where == "errors" ? ".TP" : ".TP 12") "\n.B " prose(kind_name) "\n" \
            (kind_text == "" ? "\\&" : prose(kind_text)))
    else {
        if (pending) add(".PP")
        add(prose(kind_text))
    }
    pending = 0
}

# The first sentence, with a small letter: what the page is about.
function about(text) {
    gsub(/`/, "", text)
    sub(/^ +/, "", text)
    if (match(text, /\.( |$)|: |; /)) text = substr(text, 1, RSTART - 1)
    if (text ~ /^([A-Z][a-z]|A )/ && text !~ /^(Vulkan|OpenGL)/)
        text = tolower(substr(text, 1, 1)) substr(text, 2)
    return escape(text)
}

# The functions that a text names, beside the page's own.
function mentioned(text,    found, name, seen) {
    while (match(text, /gr_[a-z0-9_]+\(\)/)) {
        name = substr(text, RSTART, RLENGTH - 2)
        text = substr(text, RSTART + RLENGTH)
        if (!(name in seen) && !(name in own)) found = found ",\n.BR " name " (3)"
        seen[name] = 1
    }
    return found
}

# The definitions of the types that a text of prototypes names.
function types_of(text,    found, name, seen) {
    while (match(text, /gr_[a-z0-9_]+/)) {
        name = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        if (name in type && !(name in seen) && name !~ /^gr_(status|cuda_api)$/)
            found = found type[name] "\n"
        seen[name] = 1
    }
    return found
}

function keep_page(    page) {
    page = ++pages
    page_names[page] = names
    page_synopsis[page] = synopsis
    page_header[page] = header
    page_about[page] = about(spoken)
    page_spoken[page] = spoken
    page_description[page] = part["description"]
    page_errors[page] = part["errors"]
    page_section[page] = section
}

# "grinterop-ring", or "grinterop" for gr.h.
function topic_of(header) {
    sub(/\.h$/, "", header)
    return "grinterop" (header == "gr" ? "" : "-" header)
}

function begin_file(file, source, title, section) {
    print ".\\\" Made of " source "; edit that." >file
    print ".TH " title " " section " \"\" \"grinterop " version "\" \"grinterop\"" >file
    print ".nr HY 0\n.ad l\n.nh" >file
}

# What a header says at its top, with the list of its functions.
function write_topic(header,    file, page, functions) {
    file = out "/man7/" topic_of(header) ".7"
    begin_file(file, header, topic_of(header), 7)
    print ".SH NAME\n" topic_of(header) " \\- " topic_about[header] >file
    print ".SH SYNOPSIS\n.nf\n.B #include <grinterop/" header ">\n.fi" >file
    print ".SH DESCRIPTION\n" topic[header] >file
    for (page = 1; page <= pages; page++)
        if (page_header[page] == header) {
            functions = page_names[page]
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
    if (page_errors[page] != "") print ".SH ERRORS\n" page_errors[page] >file
    types = types_of(page_synopsis[page])
    if (types != "") print ".SH TYPES\n.EX\n" types ".EE" >file
    print ".SH SEE ALSO\n.BR " topic_of(page_header[page]) " (7)" mentioned(page_spoken[page]) >file
    close(file)
    for (i = 2; i <= n; i++) {
        file = out "/man3/" list[i] ".3"
        print ".so man3/" list[1] ".3" >file
        close(file)
    }
}

# grinterop.3: each function with its first sentence, by header and section.
function write_list(    file, page, n, names_of, i, last_header, last_section) {
    file = out "/man3/grinterop.3"
    begin_file(file, "the headers", "grinterop", 3)
    print ".SH NAME\ngrinterop \\- the functions of the library" >file
    print ".SH DESCRIPTION" >file
    print ".BR grinterop (7)\nsays what the library is, and what holds for each of them." >file
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
        n = split(page_names[page], names_of, " ")
        for (i = 1; i <= n; i++)
            print (i == 1 ? ".TP\n" : ".TQ\n") ".BR " names_of[i] " (3)" >file
        print page_about[page] >file
    }
    print ".SH SEE ALSO\n.BR grinterop (7)" >file
    close(file)
}

function begin_page() {
    begin_comment()
    split("", part)
    where = "description"
    pending = in_example = 0
    spoken = ""
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

# One line of a comment; true if it ends there.
function go_on(text,    ended) {
    ended = sub(/ *\*\/ *$/, "", text)
    sub(/^ *\* ?/, "", text)
    take(text)
    spoken = spoken " " text
    if (ended) end_comment()
}

# The prototype, as it stands, with its name in bold.
function prototype(text,    name, at) {
    name = text
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    if (names !~ ("(^| )" name "($| )")) names = names (names == "" ? "" : " ") name
    at = index(text, name "(")
    return escape(substr(text, 1, at - 1)) "\\fB" name "\\fP" \
        escape(substr(text, at + length(name)))
}

FNR == 1 {
    header = FILENAME
    sub(/.*\//, "", header)
    section = "General"
    in_comment = in_type = in_prototype = fresh = 0
    had_file = 0
    next
}
in_comment { go_on($0); next }
in_type {
    type_text = type_text escape($0) "\n"
    if (/^}/) {
        name = $0
        gsub(/^} *|;.*/, "", name)
        type[name] = type_text
        in_type = 0
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
# A type: its definition stands in the pages of the functions that take it.
/^typedef (struct|enum) [a-z_]+ \{$/ {
    in_type = 1
    fresh = 0
    type_text = escape($0) "\n"
    next
}
# What is there for macros and inline functions only is no page.
/^GR_API / && !/_at_scope_end|gr_cuda_table/ {
    if (fresh) { names = synopsis = ""; }
    if (!fresh && names == "") next
    fresh = 0
    sub(/^GR_API /, "")
    sub(/ *\/\*.*/, "")
    synopsis = synopsis prototype($0) "\n"
    in_prototype = !/;$/
    next
}
/^static inline const gr_cuda_api \*gr_cuda\(void\)$/ {
    sub(/^static inline /, "")
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
    write_list()
    count = split(headers, all_headers, " ")
    for (i = 1; i <= count; i++)
        if (all_headers[i] == "gr.h") print topic["gr.h"] >(out "/laws")
        else write_topic(all_headers[i])
}
