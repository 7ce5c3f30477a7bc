" What Vim needs to know about .vyre files besides their colours.
if exists("b:did_ftplugin")
    finish
endif
let b:did_ftplugin = 1

setlocal comments=s1:/*,mb:*,ex:*/,://
setlocal commentstring=//\ %s
setlocal formatoptions-=t formatoptions+=croql
setlocal expandtab shiftwidth=4 softtabstop=4 textwidth=100
setlocal suffixesadd=.vyre
setlocal makeprg=vyre\ check\ %:S
setlocal errorformat=%f:%l:%c:\ %trror[V%n]:\ %m,%f:%l:%c:\ %tarning[V%n]:\ %m,%-G%.%#
setlocal formatprg=vyre\ fmt\ -

let b:undo_ftplugin = "setlocal comments< commentstring< formatoptions< expandtab< shiftwidth<"
            \ . " softtabstop< textwidth< suffixesadd< makeprg< errorformat< formatprg<"
