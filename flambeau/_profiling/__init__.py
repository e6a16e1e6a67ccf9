"""What profilers and counters of operations share: records, and what is made of them."""
