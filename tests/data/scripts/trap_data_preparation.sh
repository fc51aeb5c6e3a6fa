#!/bin/bash
# Data preparation before the training is no training
# with: OUT=/d
# says: importer.not_carried:5
python3 examples/data_preprocess/gsm8k.py --local_dir ${OUT:-/data}
python3 -m trainer.main data.dir=${OUT:-/data}
