# The man page and the shell completions, which the built command writes from its own tables:
#   VYRE_MAN_PAGE  VYRE_COMPLETION_BASH  VYRE_COMPLETION_ZSH  VYRE_COMPLETION_FISH
function(conform_generate variable file)
  set(path ${PROJECT_BINARY_DIR}/generated/${file})
  add_custom_command(OUTPUT ${path}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/generated
    COMMAND vyre_command help ${ARGN} > ${path}
    DEPENDS vyre_command
    COMMENT "Writing ${file}")
  set(${variable} ${path} PARENT_SCOPE)
endfunction()

conform_generate(VYRE_MAN_PAGE vyre.1 --man)
conform_generate(VYRE_COMPLETION_BASH vyre.bash --completion bash)
conform_generate(VYRE_COMPLETION_ZSH _vyre --completion zsh)
conform_generate(VYRE_COMPLETION_FISH vyre.fish --completion fish)
add_custom_target(vyre_generated ALL DEPENDS
  ${VYRE_MAN_PAGE} ${VYRE_COMPLETION_BASH} ${VYRE_COMPLETION_ZSH} ${VYRE_COMPLETION_FISH})
