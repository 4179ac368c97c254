#!/usr/bin/env bash
# Builds memgauge on a GPU machine, measures the GPU's memory, prints one table, and writes
# docs/results/NAME-OF-THE-GPU.md and .json. No network is needed.
#
#   benchmarks/gpu/run.sh [--wheels FILE|DIRECTORY] [--build-only] [OPTION...]
#
# --wheels      a wheel of memgauge for this Python, or a directory with it and what else to install
#               (mpi4py and mpich, for fft3d); else it is built here, by pip with what is installed
#               (scikit-build-core, nanobind), else by cmake alone.
# --build-only  stop before measuring.
# OPTION        see: benchmarks/gpu/run.sh --help
#
# PYTHON names the Python to use (default python3); its own packages are seen.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

python=${PYTHON:-python3}
place=build/gpu
wheels=
build_only=false
options=()
while [[ $# -gt 0 ]]; do
    case $1 in
    --wheels)
        wheels=${2:?--wheels wants a file or a directory}
        shift
        ;;
    --build-only) build_only=true ;;
    *) options+=("$1") ;;
    esac
    shift
done

say() { echo "run.sh: $*" >&2; }

# Where machines are given the driver; not every dynamic loader looks there.
[[ ! -e /usr/local/nvidia/lib64/libcuda.so.1 ]] ||
    export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}/usr/local/nvidia/lib64

has_driver() { "$python" -c 'import ctypes; ctypes.CDLL("libcuda.so.1")' 2>/dev/null; }

# An environment that sees the packages of the Python that made it; empty: none can be made here.
make_environment() {
    [[ -x $place/venv/bin/python ]] && return 0
    "$python" -m venv --system-site-packages "$place/venv" >"$place/venv.log" 2>&1 || {
        rm -rf "$place/venv"
        return 1
    }
    # Also what is seen by a Python that is in an environment itself.
    "$python" -c 'import site, sys; print("\n".join(p for p in sys.path if p.endswith("-packages")))' \
        >"$("$place/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/seen.pth"
}

install_wheels() {
    local pip=("$place/venv/bin/python" -m pip --disable-pip-version-check install --quiet --no-index)
    if [[ -f $wheels ]]; then
        "${pip[@]}" --no-deps --force-reinstall "$wheels"
        return
    fi
    "${pip[@]}" --no-deps --force-reinstall "$wheels"/memgauge-*.whl
    local wheel
    for wheel in "$wheels"/*.whl; do
        [[ $wheel == */memgauge-* ]] || "${pip[@]}" --no-deps "$wheel" || say "not installed: $wheel"
    done
}

build_by_pip() {
    "$place/venv/bin/python" -m pip --disable-pip-version-check install --quiet --no-index --no-deps \
        --no-build-isolation --force-reinstall . >"$place/pip.log" 2>&1
}

# The package as it lies in the tree, with a core beside it.
build_by_cmake() {
    local nanobind
    nanobind=$("$1" -m nanobind --cmake_dir) || return 1
    {
        cmake -S . -B "$place/core" -DCMAKE_BUILD_TYPE=Release -DMEMGAUGE_BINDINGS=ON \
            -DMEMGAUGE_TESTS=OFF -DPython_EXECUTABLE="$(command -v "$1")" -Dnanobind_DIR="$nanobind" &&
            cmake --build "$place/core" -j "$(nproc)"
    } >"$place/cmake.log" 2>&1 || return 1
    rm -rf "$place/package"
    mkdir -p "$place/package"
    cp -r src/memgauge "$place/package/"
    rm -f "$place"/package/memgauge/_core*.so
    cp "$place"/core/bindings/_core*.so "$place/package/memgauge/"
    export PYTHONPATH=$PWD/$place/package${PYTHONPATH:+:$PYTHONPATH}
}

if ! has_driver && [[ " ${options[*]:-} " != *" --help "* ]] && ! $build_only; then
    say "no NVIDIA driver is here (libcuda.so.1): nothing is measured; run this on a GPU machine"
    exit 2
fi
mkdir -p "$place"
begin=$SECONDS
run=$python
if make_environment; then
    run=$PWD/$place/venv/bin/python
    if [[ -n $wheels ]]; then
        install_wheels
    elif build_by_pip; then
        :
    elif build_by_cmake "$run"; then
        say "pip could not build it ($(tail -n 1 "$place/pip.log")); cmake did"
    else
        say "memgauge could not be built; see $place/pip.log and $place/cmake.log, or give --wheels"
        exit 1
    fi
else
    [[ -z $wheels ]] || say "no virtual environment can be made here, so --wheels is not used"
    build_by_cmake "$python" || {
        say "memgauge could not be built; see $place/cmake.log"
        exit 1
    }
fi
(cd "$place" && "$run" -c 'import memgauge._core') || exit 1
say "memgauge is ready after $((SECONDS - begin)) s"
$build_only && exit 0
exec "$run" -m benchmarks.gpu ${options[@]+"${options[@]}"}
