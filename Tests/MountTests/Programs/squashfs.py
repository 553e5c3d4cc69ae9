"""Creates a squashfs image with two files: `holes`, which has holes, and `odd`, which ends within a block."""
import struct
import sys

BLOCK = 4096
NONE64, NONE32 = (1 << 64) - 1, (1 << 32) - 1
STORED = 1 << 24  # not compressed


def metadata(data):
    return struct.pack("<H", 0x8000 | len(data)) + data


def header(kind, mode, number):
    return struct.pack("<HHHHII", kind, mode, 0, 0, 1_000_000_000, number)


blocks = {0: b"a" * BLOCK, 9: b"z" * BLOCK}  # two of the ten blocks
data = b"".join(blocks.values())
holes = header(9, 0o644, 1) + struct.pack(
    "<QQQIIII", 96, 10 * BLOCK, (10 - len(blocks)) * BLOCK, 1, NONE32, 0, NONE32)
holes += b"".join(struct.pack("<I", STORED | BLOCK if index in blocks else 0) for index in range(10))
text = b"odd" * 2000
odd = header(2, 0o644, 2) + struct.pack("<IIII", 96 + len(data), NONE32, 0, len(text))
odd += b"".join(struct.pack("<I", STORED | len(text[at:at + BLOCK])) for at in range(0, len(text), BLOCK))
data += text

listing = struct.pack("<III", 1, 0, 1)
for name, offset, number in ((b"holes", 0, 1), (b"odd", len(holes), 2)):
    listing += struct.pack("<HhHH", offset, number - 1, 2, len(name) - 1) + name
root = header(1, 0o755, 3) + struct.pack("<IIHHI", 0, 2, len(listing) + 3, 0, 4)

inodes = 96 + len(data)
table = metadata(holes + odd + root)
folders = inodes + len(table)
table += metadata(listing)
owners = inodes + len(table)
table += metadata(struct.pack("<I", 0))
index = inodes + len(table)
table += struct.pack("<Q", owners)
end = inodes + len(table)
super_block = struct.pack(
    "<IIIIIHHHHHHQQQQQQQQ", 0x73717368, 3, 1_000_000_000, BLOCK, 0, 1, 12, 0x1 | 0x2 | 0x10 | 0x200, 1, 4, 0,
    len(holes) + len(odd), end, index, NONE64, inodes, folders, NONE64, NONE64)
with open(sys.argv[1], "wb") as image:
    image.write((super_block + data + table).ljust(16 * BLOCK, b"\0"))
