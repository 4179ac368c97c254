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
