# Writes a small safetensors file: write-safetensors.py OUT NAME:DTYPE:SHAPE[:VALUE[,VALUE...]]..., values repeated
# SPDX-License-Identifier: MIT
import json
import math
import struct
import sys

FORMATS = {"F32": "f", "F64": "d", "I32": "i", "I64": "q", "I8": "b"}

header, data = {}, b""
for spec in sys.argv[2:]:
    name, dtype, shape, value = (spec + ":0").split(":")[:4]
    extents = [int(e) for e in shape.split("x")]
    values = [float(v) if dtype[0] == "F" else int(v) for v in value.split(",")]
    count = math.prod(extents)
    content = struct.pack("<%d%s" % (count, FORMATS[dtype]), *(values[i % len(values)] for i in range(count)))
    header[name] = {"dtype": dtype, "shape": extents,
                    "data_offsets": [len(data), len(data) + len(content)]}
    data += content
text = json.dumps(header).encode()
with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<Q", len(text)) + text + data)
