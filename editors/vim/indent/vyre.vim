" A block is indented by four spaces, a statement that goes on by four more.
if exists("b:did_indent")
    finish
endif
let b:did_indent = 1

setlocal nolisp nosmartindent autoindent
setlocal indentexpr=VyreIndent(v:lnum)
setlocal indentkeys=0{,0},0),0],!^F,o,O
let b:undo_indent = "setlocal autoindent< indentexpr< indentkeys<"

if exists("*VyreIndent")
    finish
endif

" The line without its comment, trailing space removed.
function s:Code(line)
    return substitute(substitute(getline(a:line), '//.*$', '', ''), '\s\+$', '', '')
endfunction

function VyreIndent(line)
    let before = prevnonblank(a:line - 1)
    if before == 0
        return 0
    endif
    let step = shiftwidth()
    let code = s:Code(before)
    let indent = indent(before)
    " Where the statement before goes on, its first line counts.
    let first = prevnonblank(before - 1)
    if first > 0 && s:Code(first) =~ '[(,]$\|[-+*/%&|^=<>]$' && code !~ '^\s*[)\]]'
        let indent -= code =~ '[;{}]$' ? step : 0
    endif
    if code =~ '{$'
        let indent += step
    elseif code =~ '[(,]$\|[-+*/%&|^=<>]$'
        let indent += first > 0 && s:Code(first) =~ '[(,]$\|[-+*/%&|^=<>]$' ? 0 : step
    endif
    if getline(a:line) =~ '^\s*[})\]]'
        let indent -= step
    endif
    return max([indent, 0])
endfunction
