# Public names and the modules that define them, for `lazy_loader` and type checkers.

from .at_most import AtMost as AtMost
from .balls import L1 as L1
from .balls import L2 as L2
from .balls import Box as Box
from .balls import LInf as LInf
from .balls import as_sensitivity as as_sensitivity
from .base import Sensitivity as Sensitivity
from .contributions import BoundedCounts as BoundedCounts
from .counts import Counts as Counts
from .ellipsoid import Ellipsoid as Ellipsoid
from .ellipsoid import enclosing_ellipsoid as enclosing_ellipsoid
from .product import Product as Product
from .product import add_remove as add_remove
from .product import replace_one as replace_one
from .workload import Workload as Workload
