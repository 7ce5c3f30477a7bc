# Finds the sources room by room, in the order of src/ROOMS. The helper's is in neither:
#   VYRE_LIBRARY_SOURCES   the rooms of libvyre
#   VYRE_COMMAND_SOURCES   the rooms of the command alone, without its main.c
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/ROOMS)
file(STRINGS src/ROOMS rooms REGEX "^[a-z]")
set(VYRE_LIBRARY_SOURCES "")
set(VYRE_COMMAND_SOURCES "")
foreach(line IN LISTS rooms)
  string(REGEX REPLACE ":.*" "" room "${line}")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.c)
  if(room MATCHES "^(values|conform|bench|cli)$")
    list(APPEND VYRE_COMMAND_SOURCES ${sources})
  elseif(NOT room STREQUAL "backend/cpu/helper")
    list(APPEND VYRE_LIBRARY_SOURCES ${sources})
  endif()
endforeach()
# Texts, one behind the other, as an array of bytes: a literal of their length is more than C
# promises to take.
function(vyre_embed variable)
  set(bytes "")
  foreach(file ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} more HEX)
    string(APPEND bytes "${more}")
  endforeach()
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
  set(${variable} "{\n${bytes}0}" PARENT_SCOPE)
endfunction()
# What the build writes for a room lies in generated/ROOM.
vyre_embed(math ${PROJECT_SOURCE_DIR}/src/pass/math.vyre)
vyre_embed(math_f64 ${PROJECT_SOURCE_DIR}/src/pass/polynomials.vyre
           ${PROJECT_SOURCE_DIR}/src/pass/math_f64.vyre)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/pass/math_text.c CONTENT
"extern const char vyre_math_text[], vyre_math_f64_text[];
const char vyre_math_text[] = @math@;
const char vyre_math_f64_text[] = @math_f64@;
" @ONLY)
list(APPEND VYRE_LIBRARY_SOURCES ${PROJECT_BINARY_DIR}/generated/pass/math_text.c)

foreach(part half f32 f64)
  vyre_embed(correct_${part} ${PROJECT_SOURCE_DIR}/src/pass/correct_core.vyre
             ${PROJECT_SOURCE_DIR}/src/pass/correct_${part}.vyre)
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/pass/correct_text.c CONTENT
"extern const char vyre_correct_half_text[], vyre_correct_f32_text[], vyre_correct_f64_text[];
const char vyre_correct_half_text[] = @correct_half@;
const char vyre_correct_f32_text[] = @correct_f32@;
const char vyre_correct_f64_text[] = @correct_f64@;
" @ONLY)
list(APPEND VYRE_LIBRARY_SOURCES ${PROJECT_BINARY_DIR}/generated/pass/correct_text.c)

vyre_embed(probe ${PROJECT_SOURCE_DIR}/src/pass/probe.vyre)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/pass/probe_text.c
     CONTENT "extern const char vyre_probe_text[];\nconst char vyre_probe_text[] = @probe@;\n" @ONLY)
list(APPEND VYRE_LIBRARY_SOURCES ${PROJECT_BINARY_DIR}/generated/pass/probe_text.c)

vyre_embed(sum ${PROJECT_SOURCE_DIR}/src/text/sum.vyre)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/text/sum_text.c
     CONTENT "extern const char vyre_sum_text[];\nconst char vyre_sum_text[] = @sum@;\n" @ONLY)
list(APPEND VYRE_LIBRARY_SOURCES ${PROJECT_BINARY_DIR}/generated/text/sum_text.c)

# Conformance: programs that are text, and the digests of what all cases give.
vyre_embed(suite_programs ${PROJECT_SOURCE_DIR}/src/conform/suite_programs.txt)
vyre_embed(suite_records ${PROJECT_SOURCE_DIR}/src/conform/suite_records.txt)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/conform/suite_text.c CONTENT
"extern const char conform_suite_programs_text[], conform_suite_records_text[];
const char conform_suite_programs_text[] = @suite_programs@;
const char conform_suite_records_text[] = @suite_records@;
" @ONLY)
list(APPEND VYRE_COMMAND_SOURCES ${PROJECT_BINARY_DIR}/generated/conform/suite_text.c)

# The page of vyre bench.
vyre_embed(bench_page ${PROJECT_SOURCE_DIR}/src/bench/page.html)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/bench/page_text.c CONTENT
"extern const char bench_page_text[];\nconst char bench_page_text[] = @bench_page@;\n" @ONLY)
list(APPEND VYRE_COMMAND_SOURCES ${PROJECT_BINARY_DIR}/generated/bench/page_text.c)

list(FILTER VYRE_COMMAND_SOURCES EXCLUDE REGEX "/main\\.c$")
