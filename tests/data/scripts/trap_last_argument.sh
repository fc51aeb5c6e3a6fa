#!/bin/bash
# The last argument by its number, which the import does not know
# arguments: a.b=1 c.d=2
python3 -m trainer.main "$@" last=${!#}
