"""Statistics that respect clusters: each one function, checked against its closed form.

numpy and scipy are loaded by the first call, not by the import.
"""

from ._correlation import Bootstrap, Coefficient, PairedCorrelation, paired_correlation
from ._mean import Estimate, clustered_mean

__all__ = [
    "Bootstrap",
    "Coefficient",
    "Estimate",
    "PairedCorrelation",
    "clustered_mean",
    "paired_correlation",
]
