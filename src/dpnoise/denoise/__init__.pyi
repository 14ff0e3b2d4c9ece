# Public names and the modules that define them, for `lazy_loader` and type checkers.

from .graph import Graph as Graph
from .shrinkage import bayes_risk as bayes_risk
from .shrinkage import james_stein as james_stein
from .shrinkage import james_stein_bayes_risk as james_stein_bayes_risk
from .shrinkage import soft_threshold as soft_threshold
from .shrinkage import universal_threshold as universal_threshold
from .trend_filtering import TrendChoice as TrendChoice
from .trend_filtering import TrendFit as TrendFit
from .trend_filtering import choose_by_sure as choose_by_sure
from .trend_filtering import trend_filter as trend_filter
from .wavelets import WaveletBasis as WaveletBasis
from .wavelets import breadth_first_tree as breadth_first_tree
from .wavelets import uniform_spanning_tree as uniform_spanning_tree
