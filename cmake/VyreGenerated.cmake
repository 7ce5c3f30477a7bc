# The man page and the shell completions, which the command writes from its own tables as soon as it is
# linked: VYRE_MAN_PAGE  VYRE_COMPLETION_BASH  VYRE_COMPLETION_ZSH  VYRE_COMPLETION_FISH
function(conform_generate variable file)
  set(path ${PROJECT_BINARY_DIR}/generated/${file})
  add_custom_command(TARGET vyre_command POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/generated
    COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:vyre_command> help ${ARGN} > ${path}
    BYPRODUCTS ${path} VERBATIM)
  set(${variable} ${path} PARENT_SCOPE)
endfunction()

conform_generate(VYRE_MAN_PAGE vyre.1 --man)
conform_generate(VYRE_COMPLETION_BASH vyre.bash --completion bash)
conform_generate(VYRE_COMPLETION_ZSH _vyre --completion zsh)
conform_generate(VYRE_COMPLETION_FISH vyre.fish --completion fish)

# `ninja vyre` means the file, which is the command: everything that is installed comes with it.
add_dependencies(vyre_command vyre vyre_static)
