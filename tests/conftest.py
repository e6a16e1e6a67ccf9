"""What holds for all tests."""

import signal

# Shells start programs in the background with Ctrl-C ignored, and that is handed down to the
# programs that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
