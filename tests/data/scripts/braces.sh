#!/bin/bash
# {a,b} multiplies words, {1..3} counts, and Hydra's own braces do so too where they hold a comma
# with: N=2
python3 -m trainer.main x.y={a,b} f{1..3}=1 g{08..10..2}=1 "x.z={a,b}" x.{p,q}.lr=${N:-1} '{a,b}=1' x.k={a:1} {z..x}=1
