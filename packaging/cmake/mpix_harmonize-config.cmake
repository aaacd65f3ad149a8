# SPDX-License-Identifier: BSD-3-Clause
# find_package(mpix_harmonize) gives the target mpix_harmonize::mpix_harmonize, and in
# mpix_harmonize_FORTRAN_SOURCES the modules for Fortran, which a project compiles with its own sources.
#
# Each library that is installed beside this file is described by a file mpix_harmonize-library*.cmake. The first one
# that was built for the project's MPI library is taken. All paths are found from the place of this file.

cmake_policy(VERSION 3.9...3.25)
include(CMakeFindDependencyMacro)
include(CMakePushCheckState)

# What tells the MPI library from its header: openmpi, mpich, abi, or nothing.
macro(mpix_harmonize_find_flavor language)
  cmake_push_check_state(RESET)
  set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_${language})
  set(CMAKE_REQUIRED_QUIET TRUE)
  set(mpix_harmonize_project_flavor "")
  foreach(mpix_harmonize_pair MPI_ABI_VERSION:abi OPEN_MPI:openmpi MPICH_VERSION:mpich)
    string(REPLACE ":" ";" mpix_harmonize_pair ${mpix_harmonize_pair})
    list(GET mpix_harmonize_pair 0 mpix_harmonize_macro)
    # The project may have changed its MPI library since the last time.
    unset(mpix_harmonize_has_macro CACHE)
    if("${language}" STREQUAL C)
      include(CheckSymbolExists)
      check_symbol_exists(${mpix_harmonize_macro} mpi.h mpix_harmonize_has_macro)
    else()
      include(CheckCXXSymbolExists)
      check_cxx_symbol_exists(${mpix_harmonize_macro} mpi.h mpix_harmonize_has_macro)
    endif()
    if(mpix_harmonize_has_macro)
      list(GET mpix_harmonize_pair 1 mpix_harmonize_project_flavor)
    endif()
  endforeach()
  unset(mpix_harmonize_has_macro CACHE)
  cmake_pop_check_state()
endmacro()

# The target for the library that the included file described.
macro(mpix_harmonize_add_target language)
  get_filename_component(mpix_harmonize_here "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
  file(RELATIVE_PATH mpix_harmonize_to_lib "${mpix_harmonize_cmake_dir}" "${mpix_harmonize_lib_dir}")
  file(RELATIVE_PATH mpix_harmonize_to_include "${mpix_harmonize_cmake_dir}" "${mpix_harmonize_include_dir}")
  get_filename_component(mpix_harmonize_lib "${mpix_harmonize_here}/${mpix_harmonize_to_lib}" ABSOLUTE)
  get_filename_component(mpix_harmonize_include "${mpix_harmonize_here}/${mpix_harmonize_to_include}" ABSOLUTE)
  set(mpix_harmonize_needs MPI::MPI_${language})
  set(mpix_harmonize_file "${mpix_harmonize_lib}/${mpix_harmonize_name}${CMAKE_SHARED_LIBRARY_SUFFIX}")
  if(EXISTS "${mpix_harmonize_file}")
    add_library(mpix_harmonize::mpix_harmonize SHARED IMPORTED)
  else()
    set(mpix_harmonize_file "${mpix_harmonize_lib}/${mpix_harmonize_name}.a")
    add_library(mpix_harmonize::mpix_harmonize STATIC IMPORTED)
    separate_arguments(mpix_harmonize_static_libraries UNIX_COMMAND "${mpix_harmonize_static_libraries}")
    list(APPEND mpix_harmonize_needs ${mpix_harmonize_static_libraries})
  endif()
  set_target_properties(mpix_harmonize::mpix_harmonize PROPERTIES
    IMPORTED_LOCATION "${mpix_harmonize_file}"
    INTERFACE_INCLUDE_DIRECTORIES "${mpix_harmonize_include}"
    INTERFACE_LINK_LIBRARIES "${mpix_harmonize_needs}")
  if("${language}" STREQUAL C)
    # The header of some MPI libraries has the old interface for C++, which MPI::MPI_C has no library for.
    set_target_properties(mpix_harmonize::mpix_harmonize PROPERTIES INTERFACE_COMPILE_DEFINITIONS
      "$<$<COMPILE_LANGUAGE:CXX>:OMPI_SKIP_MPICXX>;$<$<COMPILE_LANGUAGE:CXX>:MPICH_SKIP_MPICXX>")
  endif()
endmacro()

macro(mpix_harmonize_refuse message)
  set(${CMAKE_FIND_PACKAGE_NAME}_FOUND FALSE)
  set(${CMAKE_FIND_PACKAGE_NAME}_NOT_FOUND_MESSAGE "${message}")
endmacro()

get_property(mpix_harmonize_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if(C IN_LIST mpix_harmonize_languages)
  set(mpix_harmonize_language C)
elseif(CXX IN_LIST mpix_harmonize_languages)
  set(mpix_harmonize_language CXX)
else()
  mpix_harmonize_refuse("mpix_harmonize needs a project with the language C or CXX (for Fortran: LANGUAGES C Fortran)")
  return()
endif()
find_dependency(MPI COMPONENTS ${mpix_harmonize_language})

if(NOT TARGET mpix_harmonize::mpix_harmonize)
  mpix_harmonize_find_flavor(${mpix_harmonize_language})
  set(mpix_harmonize_others "")
  file(GLOB mpix_harmonize_files "${CMAKE_CURRENT_LIST_DIR}/mpix_harmonize-library*.cmake")
  foreach(mpix_harmonize_file IN LISTS mpix_harmonize_files)
    include("${mpix_harmonize_file}")
    if("${mpix_harmonize_flavor}" STREQUAL "" OR
        "${mpix_harmonize_flavor}" STREQUAL "${mpix_harmonize_project_flavor}")
      mpix_harmonize_add_target(${mpix_harmonize_language})
      break()
    endif()
    list(APPEND mpix_harmonize_others "${mpix_harmonize_mpi_library}")
  endforeach()
  if(NOT TARGET mpix_harmonize::mpix_harmonize)
    mpix_harmonize_refuse("mpix_harmonize is installed here for ${mpix_harmonize_others}, but the project uses another \
MPI library (\"${mpix_harmonize_project_flavor}\"). Name the compiler of that one by \
-DMPI_${mpix_harmonize_language}_COMPILER=..., or install mpix_harmonize for yours.")
  endif()
endif()

# Another directory of the project may have made the target.
if(TARGET mpix_harmonize::mpix_harmonize)
  get_target_property(mpix_harmonize_include mpix_harmonize::mpix_harmonize INTERFACE_INCLUDE_DIRECTORIES)
  set(mpix_harmonize_FORTRAN_SOURCES
    "${mpix_harmonize_include}/mpix_harmonize_mpi.f90" "${mpix_harmonize_include}/mpix_harmonize_f08.f90")
endif()
