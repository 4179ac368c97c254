# Which instruction-set files exist for the target processor, and the flags of each.

# No loop may become a call to memcpy or memset; and, in files whose vectors are written out, heads
# and tails stay scalar and small.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(memgauge_no_idioms -fno-tree-loop-distribute-patterns)
  set(memgauge_no_vectorizer -fno-tree-vectorize)
else()
  set(memgauge_no_idioms -fno-builtin)
  set(memgauge_no_vectorizer -fno-vectorize -fno-slp-vectorize)
endif()

# Half of a sanitized build was to optimise what the sanitizers add to kernels. Nothing is lost: what
# they find here does not ask for an optimiser, and kernels know no object's size. Elsewhere tests
# read what the compiler made of them.
if(MEMGAUGE_SANITIZE)
  set(memgauge_isa_level -O0)
elseif(CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo)$")
  set(memgauge_isa_level -O3)
  set(memgauge_read_level -O3)
endif()

# One table of kernels in isa_<name>.cpp; what follows the name are its flags.
# -ffp-contract=off: no fused multiply-add, so that every variant gives the same bits.
function(memgauge_add_isa name)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/src/kernels/isa_${name}.cpp)
  target_sources(memgauge_core PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS
    "-ffp-contract=off;${memgauge_no_vectorizer};${memgauge_no_idioms};${memgauge_isa_level};${ARGN}")
endfunction()

# The plain loops in standard/standard_<name>.cpp, with the flags of a user's gcc -O3 -march=native:
# it may contract multiplications and additions, and its vectors have the width that is preferred.
function(memgauge_add_standard name)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/src/kernels/standard/standard_${name}.cpp)
  target_sources(memgauge_core PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS
    "-ffp-contract=fast;${memgauge_no_idioms};${memgauge_read_level};${ARGN}")
endfunction()

memgauge_add_isa(generic)
memgauge_add_standard(baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  memgauge_add_isa(sse2)
  memgauge_add_isa(avx2 -mavx2)
  memgauge_add_isa(avx512 -mavx512f)
  memgauge_add_standard(avx2 -mavx2 -mfma)
  memgauge_add_standard(avx512 -mavx512f -mfma -mprefer-vector-width=512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  memgauge_add_isa(neon)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(ppc64le|powerpc64le)$")
  # Baseline of every ppc64le distribution; says which instructions inline assembly may hold.
  memgauge_add_isa(vsx -mcpu=power8 -mvsx)
endif()

# Packed sets of the cache model, anew for each instruction set.
function(memgauge_add_packed_isa name)
  set_source_files_properties(src/cache/packed/${name}.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON
    COMPILE_OPTIONS "${ARGN}")
endfunction()

# Of templates that packed/portable.cpp instantiates too, and which access the same words by whatever
# instructions: sanitizers look at that one, and compile and run the others not at all.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND NOT MEMGAUGE_SANITIZE)
  memgauge_add_packed_isa(avx2 -mavx2)
  memgauge_add_packed_isa(avx512 -mavx512f)
endif()

# Other plain loops: gcc -O3 on the baseline processor. Those that translate addresses give the bits
# of the ones that do not, so they may fuse the same operations.
set_source_files_properties(src/kernels/translated.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON
  COMPILE_OPTIONS "-ffp-contract=fast;${memgauge_no_idioms};${memgauge_read_level}")
set_source_files_properties(src/nests/execute.cpp src/nests/execute_prefetching.cpp
  PROPERTIES SKIP_PRECOMPILE_HEADERS ON
  COMPILE_OPTIONS "-ffp-contract=off;${memgauge_no_idioms};${memgauge_read_level}")

# Accesses of a chosen size at a chosen distance: each must stay what it is.
set_source_files_properties(src/memory/accesses/walk.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON
  COMPILE_OPTIONS "-ffp-contract=off;${memgauge_no_vectorizer};${memgauge_no_idioms};${memgauge_read_level}")

# A test that reads the emitted instructions; it has nothing to say of unoptimised builds.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(MEMGAUGE_TESTS AND CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo)$" AND NOT MEMGAUGE_SANITIZE
   AND CMAKE_OBJDUMP AND Python3_FOUND)
  add_test(NAME emitted_code
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/kernels/emitted_code.py
      ${CMAKE_OBJDUMP} ${CMAKE_SYSTEM_PROCESSOR} $<TARGET_FILE:memgauge_core>)
endif()
