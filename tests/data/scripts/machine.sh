#!/bin/bash
# What only the machine knows: a date, processors, folders, names
# with: X=1
cd "$(dirname "$0")"
HERE=$(pwd)
YEAR=$(date +%Y)
RUN=${RUN:-run_$(date +%Y)}
CPUS=$(nproc)
python3 -m trainer.main here=$HERE year=$YEAR run.name=$RUN cpus=$CPUS half=$((CPUS / 2)) host=$(hostname) me=$(whoami) pwd=$PWD \
    arch=$(uname -m) os=$OSTYPE script=$(basename "$0")
