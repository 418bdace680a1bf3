"""Writes data files with NumPy, Pillow and tarfile into the folder that is named (PYTHONPATH has them)."""
import io
import sys
import tarfile
from pathlib import Path

import numpy
from PIL import Image

folder = Path(sys.argv[1])

DTYPES = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64",
          "float16", "float32", "float64", "complex64", "complex128"]
counted = numpy.arange(6).reshape(2, 3)
for dtype in DTYPES:
    numpy.save(folder / f"{dtype}.npy", counted.astype(dtype))
numpy.save(folder / "fortran.npy", numpy.asfortranarray(counted.astype("float32")))
numpy.save(folder / "scalar.npy", numpy.float32(7))
numpy.save(folder / "empty.npy", numpy.zeros((0, 3), "int64"))
for version in (2, 3):
    with open(folder / f"version{version}.npy", "wb") as file:
        numpy.lib.format.write_array(file, counted, version=(version, 0))
numpy.save(folder / "big_endian.npy", counted.astype(">i4"))
numpy.save(folder / "records.npy", numpy.zeros(2, [("a", "i4"), ("b", "f4")]))
numpy.save(folder / "text.npy", numpy.array(["ab"]))

# A picture with smooth colours and edges, and what it should be read as: channels, height, width.
rows, columns = numpy.mgrid[0:40, 0:60]
picture = numpy.stack([rows * 6, columns * 4, 255 * (columns > 30)], axis=2).astype("uint8")
rgb = Image.fromarray(picture)
numpy.save(folder / "rgb.npy", picture.transpose(2, 0, 1))
for ending in ("png", "bmp", "ppm"):
    rgb.save(folder / f"rgb.{ending}")
rgb.convert("L").save(folder / "grey.png")
numpy.save(folder / "grey.npy", numpy.asarray(rgb.convert("L"))[None])
rgb.convert("RGBA").save(folder / "rgba.png")
rgb.convert("P", palette=Image.Palette.ADAPTIVE).save(folder / "rgb.gif")
for name, options in {"baseline": {}, "progressive": {"progressive": True}}.items():
    rgb.save(folder / f"{name}.jpg", quality=95, **options)
    decoded = numpy.asarray(Image.open(folder / f"{name}.jpg"))
    numpy.save(folder / f"{name}.npy", decoded.transpose(2, 0, 1))


def add(shard, name, content):
    member = tarfile.TarInfo(name)
    member.size = len(content)
    shard.addfile(member, io.BytesIO(content))


LONG = "folder/" * 30 + "x" * 120
FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}
for name, form in FORMATS.items():
    with tarfile.open(folder / f"{name}.tar", "w", format=form) as shard:
        shard.add(folder, "train", recursive=False)
        for i in range(3):
            add(shard, f"train/{i:04}.CLS", f"{i * i}\n".encode())
            add(shard, f"train/{i:04}.seg.txt", f"text {i}".encode())
        add(shard, "train/.hidden", b"")
        add(shard, "train/README", b"no part of a sample")
        if name != "ustar":
            add(shard, f"{LONG}.cls", b"-7")
            add(shard, f"{LONG}.seg.txt", "ü".encode() * 5000)
with tarfile.open(folder / "packed.tar.gz", "w:gz") as shard:
    add(shard, "0.cls", b"1")
