#!/bin/bash
# A variable that nobody set
# with: MODEL_DIR=/m
# says: importer.no_default:5
python3 -m trainer.main model.path=$MODEL_DIR/base
