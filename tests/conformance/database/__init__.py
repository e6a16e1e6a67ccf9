"""The databases behind torch's own tests, run on torch and on Flambeau."""

import torch
import torch.testing._internal.common_utils

# Importing it forbids to set flags of backends, which other tests do in the same process.
torch.backends.flags_frozen.__globals__["__allow_nonbracketed_mutation_flag"] = True
