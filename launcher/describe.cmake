# What the program says of itself, beside it where it is installed: manual page, completions, schema.
if(CMAKE_CROSSCOMPILING)
  return()
endif()

set(described)
# muster_describe(FILE DESTINATION WORD...): what `muster WORD...` prints is installed as FILE.
macro(muster_describe file destination)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/share/${file})
  add_custom_command(
    OUTPUT ${made}
    COMMAND muster_launcher ${ARGN} > ${made}
    DEPENDS muster_launcher)
  list(APPEND described ${made})
  install(FILES ${made} DESTINATION ${destination})
endmacro()

file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/share/bash)
muster_describe(muster.1 ${CMAKE_INSTALL_MANDIR}/man1 help --man)
muster_describe(muster.schema.json ${CMAKE_INSTALL_DATADIR}/muster config schema)
muster_describe(bash/muster ${CMAKE_INSTALL_DATADIR}/bash-completion/completions completion bash)
muster_describe(_muster ${CMAKE_INSTALL_DATADIR}/zsh/site-functions completion zsh)
muster_describe(muster.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d completion fish)
add_custom_target(muster_described ALL DEPENDS ${described})
