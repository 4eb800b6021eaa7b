"""What this machine is, which target it uses and why, and what is wrong with it.

`facts.look()` asks the machine; `checks.examine(machine)` is pure and judges the answers, so
every trap can be tested on a machine that does not have it.
"""

from gpukit.doctor import folders
from gpukit.doctor.checks import examine
from gpukit.doctor.facts import Machine, look
from gpukit.doctor.finding import Finding

__all__ = ["Finding", "Machine", "examine", "folders", "look"]
