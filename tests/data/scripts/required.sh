#!/bin/bash
# ${V:?why}
# with: MODEL=/m
# refused: importer.required
python3 -m trainer.main model.path=${MODEL:?give the model}
