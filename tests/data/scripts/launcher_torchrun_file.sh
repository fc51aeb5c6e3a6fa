#!/bin/bash
# torchrun of a file; python -m torch.distributed.run is the same
# with: NPROC=4
python3 -m torch.distributed.run --standalone --nproc-per-node=${NPROC:-8} train/sft.py data.a=1
