false
python3 -m trainer.never a.b=1
