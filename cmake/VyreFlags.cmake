# vyre_flags: how every source of the project is compiled. Not installed, not passed on to users.
# vyre_plain_flags: the same without sanitizers, for the helper that limits its own memory.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON) # tests/structure/contraction.sh reads them

add_library(vyre_plain_flags INTERFACE)
add_library(vyre_flags INTERFACE)
target_link_libraries(vyre_flags INTERFACE vyre_plain_flags)
target_include_directories(vyre_plain_flags INTERFACE ${PROJECT_SOURCE_DIR}/include
                                                      ${PROJECT_SOURCE_DIR}/src)
# A file that needs more of the C library than POSIX defines _GNU_SOURCE itself.
target_compile_definitions(vyre_plain_flags INTERFACE _POSIX_C_SOURCE=200809L)
# Without contraction a*b+c is two roundings, as the semantics of kernels says.
target_compile_options(vyre_plain_flags INTERFACE
  -ffp-contract=off
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wwrite-strings
  $<$<BOOL:${VYRE_WERROR}>:-Werror>)

if(VYRE_SANITIZE)
  target_compile_options(vyre_flags INTERFACE
    -fsanitize=${VYRE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(vyre_flags INTERFACE -fsanitize=${VYRE_SANITIZE})
endif()
if(VYRE_FUZZ)
  # Instruments the library for the fuzzer; the targets themselves also link its main().
  target_compile_options(vyre_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
