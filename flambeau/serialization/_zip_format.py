"""The fixed parts of a zip archive: what stands before a record, in the table, and at the end."""

from __future__ import annotations

import struct

__all__: list[str] = []

# Each begins with its mark.
LOCAL = struct.Struct("<4s5H3I2H")
CENTRAL = struct.Struct("<4s6H3I5H2I")
END = struct.Struct("<4s4H2IH")
END64 = struct.Struct("<4sQ2H2I4Q")
END64_PLACE = struct.Struct("<4sIQI")

LOCAL_MARK = b"PK\x03\x04"
DESCRIPTOR_MARK = b"PK\x07\x08"
CENTRAL_MARK = b"PK\x01\x02"
END_MARK = b"PK\x05\x06"
END64_MARK = b"PK\x06\x06"
END64_PLACE_MARK = b"PK\x06\x07"

WIDE = 0xFFFFFFFF  # in a 32-bit field: look at the 64-bit one
WIDE_ID = 1  # of the extra field that holds it
