"""Fields to transform, which any rank can generate for any part of the array.

A field is either noise, whose transform is compared with that of a library, or a few plane waves,
whose transform is known in closed form: a single number for each wave, at its wave numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec

from memgauge.fft3d.decomposition import Block

if TYPE_CHECKING:
    from memgauge.fft3d.arrays import Complex, Integers

WAVES = 8
_SEED = 20_261_122


class Field(Protocol):
    """An array of size x size x size complex doubles."""

    def fill(self, block: Block, stored: Complex) -> None:
        """The part with x in the block's first range, y in its second, all z; flat."""


class Noise(msgspec.Struct, frozen=True):
    """Real and imaginary parts uniform in [-1, 1), from a hash of the position.

    The hash is SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
    2014).
    """

    size: int

    def fill(self, block: Block, stored: Complex) -> None:
        """Plane by plane, in the same few buffers."""
        import numpy as np

        size = self.size
        planes = stored.reshape(len(block.first), len(block.second), size)
        rows = np.arange(block.second.start, block.second.stop, dtype=np.uint64)
        in_plane = rows[:, None] * np.uint64(size) + np.arange(size, dtype=np.uint64)[None, :]
        bits, shifted = np.empty_like(in_plane), np.empty_like(in_plane)
        numbers = np.empty(in_plane.shape)
        for plane, x in zip(planes, block.first, strict=True):
            for part, second in ((plane.real, 0), (plane.imag, 1)):
                # Numbered from 1 on: x, y, z, then real or imaginary.
                np.add(in_plane, np.uint64(x * size**2), out=bits)
                bits *= np.uint64(2)
                bits += np.uint64(second + 1)
                _hash(bits, shifted)
                bits >>= np.uint64(11)
                np.multiply(bits, 2.0**-52, out=numbers)
                np.subtract(numbers, 1.0, out=part)


def _hash(bits: Integers, shifted: Integers) -> None:
    """In place; integers wrap around."""
    import numpy as np

    bits *= np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        np.right_shift(bits, np.uint64(shift), out=shifted)
        bits ^= shifted
        bits *= np.uint64(factor)


class Wave(msgspec.Struct, frozen=True, kw_only=True):
    """exp(2 pi i (kx x + ky y + kz z) / N), times the amplitude."""

    kx: int
    ky: int
    kz: int
    amplitude: complex


class Waves(msgspec.Struct, frozen=True):
    """A sum of plane waves."""

    size: int
    waves: list[Wave]

    def fill(self, block: Block, stored: Complex) -> None:
        """Each wave is a product of three vectors."""
        import numpy as np

        size = self.size
        turn = np.exp(2j * np.pi * np.arange(size) / size)
        places = np.arange(size)
        planes = stored.reshape(len(block.first), len(block.second), size)
        ys = np.arange(block.second.start, block.second.stop)
        along_y = np.array([turn[wave.ky * ys % size] for wave in self.waves])
        along_z = np.array([turn[wave.kz * places % size] for wave in self.waves])
        for plane, x in zip(planes, block.first, strict=True):
            factors = np.array([w.amplitude * turn[w.kx * x % size] for w in self.waves])
            np.matmul((factors[:, None] * along_y).T, along_z, out=plane)


def some_waves(size: int, count: int = WAVES) -> Waves:
    """The waves for a size, always the same: distinct wave numbers all over the array."""
    import numpy as np

    count = min(count, size**3)
    chosen = np.random.default_rng(_SEED)
    places = chosen.choice(size**3, count, replace=False)
    amplitudes = np.exp(2j * np.pi * chosen.random(len(places)))
    return Waves(
        size,
        [
            Wave(
                kx=int(place) // size**2,
                ky=int(place) // size % size,
                kz=int(place) % size,
                amplitude=complex(amplitude),
            )
            for place, amplitude in zip(places, amplitudes, strict=True)
        ],
    )
