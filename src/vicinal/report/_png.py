"""A PNG writer for one kind of picture: 256 steps of one colour, from transparent to solid."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

INK = (0, 114, 178)
FAINTEST = 70  # the alpha of the value 1: present must not look absent


def png(pixels: NDArray[np.uint8], ink: tuple[int, int, int] = INK) -> bytes:
    """Pixels as a palette picture: 0 is transparent, 255 solid ink, so that it lies on any background."""
    height, width = pixels.shape
    alphas = np.r_[0, np.linspace(FAINTEST, 255, 255)].round().astype(np.uint8)
    lines = np.zeros((height, width + 1), np.uint8)  # each line starts with its filter: none
    lines[:, 1:] = pixels
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", bytes(ink) * 256),
            _chunk(b"tRNS", alphas.tobytes()),
            _chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)),
            _chunk(b"IEND", b""),
        )
    )


def data_uri(pixels: NDArray[np.uint8]) -> str:
    return "data:image/png;base64," + base64.b64encode(png(pixels)).decode("ascii")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
