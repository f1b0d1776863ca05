"""Policies against PyTorch's layers: actions, states, derivatives, programs that contain them."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import NameNotFoundError, OptionError, ShapeError
from tests.c_code import STRICT, called, library, needs

torch: Any = pytest.importorskip("torch")
_LAYERS = {
    "elu": "ELU", "identity": "Identity", "leaky_relu": "LeakyReLU", "relu": "ReLU", "selu": "SELU",
    "sigmoid": "Sigmoid", "silu": "SiLU", "softplus": "Softplus", "tanh": "Tanh",
}  # fmt: skip


def _sequential(sizes: tuple[int, ...], activation: str) -> Any:
    layers: list[Any] = []
    for a, b in itertools.pairwise(sizes):
        layers += [torch.nn.Linear(a, b), getattr(torch.nn, _LAYERS[activation])()]
    return torch.nn.Sequential(*layers[:-1]).double()


def _weights(policy: kt.learning.Policy, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.0, 0.5, policy.size)


@pytest.mark.parametrize("activation", _LAYERS)
def test_perceptrons_are_those_of_pytorch(activation: str) -> None:
    policy = kt.learning.mlp((5, 9, 16, 3), activation)
    weights = _weights(policy)
    net = _sequential(policy.sizes, activation)
    arrays = policy.split(weights)
    net.load_state_dict({f"{2 * int(name[0])}{name[1:]}": torch.tensor(x) for name, x in arrays.items()})
    x = np.random.default_rng(1).normal(0.0, 3.0, (20, 5))
    assert np.allclose(policy(weights, x), net(torch.tensor(x)).detach().numpy(), rtol=1e-12, atol=1e-13)


def test_derivatives_are_those_of_pytorch() -> None:
    policy = kt.learning.mlp((5, 9, 16, 3), "elu", normalize=True)
    rng = np.random.default_rng(0)
    arrays = {name: rng.normal(size=shape) for name, shape in policy.shapes.items()}
    arrays["std"] = rng.uniform(0.5, 2.0, 5)
    weights, x, wrench = policy.join(arrays), rng.normal(size=5), rng.normal(size=3)

    @kt.program(weights=policy.size, x=5)
    def action(weights: Any, x: Any) -> Any:
        return policy(weights, x)

    tensors = {name: torch.tensor(array, requires_grad=True) for name, array in arrays.items()}
    y = (torch.tensor(x) - tensors["mean"]) / tensors["std"]
    for k in range(3):
        y = tensors[f"{k}.weight"] @ y + tensors[f"{k}.bias"]
        y = torch.nn.functional.elu(y) if k < 2 else y
    y.backward(torch.tensor(wrench))
    _, gradient = kt.vjp(action, (weights, x), wrench)
    for name, array in policy.split(gradient["weights"]).items():
        assert np.allclose(array, tensors[name].grad.numpy(), rtol=1e-12, atol=1e-13), name


def test_recurrent_layers_are_those_of_pytorch() -> None:
    policy = kt.learning.gru((5, 7, 6, 10, 3), 2, "relu", "tanh")
    weights, rng = _weights(policy), np.random.default_rng(1)
    arrays = policy.split(weights)
    x, states = rng.normal(size=(4, 5)), [rng.normal(size=(4, n)) for n in (7, 6)]
    y = torch.tensor(x)
    for k, h in enumerate(states):
        cell = torch.nn.GRUCell(y.shape[1], h.shape[1]).double()
        cell.load_state_dict({n[:-3]: torch.tensor(a) for n, a in arrays.items() if n.endswith(f"_l{k}")})
        y = cell(y, torch.tensor(h)).detach()
        states[k] = y.numpy()
    for k, function in enumerate((torch.relu, torch.tanh)):
        y = function(y @ torch.tensor(arrays[f"{k}.weight"]).T + torch.tensor(arrays[f"{k}.bias"]))
    rng = np.random.default_rng(1)
    rng.normal(size=(4, 5))
    action, state = policy(weights, x, np.concatenate([rng.normal(size=(4, n)) for n in (7, 6)], axis=1))
    assert np.allclose(action, y.numpy(), rtol=1e-12, atol=1e-13)
    assert np.allclose(state, np.concatenate(states, axis=1), rtol=1e-12, atol=1e-13)


def test_programs_give_what_a_call_gives_also_in_a_loop_over_time() -> None:
    policy = kt.learning.gru((3, 6, 3), bounds=(-2.0, [1.0, 2.0, 3.0]), output="tanh")
    weights = _weights(policy)
    some = np.stack([weights, 1.1 * weights])  # weights of two worlds

    @kt.program(weights=policy.size, x=3)
    def motion(weights: Any, x: Any) -> Any:
        def step(state: Any, _: Any) -> Any:
            x, hidden = state
            action, hidden = policy(weights, x, hidden)
            return (0.9 * x + 0.1 * action, hidden), action

        return kt.programs.scan(step, (x, np.zeros(policy.state_size)), length=5)[1]

    x, hidden = np.array([[0.1, 0.2, 0.3]] * 2), np.zeros((2, 6))
    for actions in np.moveaxis(motion(some, x), 1, 0):
        action, hidden = policy(some, x, hidden)
        assert np.all(action > -2.0)
        assert np.all(action < [1.0, 2.0, 3.0])
        assert np.allclose(actions, action, rtol=0, atol=1e-15)
        x = 0.9 * x + 0.1 * action
    g = np.random.default_rng(0).normal(size=(5, 3))
    gradient = kt.vjp(motion, (weights, x[0]), g)[1]["weights"]
    d, h = np.random.default_rng(1).normal(size=policy.size), 1e-6
    slope = np.sum(g * (motion(weights + h * d, x[0]) - motion(weights - h * d, x[0]))) / (2 * h)
    assert np.isclose(gradient @ d, slope, rtol=1e-7)


def test_leading_axes_inside_programs() -> None:
    policy = kt.learning.mlp((3, 4, 2))
    weights, x = _weights(policy), np.random.default_rng(1).normal(size=(2, 4, 3))
    both = kt.program(lambda weights, x: policy(weights, x), weights=policy.size, x=(2, 4, 3))
    assert np.allclose(both(weights, x), policy(weights, x), rtol=0, atol=1e-15)


def test_first_weights_make_small_actions() -> None:
    policy = kt.learning.mlp((5, 32, 32, 2), normalize=True)
    arrays = policy.split(policy.initial(0))
    assert np.allclose(arrays["0.weight"].T @ arrays["0.weight"], 2.0 * np.eye(5))
    assert np.allclose(arrays["2.weight"] @ arrays["2.weight"].T, 1e-4 * np.eye(2))
    assert np.all(arrays["std"] == 1.0)
    assert np.array_equal(policy.initial(0), policy.initial(np.random.default_rng(0)))
    recurrent = kt.learning.gru((5, 8, 2))
    gate = recurrent.split(recurrent.initial(0))["weight_hh_l0"][8:16]
    assert np.allclose(gate @ gate.T, np.eye(8))


def test_mistakes_are_named() -> None:
    with pytest.raises(OptionError, match="sizes are the numbers"):
        kt.learning.mlp((4,))
    with pytest.raises(OptionError, match="activation"):
        kt.learning.mlp((4, 2), "swisch")
    with pytest.raises(OptionError, match="from 1 to the 1 hidden"):
        kt.learning.gru((4, 8, 2), 2)
    policy = kt.learning.mlp((4, 2))
    with pytest.raises(OptionError, match="takes no state"):
        policy(policy.initial(0), np.zeros(4), np.zeros(3))
    with pytest.raises(ShapeError, match="weights"):
        policy(np.zeros(11), np.zeros(4))
    with pytest.raises(NameNotFoundError, match=r"'0\.bias' of shape \(2,\) is missing"):
        policy.join({"0.weight": np.zeros((2, 4))})
    wrong = kt.program(lambda weights, x: policy(weights, x), weights=10, x=5)
    with pytest.raises(ShapeError, match=r"observation has shape \(…, 4\), not \(5,\)"):
        wrong(policy.initial(0), np.zeros(5))


@needs("gcc")
def test_policies_are_written_as_c(tmp_path: Path) -> None:
    policy = kt.learning.gru((6, 20, 30, 3), activation="silu", normalize=True)
    weights = policy.initial(0)

    @kt.program(observation=6, state=20)
    def act(observation: Any, state: Any) -> Any:
        return policy(weights, observation, state)

    made = kt.interop.to_c(act)
    for path, text in ((tmp_path / f"{made.name}.c", made.source), (tmp_path / f"{made.name}.h", made.header)):
        path.write_text(text)
    given = np.random.default_rng(0).normal(size=6), np.full(20, 0.1)
    run = getattr(library(tmp_path, "gcc", [tmp_path / f"{made.name}.c"], *STRICT), made.name)
    found = called(run, given, [port.size for port in made.outputs], made.workspace)
    assert np.allclose(np.concatenate(found), np.concatenate(act(*given)), rtol=0, atol=1e-14)
