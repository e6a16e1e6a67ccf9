"""What is measured: every case is written once, as a function of the module `t`."""
