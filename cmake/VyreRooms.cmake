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
list(FILTER VYRE_COMMAND_SOURCES EXCLUDE REGEX "/main\\.c$")
