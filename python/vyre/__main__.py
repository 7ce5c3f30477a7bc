"""`python -m vyre`: what this machine has."""

import vyre

print(vyre.info())
