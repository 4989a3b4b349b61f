# The one program of a guest's initramfs: static, so that it needs no file beside it. Left out where
# liburing has no static library, and with sanitizers, which cannot be linked statically; `native --vm`
# then says so.
find_library(LIBURING_STATIC NAMES liburing.a)
find_library(FMT_STATIC NAMES libfmt.a)
if(LIBURING_STATIC AND NOT URINGSIM_SANITIZE AND (FMT_STATIC OR fmt_VERSION VERSION_LESS 10))
  file(GLOB guest_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/../uring/*.cpp)
  list(APPEND guest_sources ${CMAKE_CURRENT_LIST_DIR}/main.cpp)
  foreach(name job record refusal btf kernel_symbols counter_plan)
    list(APPEND guest_sources ${CMAKE_CURRENT_LIST_DIR}/../${name}.cpp)
  endforeach()
  if(NOT FMT_STATIC)
    list(APPEND guest_sources ${CMAKE_CURRENT_LIST_DIR}/fmt_static.cpp)
    set(FMT_STATIC "")
  endif()
  add_executable(uringsim_guest_init ${guest_sources})
  add_dependencies(uringsim_guest_init uringsim_scenarios)
  target_link_libraries(uringsim_guest_init PRIVATE uringsim_options -static
    $<TARGET_FILE:uringsim_scenarios> $<TARGET_FILE:uringsim_models> $<TARGET_FILE:uringsim_sim>
    ${FMT_STATIC} ${LIBURING_STATIC})
  target_compile_definitions(uringsim_analysis PRIVATE
    URINGSIM_GUEST_INIT="$<TARGET_FILE:uringsim_guest_init>"
    URINGSIM_INSTALLED_GUEST_INIT="${CMAKE_INSTALL_FULL_LIBEXECDIR}/uringsim/uringsim_guest_init")
  install(TARGETS uringsim_guest_init DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/uringsim)
endif()
