"""What a study takes of the machine."""

from joblib import effective_n_jobs

from bosquet.study._machine import SMALL_TABLE, modest


def test_members_of_an_ensemble_are_fitted_side_by_side_where_tables_are_small():
    with modest(SMALL_TABLE - 1, 2):
        assert effective_n_jobs(None) == 2
    with modest(SMALL_TABLE, 2):
        assert effective_n_jobs(None) == 1
    assert effective_n_jobs(None) == 1
