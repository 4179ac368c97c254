# Copyright the memgauge developers. BSD-3-Clause.

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyMemgauge(PythonPackage):
    """Measures how fast a computer's memory really is, and where a program's memory traffic goes."""

    # With the first release: homepage, git, and versions with the checksum of the source archive.
    license("BSD-3-Clause")

    version("develop")

    variant("export", default=False, description="Parquet and Arrow files, data frames")
    variant("pictures", default=False, description="Charts as SVG and PNG files")
    variant("mpi", default=False, description="Ranks that exchange data: fft3d")

    requires("platform=linux", msg="memgauge measures on Linux")

    depends_on("c", type="build")
    depends_on("cxx", type="build")

    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-scikit-build-core+pyproject@0.11:", type="build")
    depends_on("py-nanobind@2.7:", type="build")
    depends_on("cmake@3.21:", type="build")
    depends_on("ninja", type="build")

    depends_on("py-click@8.1:", type=("build", "run"))
    depends_on("py-msgspec@0.19:", type=("build", "run"))
    depends_on("py-rich@13.7:", type=("build", "run"))
    for target in ("x86_64", "aarch64"):  # elsewhere memgauge says why it draws nothing
        depends_on("py-altair@5.5:", type=("build", "run"), when=f"target={target}:")
        depends_on("py-vl-convert-python@1.7:", type="build", when=f"target={target}:")
        depends_on("py-vl-convert-python@1.7:", type="run", when=f"+pictures target={target}:")
    depends_on("py-polars@1.20:", type=("build", "run"), when="+export")
    depends_on("py-mpi4py@4.1:", type=("build", "run"), when="+mpi")
    depends_on("py-numpy@2.0:", type=("build", "run"), when="+mpi")
