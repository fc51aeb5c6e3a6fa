#!/bin/bash
# `: ${V:=x}` sets it
# with: TP=8 NAME=n
: ${TP:=4} "${NAME:="two words"}"
: "${PP:=$((TP / 2))}"
python3 -m trainer.main a.tp=$TP a.pp=$PP run.name="$NAME"
