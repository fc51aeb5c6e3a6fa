#!/bin/bash
# File names: patterns that match, that do not, and that are quoted; no hidden files
# with: DIR=conf
python3 -m trainer.main data/*.parquet data/train_?.parquet "data/*.parquet" data.x=[12] nothing_*.x ${DIR:-data}/* data/[!t]*
