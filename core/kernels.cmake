# Which instruction-set files exist for the target processor, and the flags of each.

# One table of kernels in isa_<name>.cpp; what follows the name are its flags.
function(memgauge_add_isa name)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/src/kernels/isa_${name}.cpp)
  target_sources(memgauge_core PRIVATE ${source})
  # -ffp-contract=off: no fused multiply-add, so that every variant gives the same bits.
  # -fno-tree-vectorize: vectors are written out; heads and tails stay scalar and small.
  # -fno-tree-loop-distribute-patterns: no loop becomes a call to memcpy or memset.
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
    "-ffp-contract=off;-fno-tree-vectorize;-fno-tree-loop-distribute-patterns;${ARGN}")
endfunction()

memgauge_add_isa(generic)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  memgauge_add_isa(sse2)
  memgauge_add_isa(avx2 -mavx2)
  memgauge_add_isa(avx512 -mavx512f)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  memgauge_add_isa(neon)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(ppc64le|powerpc64le)$")
  # Baseline of every ppc64le distribution; says which instructions inline assembly may hold.
  memgauge_add_isa(vsx -mcpu=power8 -mvsx)
endif()

# The plain loops, with the flags to compare STREAM's with: gcc -O3 on the baseline processor.
set_source_files_properties(src/kernels/standard.cpp PROPERTIES COMPILE_OPTIONS
  "-ffp-contract=off;-fno-tree-loop-distribute-patterns")

# A test that reads the emitted instructions; it has nothing to say of unoptimised builds.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(MEMGAUGE_TESTS AND CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo)$" AND NOT MEMGAUGE_SANITIZE
   AND CMAKE_OBJDUMP AND Python3_FOUND)
  add_test(NAME emitted_code
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/emitted_code.py
      ${CMAKE_OBJDUMP} ${CMAKE_SYSTEM_PROCESSOR} $<TARGET_FILE:memgauge_core>)
endif()
