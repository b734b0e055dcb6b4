"""The corpus of the fuzzer has every estimator that can be saved, and its mutations reach the checks."""

from __future__ import annotations

import json
from random import Random

import corpus
import model_files
import mutate_trees
import pytest
from cases import KINDS, Case
from mutate_models import ModelMutator, all_inside

from bosquet._state.kinds import STATE_MODULES
from bosquet.io import ModelFileError, model_from_bytes


@pytest.fixture(scope="module")
def files():
    return corpus.files()


@pytest.fixture(scope="module")
def inner(files):
    """Return every file of the corpus, and every file inside it."""
    return [file for data in files.values() for file in all_inside(data)]


def test_every_estimator_that_can_be_saved_is_in_the_corpus(inner):
    names = {json.loads(file.section(b"META"))["estimator"] for file in inner}
    assert names == set(STATE_MODULES)


def test_the_corpus_has_the_same_bytes_in_every_run(files):
    assert corpus.files() == files


def test_files_that_are_split_and_sealed_again_have_the_same_bytes(files, inner):
    assert [model_files.seal(model_files.open_file(data)) for data in files.values()] == [
        *files.values()
    ]
    for file in inner:
        if file.places(b"TREE"):
            section = file.section(b"TREE")
            tokens = mutate_trees.tokens_of(section, file.version)
            assert mutate_trees.write_tokens(list(tokens)) == section


@pytest.mark.parametrize("kind", KINDS)
def test_a_case_is_the_same_in_every_run(kind):
    cases = [Case(kind, 7, number) for number in range(300)]
    assert Case.of(str(cases[11])) == cases[11]
    made = [KINDS[kind].make(case.random()) for case in cases]
    # In reverse order, so that a state left by another case would be noticed.
    assert [KINDS[kind].make(case.random()) for case in reversed(cases)] == made[::-1]


def test_mutants_get_past_the_checksum(files):
    mutator = ModelMutator(files)
    for make in (mutator.metadata, mutator.trees, mutator.bytes):
        messages = []
        for number in range(200):
            try:
                model_from_bytes(make(Random(number)))
            except ModelFileError as error:
                messages.append(str(error))
        assert not any("checksum" in message or "damaged" in message for message in messages)
        assert len(set(messages)) > 10  # many different checks are reached
