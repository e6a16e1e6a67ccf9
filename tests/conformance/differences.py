"""Where Flambeau differs from torch on purpose, with the reason. Everything else must agree."""

# Calls that torch refuses by an accident of its implementation and Flambeau accepts, by the
# beginning of torch's message.
REFUSED_BY_ACCIDENT = {
    "MKL FFT error": "MKL cannot transform an empty batch; the result is simply empty",
    "view size is not compatible": "torch's own composition asks for a view where it needs a copy",
}


def accepted(error: Exception) -> bool:
    """Whether Flambeau may accept what torch refused with `error`."""
    return any(str(error).startswith(beginning) for beginning in REFUSED_BY_ACCIDENT)
