# Finds the sources room by room, in the order of src/ROOMS:
#   VYRE_LIBRARY_SOURCES   every room but cli
#   VYRE_COMMAND_SOURCES   cli without its main.c
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/ROOMS)
file(STRINGS src/ROOMS rooms REGEX "^[a-z]")
set(VYRE_LIBRARY_SOURCES "")
foreach(line IN LISTS rooms)
  string(REGEX REPLACE ":.*" "" room "${line}")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.c)
  if(room STREQUAL "cli")
    set(VYRE_COMMAND_SOURCES ${sources})
  else()
    list(APPEND VYRE_LIBRARY_SOURCES ${sources})
  endif()
endforeach()
# math.vyre as an array of bytes: a literal of its length is more than C promises to take.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/pass/math.vyre)
file(READ ${PROJECT_SOURCE_DIR}/src/pass/math.vyre math HEX)
string(REGEX REPLACE "(..)" "0x\\1," math "${math}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" math "${math}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/math_text.c
     CONTENT "extern const char vyre_math_text[];\nconst char vyre_math_text[] = {\n@math@0};\n" @ONLY)
list(APPEND VYRE_LIBRARY_SOURCES ${PROJECT_BINARY_DIR}/generated/math_text.c)
list(FILTER VYRE_COMMAND_SOURCES EXCLUDE REGEX "/main\\.c$")
