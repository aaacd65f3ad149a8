# SPDX-License-Identifier: BSD-3-Clause
# The names by which users of the prototype ask for the library.
include("${CMAKE_CURRENT_LIST_DIR}/../mpix_harmonize/mpix_harmonize-config.cmake")
if(TARGET mpix_harmonize::mpix_harmonize AND NOT TARGET MPIXHarmonize::mpix-harmonize)
  add_library(MPIXHarmonize::mpix-harmonize INTERFACE IMPORTED)
  set_target_properties(MPIXHarmonize::mpix-harmonize PROPERTIES
    INTERFACE_LINK_LIBRARIES mpix_harmonize::mpix_harmonize)
endif()
