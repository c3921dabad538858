# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Classifies the lines of a public header's comments, which need no markup:
#
#     Owner    the caller, who frees it                   a labelled paragraph
#     Errors:                                             another one, with a list
#         GR_ERR_STATE  it is mapped                      of items
#         gr_free(resource);                              after an empty line: code

function begin_comment() { in_code = in_label = in_errors = after_blank = 0 }

# Sets kind (blank, code, heading, errors, label, item, more or text), kind_name and kind_text for a
# line without its leading " * ". "more" continues the previous line.
function classify(text) {
    kind_name = ""
    kind_text = text
    if (text == "") {
        after_blank = 1
        in_code = in_label = in_errors = 0
        kind = "blank"
        return
    }
    if (text ~ /^    / && (in_code || after_blank) && !in_errors) {
        in_code = 1
        kind = "code"
        return
    }
    in_code = after_blank = 0
    if (text ~ /^Errors[,:]/ || text ~ /^Errors of every/) {
        in_errors = 1
        in_label = 0
        kind = "errors"
        kind_name = "Errors"
        sub(/^Errors: */, "", kind_text)
        if (kind_text == text || kind_text == "") {
            kind = "heading"
            kind_name = text
            sub(/:$/, "", kind_name)
            kind_text = ""
        }
        return
    }
    if (match(text, /^[A-Z][A-Za-z]+  +/)) {
        in_label = 1
        in_errors = 0
        kind = "label"
        kind_name = text
        sub(/ .*/, "", kind_name)
        kind_text = substr(text, RLENGTH + 1)
        return
    }
    kind = "text"
    if (sub(/^ +/, "", kind_text)) kind = "more"
    if (in_label || text !~ /^    [^ ]/) return

    # "    GR_ERR_STATE  it is mapped", or only the code.
    kind_name = kind_text
    sub(/  .*/, "", kind_name)
    if (in_errors && kind_name == kind_text && kind_name ~ / /) return
    kind = "item"
    kind_text = substr(kind_text, length(kind_name) + 1)
    sub(/^ +/, "", kind_text)
}
