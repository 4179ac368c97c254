"""The real NVRTC, where it is installed: what it makes of a kernel's source, without a GPU."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class CompiledKernel:
    """One kernel for one architecture."""

    name: str
    ptx: str
    registers: int
    stack_bytes: int
    spill_bytes: int

    def count(self, pattern: str) -> int:
        """Instructions of the PTX that match, up to the end of a word."""
        return len(re.findall(rf"\s{pattern}(?![\w.:])", self.ptx))


class Nvrtc:
    """The library by its file."""

    def __init__(self, file: str) -> None:
        self._library = ctypes.CDLL(file)
        for builtins in Path(file).parent.glob("libnvrtc-builtins.so.*"):
            ctypes.CDLL(str(builtins))  # as the core does: CUDA 13.0 does not find it beside itself

    def archs(self) -> list[int]:
        """Architectures that it makes code for, such as 90, ascending."""
        count = ctypes.c_int()
        assert self._library.nvrtcGetNumSupportedArchs(ctypes.byref(count)) == 0
        found = (ctypes.c_int * count.value)()
        assert self._library.nvrtcGetSupportedArchs(found) == 0
        return list(found)

    def compiled(self, source: bytes, options: list[str]) -> list[CompiledKernel]:
        """All kernels of a source; fails the test with the log where it does not compile."""
        program = ctypes.c_void_p()
        create = self._library.nvrtcCreateProgram
        assert create(ctypes.byref(program), source, b"kernels.cu", 0, None, None) == 0
        texts = [each.encode() for each in [*options, "--ptxas-options=-v"]]
        result = self._library.nvrtcCompileProgram(
            program, len(texts), (ctypes.c_char_p * len(texts))(*texts)
        )
        log = self._text("ProgramLog", program)
        assert result == 0, log
        ptx = self._text("PTX", program)
        self._library.nvrtcDestroyProgram(ctypes.byref(program))
        return [_kernel(name, body, log) for name, body in _entries(ptx)]

    def _text(self, what: str, program: ctypes.c_void_p) -> str:
        length = ctypes.c_size_t()
        assert getattr(self._library, f"nvrtcGet{what}Size")(program, ctypes.byref(length)) == 0
        into = ctypes.create_string_buffer(max(1, length.value))
        assert getattr(self._library, f"nvrtcGet{what}")(program, into) == 0
        return into.value.decode()


def _entries(ptx: str) -> list[tuple[str, str]]:
    parts = ptx.split(".entry ")[1:]
    return [(part.partition("(")[0].strip(), part) for part in parts]


def _kernel(name: str, ptx: str, log: str) -> CompiledKernel:
    """`log`: what ptxas says of each function after its name."""
    known = log.partition(f"Compiling entry function '{name}'")[2].partition("Compiling entry")[0]
    stack, stores, loads = (
        re.search(rf"(\d+) bytes {what}", known)
        for what in ("stack frame", "spill stores", "spill loads")
    )
    used = re.search(r"Used (\d+) registers", known)
    if not (stack and stores and loads and used):
        raise AssertionError(f"{name}: ptxas says nothing of it: {log}")
    return CompiledKernel(
        name=name,
        ptx=ptx,
        registers=int(used[1]),
        stack_bytes=int(stack[1]),
        spill_bytes=int(stores[1]) + int(loads[1]),
    )
