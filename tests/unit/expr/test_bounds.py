"""A program that would leave its arrays is not made."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kinetree.expr import Index, Port, Program, Range, Recorder, Walk, trace_memory

N = 10


def made(record: Callable[[Recorder], None]) -> Program:
    return trace_memory(record, [Port("x", (N,))], [Port("y", (N,))], "f")


def shifted(by: int, start: int = 0, stop: int = N, step: int = 1) -> Callable[[Recorder], None]:
    def record(recorder: Recorder) -> None:
        with recorder.loop(Range(Index(start), Index(stop), step)) as k:
            recorder.outputs[0][k + by] = recorder.inputs[0][k]

    return record


@pytest.mark.parametrize("record", [shifted(0), shifted(1, 0, N - 1), shifted(-1, 1), shifted(-1, N - 1, 0, -1)])
def test_loops_that_stay_inside_are_made(record: Callable[[Recorder], None]) -> None:
    assert made(record).operation_counts().total() == 0


@pytest.mark.parametrize(
    ("record", "place"), [(shifted(1), 10), (shifted(-1), -1), (shifted(1, N - 1, -1, -1), 10), (shifted(-3, 2), -1)]
)
def test_loops_that_leave_an_array_are_refused_with_the_place(record: Callable[[Recorder], None], place: int) -> None:
    with pytest.raises(IndexError, match=f"f: place {place} of the array 'y', which has 10, at the counters"):
        made(record)


def test_a_loop_without_rounds_may_name_any_place() -> None:
    assert made(shifted(100, 5, 5)).operation_counts().total() == 0


def test_a_triangle_is_gone_through_round_by_round() -> None:
    def differences(extra: int) -> Callable[[Recorder], None]:
        def record(recorder: Recorder) -> None:
            with recorder.loop(Range(Index(0), Index(N))) as i, recorder.loop(Range(Index(0), i + 1 + extra)) as j:
                recorder.outputs[0][i - j] = recorder.inputs[0][i]

        return record

    made(differences(0))
    with pytest.raises(IndexError, match=r"place -1 of the array 'y', which has 10, at the counters \(0, 1\)"):
        made(differences(1))


def test_loops_whose_counters_do_not_matter_are_not_gone_through() -> None:
    """There are two million rounds, but the place depends on the loops around that of a million alone."""

    def differences(extra: int) -> Callable[[Recorder], None]:
        def record(recorder: Recorder) -> None:
            with recorder.loop(Range(Index(0), Index(N))) as i, recorder.loop(Range(Index(0), Index(1_000_000))):
                stop = recorder.look_up([k + 1 + extra for k in range(N)], i)
                with recorder.loop(Range(Index(0), stop)) as j:
                    recorder.outputs[0][i - j] = recorder.inputs[0][i]

        return record

    made(differences(0))
    with pytest.raises(IndexError, match=r"place -1 of the array 'y', which has 10, at the counters \(0, 0, 1\)"):
        made(differences(1))


def test_a_loop_whose_counter_does_not_matter_may_have_no_rounds() -> None:
    def following(starts: list[int]) -> Callable[[Recorder], None]:
        def record(recorder: Recorder) -> None:
            with recorder.loop(Range(Index(0), Index(N))) as i:
                start = recorder.look_up(starts, i)
                with recorder.loop(Range(start, Index(2))):
                    recorder.outputs[0][i + 1] = recorder.inputs[0][i]

        return record

    made(following([0, 1] * 4 + [0, 2]))
    with pytest.raises(IndexError, match=r"place 10 of the array 'y', which has 10, at the counters \(9, 1\)"):
        made(following([0, 1] * 5))


def test_operations_are_counted_for_the_counters_that_they_depend_on() -> None:
    def record(recorder: Recorder) -> None:
        with recorder.loop(Range(Index(0), Index(4))) as i:
            with recorder.loop(Range(Index(0), Index(5))) as j, recorder.loop(Range(Index(0), i)):
                recorder.outputs[0][j] = recorder.inputs[0][j] * 2.0
            with recorder.loop(Range(Index(0), Index(3))) as k, recorder.loop(Range(k, i + 4)):
                recorder.outputs[0][k] = recorder.inputs[0][k] + 1.0

    found = made(record).operation_counts()
    assert dict(found) == {"mul": 5 * (0 + 1 + 2 + 3), "add": sum(i + 4 - k for i in range(4) for k in range(3))}


def test_counters_from_the_beginnings_of_spans_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Places from the beginning of a span on: as many as the longest span has."""
    monkeypatch.setattr("kinetree.expr.bounds._MOST_ROUNDS", 0)
    begins, ends = [0, 40, 70], [3, 50, 75]

    def within(extra: int) -> Callable[[Recorder], None]:
        def record(recorder: Recorder) -> None:
            with recorder.loop(Range(Index(0), Index(3))) as p:
                begin, end = recorder.look_up(begins, p), recorder.look_up(ends, p)
                with recorder.loop(Range(begin, end)) as e:
                    recorder.outputs[0][e - begin + extra] = recorder.inputs[0][p]
                    with recorder.loop(Range(begin, e)) as f:
                        recorder.outputs[0][f - begin + extra] = recorder.inputs[0][p]

        return record

    made(within(0))
    with pytest.raises(IndexError, match="would take too long"):
        made(within(1))


def test_tables_are_followed() -> None:
    def looked_up(values: list[int], stop: int) -> Callable[[Recorder], None]:
        def record(recorder: Recorder) -> None:
            with recorder.loop(Range(Index(0), Index(stop))) as k:
                recorder.outputs[0][recorder.look_up(values, k)] = recorder.inputs[0][k]

        return record

    made(looked_up([3, 1, 9], 3))
    with pytest.raises(IndexError, match="place 10 of the array 'y'"):
        made(looked_up([3, 1, 10], 3))
    with pytest.raises(IndexError):
        made(looked_up([3, 1, 9], 4))


def test_walks_and_switches_are_followed() -> None:
    def walk(parents: list[int], start: int) -> Callable[[Recorder], None]:
        def record(recorder: Recorder) -> None:
            table = recorder.table(parents)
            with recorder.loop(Walk(Index(start), table)) as k:
                recorder.outputs[0][k] = recorder.inputs[0][k]

        return record

    made(walk([0, 0, 1, 9, 0, 0, 0, 0, 0, 2], 3))
    with pytest.raises(IndexError, match="place 11 of the array 'x'"):
        made(walk([0] * 11 + [0, 11], 12 - 1))

    def switch(cases: int) -> Callable[[Recorder], None]:
        def record(recorder: Recorder) -> None:
            with (
                recorder.loop(Range(Index(0), Index(3))) as k,
                recorder.switch(recorder.look_up([0, 2, 1], k)) as case,
            ):
                for _ in range(cases):
                    with case():
                        recorder.outputs[0][k] = 1.0

        return record

    made(switch(3))
    with pytest.raises(IndexError, match="place 2 of a switch, which has 2, at the counters"):
        made(switch(2))


def test_a_case_of_a_switch_is_met_only_where_the_switch_leads_to_it() -> None:
    """Pieces of different lengths side by side, as those of joints in q: the last one is short."""

    def pieces(starts: list[int]) -> Callable[[Recorder], None]:
        def record(recorder: Recorder) -> None:
            kinds = [0, 0, 1]
            with (
                recorder.loop(Range(Index(0), Index(3))) as k,
                recorder.switch(recorder.look_up(kinds, k)) as case,
            ):
                start = recorder.look_up(starts, k)
                for length in (4, 1):
                    with case():
                        for n in range(length):
                            recorder.outputs[0][start + n] = recorder.inputs[0][start + n]

        return record

    made(pieces([0, 4, 9]))
    with pytest.raises(IndexError, match=r"place 10 of the array 'x', which has 10, at the counters \(1\)"):
        made(pieces([0, 7, 8]))
