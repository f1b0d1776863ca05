"""Random numbers by the number of a sample."""

from __future__ import annotations

import statistics

import numpy as np

from kinetree.sweeps.draws import generator, normal_quantile, uniform


def test_a_sample_has_the_same_numbers_wherever_blocks_begin() -> None:
    for width in (1, 3, 4, 7):
        whole = uniform(3, "mass", 0, 50, width)
        parts = [uniform(3, "mass", a, b, width) for a, b in ((0, 1), (1, 18), (18, 18), (18, 50))]
        np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert uniform(3, "mass", 10**15, 10**15 + 2, 3).shape == (2, 3)


def test_seeds_names_and_samples_have_numbers_of_their_own() -> None:
    some = [uniform(0, "a", 0, 1000, 2), uniform(1, "a", 0, 1000, 2), uniform(0, "b", 0, 1000, 2)]
    some.append(np.array([generator(0, "a", k).random(2) for k in range(1000)]))
    numbers = np.concatenate([x.ravel() for x in some])
    assert len(np.unique(numbers)) == len(numbers)
    assert 0.0 < numbers.min() < 0.01 < 0.99 < numbers.max() < 1.0
    assert abs(np.corrcoef([x.ravel() for x in some]) - np.eye(4)).max() < 0.1


def test_numbers_stay_those_of_earlier_versions() -> None:
    assert uniform(7, "q", 1, 2, 2).tolist() == [[0.6610786583324796, 0.8184580497482247]]


def test_the_normal_distribution_is_that_of_the_standard_library() -> None:
    p = np.concatenate((uniform(0, "p", 0, 500, 1).ravel(), [1e-300, 1e-12, 0.074, 0.925, 1.0 - 2.0**-53]))
    expected = [statistics.NormalDist().inv_cdf(x) for x in p]
    np.testing.assert_allclose(normal_quantile(p), expected, rtol=1e-14)
    np.testing.assert_array_equal(normal_quantile(p)[7:13], normal_quantile(p[7:13]))
