"""The device `cuda`: on a GPU where there is one, else on the emulator (`make emulated`)."""
