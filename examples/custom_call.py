#!/usr/bin/env python3
"""A custom call in Python: kashi run MODULE --custom-call 'my_scale=python3 examples/custom_call.py'

Kashi runs this with a directory: call.txt (the instruction), in0.npy … (its operands); out0.npy … is what it wants
back."""
import sys

import numpy as np

directory = sys.argv[1]
x = np.load(f"{directory}/in0.npy")
np.save(f"{directory}/out0.npy", (2 * x).astype(x.dtype))
