# Public names and the modules that define them, for `lazy_loader` and type checkers.

from .estimators import DPLinearRegression as DPLinearRegression
from .estimators import DPLogisticRegression as DPLogisticRegression
from .pca import dp_pca as dp_pca
from .pipelines import DPPCA as DPPCA
from .pipelines import PrivateScaler as PrivateScaler
from .pipelines import leaking_steps as leaking_steps
from .safeguards import LargeDeltaWarning as LargeDeltaWarning
from .safeguards import PrivacyLeakWarning as PrivacyLeakWarning
from .safeguards import RepeatedFitsWarning as RepeatedFitsWarning
from .safeguards import SeededNoiseWarning as SeededNoiseWarning
from .safeguards import SmallBudgetWarning as SmallBudgetWarning
