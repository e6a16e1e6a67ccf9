"""Operators on a device whose memory the host may not touch: `make shadow`, see csrc/shadow."""
