# What `cmake --install` gives. Everything can be moved as a whole: nothing in it knows the prefix.
include(CMakePackageConfigHelpers)

install(TARGETS vyre vyre_static EXPORT vyreTargets)
install(DIRECTORY include/vyre DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

# The documentation as a whole, so that its links lead somewhere. Pages that speak of `./dev vyre` or
# of the headers are rewritten for a reader who has the installed command and headers.
install(FILES LICENSE-MIT LICENSE-APACHE LICENSE-XXHASH DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
        PATTERN "build" EXCLUDE PATTERN "embed/embed" EXCLUDE PATTERN "*.md" EXCLUDE)
install(DIRECTORY editors DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN "*.md" EXCLUDE)
file(GLOB_RECURSE pages CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     docs/*.md examples/*.md editors/*.md)
list(APPEND pages README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md SECURITY.md)
foreach(page IN LISTS pages)
  get_filename_component(folder ${page} DIRECTORY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
  file(READ ${page} text)
  string(REPLACE "./dev vyre" "vyre" text "${text}")
  file(RELATIVE_PATH headers ${CMAKE_INSTALL_FULL_DOCDIR}/${folder}
       ${CMAKE_INSTALL_FULL_INCLUDEDIR}/vyre)
  string(REGEX REPLACE "\\]\\((\\.\\./)*include/vyre" "](${headers}" text "${text}")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/pages/${page} CONTENT "@text@" @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/generated/pages/${page}
          DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()

# The library of operations, to be read; what runs is linked in.
install(DIRECTORY ops DESTINATION ${CMAKE_INSTALL_DATADIR}/vyre OPTIONAL
        FILES_MATCHING PATTERN "*.toml" PATTERN "*.vyre")

# find_package(vyre) -> vyre::vyre and vyre::vyre_static
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/vyre)
install(EXPORT vyreTargets NAMESPACE vyre:: DESTINATION ${package_dir})
configure_package_config_file(cmake/vyreConfig.cmake.in ${PROJECT_BINARY_DIR}/vyreConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/vyreConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/vyreConfig.cmake ${PROJECT_BINARY_DIR}/vyreConfigVersion.cmake
        DESTINATION ${package_dir})

# pkg-config; the prefix is found from where vyre.pc lies.
file(RELATIVE_PATH VYRE_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" VYRE_PC_PREFIX "${VYRE_PC_PREFIX}")
configure_file(cmake/vyre.pc.in ${PROJECT_BINARY_DIR}/vyre.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/vyre.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS vyre_command)
install(FILES ${VYRE_MAN_PAGE} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${VYRE_COMPLETION_BASH} RENAME vyre
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${VYRE_COMPLETION_ZSH} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${VYRE_COMPLETION_FISH}
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
