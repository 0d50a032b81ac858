"""Statistics that respect clusters: each one function, checked against its closed form.

numpy and scipy are loaded by the first call, not by the import.
"""

from ._correlation import Bootstrap, Coefficient, PairedCorrelation, paired_correlation
from ._holm import holm
from ._mean import Estimate, clustered_mean
from ._paired import PairedDifference, PairedTest, paired_difference

__all__ = [
    "Bootstrap",
    "Coefficient",
    "Estimate",
    "PairedCorrelation",
    "PairedDifference",
    "PairedTest",
    "clustered_mean",
    "holm",
    "paired_correlation",
    "paired_difference",
]
