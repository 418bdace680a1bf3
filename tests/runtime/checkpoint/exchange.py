"""Reads a safetensors file with Python's package, prints what it has, and writes it anew.

usage: exchange.py FROM TO      (PYTHONPATH has the package)
Printed: one line a tensor, by name: name, dtype, shape, bytes in hexadecimal; then the metadata.
"""
import ctypes
import sys

from safetensors import TensorSpec, deserialize, serialize_file

source, target = sys.argv[1:]
with open(source, "rb") as file:
    content = file.read()
tensors = sorted(deserialize(content))
for name, tensor in tensors:
    print(name, tensor["dtype"], tensor["shape"], bytes(tensor["data"]).hex())

# How the package names dtypes where it writes.
written = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "F8_E8M0": "float8_e8m0fnu",
    "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8",
    "U64": "uint64", "U32": "uint32", "U16": "uint16", "U8": "uint8", "BOOL": "bool",
    "C64": "complex64",
}
buffers, specs = [], {}
for name, tensor in tensors:
    data = bytes(tensor["data"])
    buffers.append(ctypes.create_string_buffer(data, max(len(data), 1)))
    specs[name] = TensorSpec(
        dtype=written[tensor["dtype"]], shape=tensor["shape"],
        data_ptr=ctypes.addressof(buffers[-1]), data_len=len(data))
serialize_file(specs, target, {"written by": "python"})
