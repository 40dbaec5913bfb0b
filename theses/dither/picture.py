#!/usr/bin/env python3
"""Makes the PNG of a PGM or PBM file (P5 with one byte a sample, P4), as in README.md:

    dither --scene 480x320 | tee scene.pgm | dither > scene.pbm
    theses/dither/picture.py scene.pgm scene.png; theses/dither/picture.py scene.pbm dithered.png
"""
import struct
import sys
import zlib


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(pnm):
    fields = pnm.split(maxsplit=4 if pnm.startswith(b"P5") else 3)
    grey = fields[0] == b"P5"
    width, height = int(fields[1]), int(fields[2])
    stride = width if grey else (width + 7) // 8
    pixels = pnm[len(pnm) - stride * height:]
    if not grey:
        pixels = bytes(255 - byte for byte in pixels)  # 1 is black in a PBM file, and white in PNG
    # Differences from the row above compress a smooth picture well; dots are best left unchanged.
    kind = 2 if grey else 0
    rows, above = [], bytes(stride)
    for y in range(height):
        row = pixels[y * stride:(y + 1) * stride]
        coded = bytes((new - old) & 255 for new, old in zip(row, above)) if grey else row
        rows.append(bytes([kind]) + coded)
        above = row
    header = struct.pack(">IIBBBBB", width, height, 8 if grey else 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"".join(rows), 9)) + chunk(
        b"IEND", b"")


if __name__ == "__main__":
    source, target = sys.argv[1:]
    with open(source, "rb") as file:
        made = png(file.read())
    with open(target, "wb") as file:
        file.write(made)
