"""Statistics that respect clusters: each one function, checked against its closed form.

numpy and scipy are loaded by the first call, not by the import.
"""

from ._bootstrap import (
    Resample,
    bootstrap_mean,
    check_plan,
    cluster_counts,
    member_weights,
    percentile_estimate,
)
from ._bradley_terry import (
    ELO_MEAN,
    ELO_PER_UNIT,
    BradleyTerry,
    bradley_terry,
    bradley_terry_many,
)
from ._correlation import Bootstrap, Coefficient, PairedCorrelation, paired_correlation
from ._holm import holm
from ._kappa import quadratic_kappa
from ._mean import Estimate, clustered_mean
from ._paired import PairedDifference, PairedTest, paired_difference
from ._stratified import stratified_difference

__all__ = [
    "ELO_MEAN",
    "ELO_PER_UNIT",
    "Bootstrap",
    "BradleyTerry",
    "Coefficient",
    "Estimate",
    "PairedCorrelation",
    "PairedDifference",
    "PairedTest",
    "Resample",
    "bootstrap_mean",
    "bradley_terry",
    "bradley_terry_many",
    "check_plan",
    "cluster_counts",
    "clustered_mean",
    "holm",
    "member_weights",
    "paired_correlation",
    "paired_difference",
    "percentile_estimate",
    "quadratic_kappa",
    "stratified_difference",
]
