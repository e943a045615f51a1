#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# chain.py - a long computation that keeps its state in memory only, and knows nothing of gq
#
# A hash chain: digest(k) = sha256(digest(k-1) + k). Losing one step or doing one twice changes
# every digest after it, so the last line proves that all steps were done, once, in order.
#
# usage: chain.py STEPS [STEPS_PER_LINE]
import hashlib
import sys
import time

steps = int(sys.argv[1])
every = int(sys.argv[2]) if len(sys.argv) > 2 else max(1, steps // 10)
pause = 0.001  # a computation that waits for its card now and then

digest = b"gq"
for k in range(1, steps + 1):
    digest = hashlib.sha256(digest + k.to_bytes(8, "little")).digest()
    if k % 10 == 0:
        time.sleep(pause)
    if k % every == 0:
        print(f"step {k} {digest.hex()[:16]}", flush=True)
print(f"done {steps} {digest.hex()}", flush=True)
