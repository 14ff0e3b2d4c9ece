"""Random, round and coinciding parameters for every public function, checked independently.

`draws` makes parameters, `references` and `oracles` hold independent
accounts, `checks_*` the relations that must hold, `runner` runs them for a given
time (`make fuzz`).
"""

from fuzz.checks_attack import CHECKS as ATTACK
from fuzz.checks_best import CHECKS as BEST
from fuzz.checks_budget import CHECKS as BUDGET
from fuzz.checks_exact import CHECKS as EXACT
from fuzz.checks_extreme import CHECKS as EXTREME
from fuzz.checks_range import CHECKS as RANGE
from fuzz.checks_sampled import CHECKS as SAMPLED
from fuzz.checks_scalar import CHECKS as SCALAR
from fuzz.checks_vector import CHECKS as VECTOR

CHECKS = {
    **SCALAR,
    **VECTOR,
    **BUDGET,
    **BEST,
    **EXACT,
    **ATTACK,
    **EXTREME,
    **SAMPLED,
    **RANGE,
}
