autocmd BufNewFile,BufRead *.vyre setfiletype vyre
