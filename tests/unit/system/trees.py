"""Made-up sysfs and procfs trees of machines that are not at hand, in the kernel's own formats.

A machine is a dictionary from absolute path to contents, so that a test can change or drop a file.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from memgauge.model.cpulist import format_cpu_list
from memgauge.system.tree import Tree

Files = dict[str, str]

CPUS = "/sys/devices/system/cpu"
NODES = "/sys/devices/system/node"
X86_FLAGS = "fpu sse2 constant_tsc nonstop_tsc avx2"


def plant(root: Path, files: Files) -> Tree:
    for path, contents in files.items():
        target = root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(contents, encoding="utf-8")
    return Tree(root)


def cpu_directory(cpu: int, siblings: Sequence[int], package: int) -> Files:
    topology = f"{CPUS}/cpu{cpu}/topology"
    return {
        f"{topology}/core_cpus_list": format_cpu_list(siblings) + "\n",
        f"{topology}/thread_siblings_list": format_cpu_list(siblings) + "\n",
        f"{topology}/physical_package_id": f"{package}\n",
        f"{topology}/core_id": f"{min(siblings)}\n",
    }


def cache(index: int, level: int, kind: str, size_kib: int, sharers: Iterable[int]) -> Files:
    shared = list(sharers)
    ways = 8
    made: Files = {}
    for cpu in shared:
        directory = f"{CPUS}/cpu{cpu}/cache/index{index}"
        made |= {
            f"{directory}/level": f"{level}\n",
            f"{directory}/type": f"{kind}\n",
            f"{directory}/size": f"{size_kib}K\n",
            f"{directory}/coherency_line_size": "64\n",
            f"{directory}/ways_of_associativity": f"{ways}\n",
            f"{directory}/number_of_sets": f"{size_kib * 1024 // 64 // ways}\n",
            f"{directory}/shared_cpu_list": format_cpu_list(shared) + "\n",
        }
    return made


def core_caches(threads: Sequence[int], l1d_kib: int, l1i_kib: int, l2_kib: int = 0) -> Files:
    made = cache(0, 1, "Data", l1d_kib, threads) | cache(1, 1, "Instruction", l1i_kib, threads)
    return made | (cache(2, 2, "Unified", l2_kib, threads) if l2_kib else {})


def node_directory(node: int, cpus: Iterable[int], size_kib: int, distances: str) -> Files:
    directory = f"{NODES}/node{node}"
    return {
        f"{directory}/cpulist": format_cpu_list(cpus) + "\n",
        f"{directory}/distance": f"{distances}\n",
        f"{directory}/meminfo": (
            f"Node {node} MemTotal:       {size_kib} kB\n"
            f"Node {node} MemFree:        {size_kib // 2} kB\n"
            f"Node {node} Inactive(file): {size_kib // 8} kB\n"
        ),
    }


def lists(online: Iterable[int], nodes: Sequence[int], offline: str = "") -> Files:
    text = format_cpu_list(online)
    return {
        f"{CPUS}/online": f"{text}\n",
        f"{CPUS}/present": ",".join(part for part in (text, offline) if part) + "\n",
        f"{CPUS}/offline": f"{offline}\n",
        f"{NODES}/online": format_cpu_list(nodes) + "\n",
        "/proc/self/status": f"VmSize:\t    4096 kB\nCapEff:\t0000000000000000\n"
        f"Uid:\t1000\t1000\t1000\t1000\nCpus_allowed_list:\t{text}\nMems_allowed_list:\t{format_cpu_list(nodes)}\n",
    }


def process(architecture: str, total_kib: int, cpuinfo: str) -> Files:
    return {
        "/proc/sys/kernel/arch": f"{architecture}\n",
        "/proc/sys/kernel/osrelease": "6.9.1-test\n",
        "/proc/cpuinfo": cpuinfo,
        "/proc/meminfo": f"MemTotal:       {total_kib} kB\nMemFree:        1 kB\n"
        f"MemAvailable:   {total_kib // 2} kB\n",
        "/proc/stat": "cpu  100 0 50 1000 5 0 5 7 0 0\ncpu0 100 0 50 1000 5 0 5 7 0 0\n",
        "/proc/loadavg": "1.25 0.50 0.25 1/100 1234\n",
    }


def x86(name: str, flags: str = X86_FLAGS) -> str:
    return f"processor\t: 0\nmodel name\t: {name}\nflags\t\t: {flags}\n\n"


def xeon() -> Files:
    """Two sockets of 4 cores with SMT; CPU n and n + 8 are siblings, as Linux numbers Xeons."""
    files = lists(range(16), [0, 1]) | process("x86_64", 64 << 20, x86("Xeon Example"))
    for core in range(8):
        threads = [core, core + 8]
        files |= core_caches(threads, 32, 32, 1024)
        for cpu in threads:
            files |= cpu_directory(cpu, threads, core // 4)
    for node, first in enumerate((0, 4)):
        cpus = [*range(first, first + 4), *range(first + 8, first + 12)]
        files |= cache(3, 3, "Unified", 22528, cpus)
        files |= node_directory(node, cpus, 32 << 20, "10 21" if node == 0 else "21 10")
    return files


def hybrid() -> Files:
    """4 performance cores with SMT (CPUs 0-7), 4 efficiency cores (8-11) on one L2."""
    files = lists(range(12), [0]) | process("x86_64", 32 << 20, x86("Core Example"))
    for core in range(4):
        threads = [2 * core, 2 * core + 1]
        files |= core_caches(threads, 48, 32, 1280)
        for cpu in threads:
            files |= cpu_directory(cpu, threads, 0)
    for cpu in range(8, 12):
        files |= core_caches([cpu], 32, 64) | cpu_directory(cpu, [cpu], 0)
    files |= cache(2, 2, "Unified", 2048, range(8, 12))
    files |= cache(3, 3, "Unified", 18432, range(12))
    files |= {"/sys/devices/cpu_core/cpus": "0-7\n", "/sys/devices/cpu_atom/cpus": "8-11\n"}
    return files | node_directory(0, range(12), 32 << 20, "10")


def altra() -> Files:
    """Two sockets of 80 Neoverse N1 without SMT; package numbers as ACPI gives them, sparse."""
    cpuinfo = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\n"
    files = lists(range(160), [0, 1]) | process("aarch64", 512 << 20, cpuinfo)
    for cpu in range(160):
        files |= cpu_directory(cpu, [cpu], 36 if cpu < 80 else 3180)
        files |= core_caches([cpu], 64, 64, 1024)
    for node in (0, 1):
        cpus = range(80 * node, 80 * node + 80)
        files |= cache(3, 3, "Unified", 32768, cpus)
        files |= node_directory(node, cpus, 256 << 20, "10 20" if node == 0 else "20 10")
    return files


def power9() -> Files:
    """Two sockets of 4 SMT4 cores, L2 and L3 per pair of cores; node 8 follows node 0."""
    cpuinfo = "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nmachine\t\t: PowerNV 8335\n"
    files = lists(range(32), [0, 8]) | process("ppc64le", 256 << 20, cpuinfo)
    for core in range(8):
        threads = range(4 * core, 4 * core + 4)
        files |= core_caches(threads, 32, 32)
        for cpu in threads:
            files |= cpu_directory(cpu, threads, 0 if core < 4 else 8)
    for pair in range(4):
        threads = range(8 * pair, 8 * pair + 8)
        files |= cache(2, 2, "Unified", 512, threads) | cache(3, 3, "Unified", 10240, threads)
    files |= node_directory(0, range(16), 128 << 20, "10 40")
    files |= node_directory(8, range(16, 32), 128 << 20, "40 10")
    # POWER's kernels tell neither ways nor sets of these.
    return {p: c for p, c in files.items() if not p.endswith(("associativity", "of_sets"))}


def with_cxl() -> Files:
    """The Xeon and a node of CXL memory without CPUs."""
    files = xeon() | node_directory(2, [], 128 << 20, "14 24 10")
    files |= process("x86_64", 192 << 20, x86("Xeon Example"))
    files |= {
        f"{NODES}/online": "0-2\n",
        "/proc/self/status": files["/proc/self/status"].replace("list:\t0-1\n", "list:\t0-2\n"),
        f"{NODES}/node0/distance": "10 21 14\n",
        f"{NODES}/node1/distance": "21 10 24\n",
    }
    return files


def guest() -> Files:
    """4 virtual CPUs, each a socket, no L3, as some cloud guests look."""
    files = lists(range(4), [0])
    files |= process("x86_64", 8 << 20, x86("Cloud Example", f"{X86_FLAGS} hypervisor"))
    for cpu in range(4):
        files |= cpu_directory(cpu, [cpu], cpu) | core_caches([cpu], 32, 32, 512)
    files |= node_directory(0, range(4), 8 << 20, "10")
    return files | {
        "/sys/class/dmi/id/sys_vendor": "QEMU\n",
        "/sys/class/dmi/id/product_name": "Standard PC\n",
    }


def sparse() -> Files:
    """CPU numbers above 1024 with gaps, and offline CPUs whose directories are still there."""
    online = [0, 2, 1024, 1027, 1536]
    files = lists(online, [0], offline="1,3")
    files |= process("x86_64", 8 << 20, x86("Sparse Example"))
    for cpu in online:
        files |= cpu_directory(cpu, [cpu], 0) | core_caches([cpu], 32, 32, 512)
    files |= cache(3, 3, "Unified", 16384, online) | node_directory(0, online, 8 << 20, "10")
    return files | {f"{CPUS}/cpu1/online": "0\n", f"{CPUS}/cpu3/online": "0\n"}


MACHINES = {
    "xeon": xeon,
    "hybrid": hybrid,
    "altra": altra,
    "power9": power9,
    "with_cxl": with_cxl,
    "guest": guest,
    "sparse": sparse,
}
