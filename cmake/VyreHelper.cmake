# The process that LLVM runs in: a program of its own, which the library carries as bytes.
set(helper_sources backend/cpu/helper/main backend/cpu/codegen/llvm_open backend/cpu/codegen/llvm_compile
    backend/cpu/codegen/llvm_lite backend/cpu/codegen/llvm_effort backend/cpu/codegen/llvm_parts
    base/alloc base/status base/strbuf base/utf8 base/visible)
list(TRANSFORM helper_sources PREPEND ${PROJECT_SOURCE_DIR}/src/)
list(TRANSFORM helper_sources APPEND .c)
add_executable(vyre_llvm ${helper_sources})
target_link_libraries(vyre_llvm PRIVATE vyre_plain_flags m)
target_compile_options(vyre_llvm PRIVATE -Os -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables)
target_link_options(vyre_llvm PRIVATE
  -s -Wl,--gc-sections -Wl,--build-id=none -Wl,-z,noseparate-code -Wl,-z,norelro)
set_target_properties(vyre_llvm PROPERTIES OUTPUT_NAME vyre-llvm RUNTIME_OUTPUT_DIRECTORY
                      ${PROJECT_BINARY_DIR}/generated/backend/cpu/helper)

set(VYRE_HELPER_BYTES ${PROJECT_BINARY_DIR}/generated/backend/cpu/runtime/helper_bytes.c)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/generated/backend/cpu/runtime)
add_custom_command(OUTPUT ${VYRE_HELPER_BYTES}
  COMMAND ${CMAKE_COMMAND} -DINPUT=$<TARGET_FILE:vyre_llvm> -DOUTPUT=${VYRE_HELPER_BYTES}
          -DNAME=cpu_helper_bytes -P ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake
  DEPENDS vyre_llvm ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake VERBATIM COMMENT "Embedding vyre-llvm")
