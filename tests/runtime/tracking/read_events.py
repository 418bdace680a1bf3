"""read_events.py FOLDER: prints the events of TensorBoard's files in it, in the order of their names.

It knows the formats by itself, and fails for a record whose length or sums are wrong, or that is short.
"""
import struct
import sys
from pathlib import Path


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        body = data[12:12 + length]
        assert len(data) >= 16 + length, "a short record"
        assert struct.unpack("<I", data[8:12])[0] == masked(data[:8]), "sum of the length"
        assert struct.unpack("<I", data[12 + length:16 + length])[0] == masked(body), "sum of the data"
        yield body
        data = data[16 + length:]


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value) of a message: whole numbers, floats, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            assert len(value) == length
        else:
            form, length = {1: ("<d", 8), 5: ("<f", 4)}[kind]
            (value,) = struct.unpack(form, data[at:at + length])
            at += length
        yield key >> 3, value


def one(data, *path, default=None):
    for number in path:
        data = next((value for key, value in fields(data) if key == number), default)
        if data is default:
            break
    return data


for path in sorted(Path(sys.argv[1]).glob("events.out.tfevents.*")):
    for event in records(path.read_bytes()):
        step, time = one(event, 2, default=0), one(event, 1)
        if version := one(event, 3):
            print("version", version.decode())
        if one(event, 7) is not None:
            print("session", step, one(event, 7, 1))
        for _, value in fields(one(event, 5, default=b"")):
            tag = one(value, 1).decode()
            plugin = one(value, 9, 1, 1, default=b"").decode()
            if plugin == "text":
                print("text", step, tag, repr(one(value, 8, 8).decode()))
            elif plugin:
                print(plugin, step, tag)
            else:
                print("scalar", step, time, tag, one(value, 2))
