# What the program says of itself, beside it where it is installed: manual page, completions, schema.

if(CMAKE_SCRIPT_MODE_FILE) # how each is made: FILE is what PROGRAM WORDS prints
  execute_process(COMMAND ${PROGRAM} ${WORDS} OUTPUT_FILE ${FILE} RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${PROGRAM} ${WORDS}: ${failed}")
  endif()
  return()
endif()

if(CMAKE_CROSSCOMPILING)
  return()
endif()

set(described)
# muster_describe(FILE DESTINATION WORD...): what `muster WORD...` prints is installed as FILE.
macro(muster_describe file destination)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/share/${file})
  add_custom_command(
    OUTPUT ${made}
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:muster_launcher> "-DWORDS=${ARGN}"
            -DFILE=${made} -P ${CMAKE_CURRENT_LIST_DIR}/describe.cmake
    DEPENDS muster_launcher
    VERBATIM)
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
