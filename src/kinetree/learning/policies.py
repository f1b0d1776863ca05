"""Policies: neural networks that give the action for an observation, inside programs and on plain arrays.

Inside a program the layers are loops over the rows of weight matrices, which stay in memory: a network of 24,000
weights is a few hundred statements.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.compiler.tracing import is_symbolic
from kinetree.errors import NameNotFoundError, OptionError, ShapeError, nearest_names
from kinetree.inputs import chosen_word, flag, number_or_row, whole_number
from kinetree.programs import Program, program, scan
from kinetree.records import record
from kinetree.symbolic import SymbolicArray

__all__ = ["ACTIVATIONS", "Policy", "gru", "mlp"]

_ROWS_AT_ONCE = 8
"""Rows of a matrix that are multiplied in one loop over its columns. Each has a sum of its own, so that there are
enough of them to add to while one waits for its last addition."""


def _sigmoid(x: Any) -> Any:
    return 0.5 * np.tanh(0.5 * x) + 0.5  # 1 / (1 + exp(-x)) overflows, and then its derivative is NaN


def _elu(x: Any) -> Any:
    return np.where(x > 0.0, x, np.exp(np.minimum(x, 0.0)) - 1.0)


ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "elu": _elu,
    "identity": lambda x: x,
    "leaky_relu": lambda x: np.where(x > 0.0, x, 0.01 * x),
    "relu": lambda x: np.maximum(x, 0.0),
    "selu": lambda x: np.where(
        x > 0.0, 1.0507009873554805 * x, 1.7580993408473766 * (np.exp(np.minimum(x, 0.0)) - 1.0)
    ),
    "sigmoid": _sigmoid,
    "silu": lambda x: x * _sigmoid(x),
    "softplus": lambda x: np.logaddexp(x, 0.0),
    "tanh": np.tanh,
}
"""Activation functions, with PyTorch's definitions and default constants."""


@record(frozen=True, slots=True)
class Policy:
    """A neural network from an observation to an action, whose weights are an argument: one vector of `size` numbers.

    Made by `kt.learning.mlp`, `kt.learning.gru` and `kt.learning.load_policy`. It is immutable, and equal to another
    one of the same layers.
    """

    sizes: tuple[int, ...]
    """The numbers of observations, of units of each hidden layer, and of actions."""
    recurrent: int
    """How many of the hidden layers are recurrent, the first ones."""
    activation: str
    """The activation function of the other hidden layers."""
    output: str
    """The activation function of the last layer."""
    normalize: bool
    """Whether the observation's mean and standard deviation are among the weights."""
    bounds: tuple[tuple[float, ...], tuple[float, ...]] | None
    """The actions for outputs of -1, and those for outputs of 1."""

    @property
    def size(self) -> int:
        """The number of weights."""
        return sum(map(math.prod, self.shapes.values()))

    @property
    def observation_size(self) -> int:
        """The number of observations."""
        return self.sizes[0]

    @property
    def action_size(self) -> int:
        """The number of actions."""
        return self.sizes[-1]

    @property
    def state_size(self) -> int:
        """The number of units of all recurrent layers."""
        return sum(self.sizes[1 : 1 + self.recurrent])

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The names and shapes of the arrays that the weights consist of, in order.

        >>> import kinetree as kt
        >>> kt.learning.mlp((4, 8, 2), normalize=True).shapes
        {'mean': (4,), 'std': (4,), '0.weight': (8, 4), '0.bias': (8,), '1.weight': (2, 8), '1.bias': (2,)}
        """
        result: dict[str, tuple[int, ...]] = {}
        if self.normalize:
            result |= {"mean": self.sizes[:1], "std": self.sizes[:1]}
        for k, (before, after) in enumerate(itertools.pairwise(self.sizes)):
            if k < self.recurrent:  # PyTorch's names, and its order: gates r, z and n one below the other
                result |= {f"weight_ih_l{k}": (3 * after, before), f"weight_hh_l{k}": (3 * after, after)}
                result |= {f"bias_ih_l{k}": (3 * after,), f"bias_hh_l{k}": (3 * after,)}
            else:
                layer = k - self.recurrent
                result |= {f"{layer}.weight": (after, before), f"{layer}.bias": (after,)}
        return result

    def split(self, weights: Any) -> dict[str, Any]:
        """The arrays (…, *shape) that weights (…, size) consist of, by name. Those of a plain array are views of it."""
        arrays, first = {}, 0
        for name, shape in self.shapes.items():
            last = first + math.prod(shape)
            arrays[name] = weights[..., first:last].reshape(*weights.shape[:-1], *shape)
            first = last
        return arrays

    def join(self, arrays: Mapping[str, ArrayLike]) -> NDArray[np.float64]:
        """Weights (size,) of the arrays in `shapes`, by name. The mean is 0 and the deviation 1 where they are missing.

        Raises:
            NameNotFoundError: an array is missing, or its name is not in `shapes`.
            ShapeError: an array has another shape.
        """
        shapes = self.shapes
        given = {name: np.asarray(array, np.float64) for name, array in arrays.items()}
        if self.normalize:
            given = {"mean": np.zeros(self.sizes[0]), "std": np.ones(self.sizes[0]), **given}
        for name in {**shapes, **given}:
            if name not in shapes:
                raise NameNotFoundError(f"the policy has no array {name!r}{nearest_names(name, shapes)}")
            if name not in given:
                raise NameNotFoundError(f"the policy's array {name!r} of shape {shapes[name]} is missing")
            if given[name].shape != shapes[name]:
                raise ShapeError(f"the policy's array {name!r} has shape {shapes[name]}, not {given[name].shape}")
        return np.concatenate([given[name].ravel() for name in shapes])

    def initial(self, rng: np.random.Generator | int | None = None) -> NDArray[np.float64]:
        """Random weights to begin with, (size,).

        The rows or columns of each matrix are orthogonal, and as long as is usual for PPO: √2 in hidden layers, 1 in
        recurrent ones, and 0.01 in the last one, so that the first actions are small. Biases are zero.

        Args:
            rng: a generator of NumPy, or a seed.
        """
        rng = np.random.default_rng(rng)
        arrays = {}
        for name, shape in self.shapes.items():
            if "bias" in name:
                arrays[name] = np.zeros(shape)
            elif "_l" in name:
                arrays[name] = np.concatenate([_orthogonal(rng, shape[0] // 3, shape[1]) for _ in range(3)])
            elif "weight" in name:
                is_last = name == f"{len(self.sizes) - 2 - self.recurrent}.weight"
                arrays[name] = (0.01 if is_last else math.sqrt(2.0)) * _orthogonal(rng, *shape)
        return self.join(arrays)

    def __call__(self, weights: Any, observation: Any, state: Any = None) -> Any:
        """The action for an observation; with recurrent layers, also the next state.

        With symbolic arrays, in a program, the layers become loops of the program. With plain arrays the policy is
        compiled as a program of its own, with the same results.

        Args:
            weights: (…, size); leading axes broadcast with those of the observations.
            observation: (…, observation_size).
            state: (…, state_size), zeros at the beginning of an episode; only with recurrent layers.

        Returns:
            The action (…, action_size), or a tuple of action and state.

        Raises:
            ShapeError: an array has a wrong shape.
            OptionError: a state is missing, or there is no recurrent layer for it.

        >>> import kinetree as kt
        >>> import numpy as np
        >>> policy = kt.learning.mlp((3, 16, 2), activation="elu")
        >>> policy(policy.initial(0), np.zeros((100, 3))).shape
        (100, 2)
        """
        if (state is not None) != (self.recurrent > 0):
            raise OptionError(
                "the policy has recurrent layers: call policy(weights, observation, state), which returns the action "
                "and the next state; the first state is np.zeros(policy.state_size)"
                if self.recurrent
                else "the policy has no recurrent layers, so it takes no state: call policy(weights, observation)"
            )
        arrays = [weights, observation, *([state] if self.recurrent else [])]
        if not is_symbolic(arrays):
            return _compiled(self)(*arrays)
        arrays = [x if isinstance(x, SymbolicArray) else np.asarray(x) for x in arrays]
        sizes = {"weights": self.size, "observation": self.observation_size, "state": self.state_size}
        for x, (name, size) in zip(arrays, sizes.items(), strict=False):
            if x.shape[-1:] != (size,):
                raise ShapeError(f"the policy's {name} has shape (…, {size}), not {x.shape}")
        shape = np.broadcast_shapes(*(x.shape[:-1] for x in arrays))
        if not shape:
            return self._one(*arrays)
        arrays = [np.broadcast_to(x, (*shape, x.shape[-1])).reshape(-1, x.shape[-1]) for x in arrays]
        actions = [self._one(*rows) for rows in zip(*arrays, strict=True)]
        if not self.recurrent:
            return np.stack(actions).reshape(*shape, -1)
        return tuple(np.stack(parts).reshape(*shape, -1) for parts in zip(*actions, strict=True))

    def _one(self, weights: Any, observation: Any, state: Any = None) -> Any:
        """The same for one sample in a program."""
        arrays = self.split(weights)
        x, states, first = observation, [], 0
        if self.normalize:
            x = (x - arrays["mean"]) / arrays["std"]
        for k, size in enumerate(self.sizes[1 : 1 + self.recurrent]):
            by_x = _dense(arrays[f"weight_ih_l{k}"], arrays[f"bias_ih_l{k}"], x)
            x = _gated(by_x, arrays[f"weight_hh_l{k}"], arrays[f"bias_hh_l{k}"], state[first : first + size])
            states.append(x)
            first += size
        layers = len(self.sizes) - 1 - self.recurrent
        for k in range(layers):
            activation = ACTIVATIONS[self.output if k == layers - 1 else self.activation]
            x = _dense(arrays[f"{k}.weight"], arrays[f"{k}.bias"], x, activation)
        if self.bounds is not None:
            low, high = map(np.array, self.bounds)
            x = 0.5 * (low + high) + 0.5 * (high - low) * x
        return (x, np.concatenate(states)) if self.recurrent else x


def mlp(
    sizes: Sequence[int],
    activation: str = "tanh",
    output: str | None = None,
    *,
    normalize: bool = False,
    bounds: tuple[ArrayLike, ArrayLike] | None = None,
) -> Policy:
    """A multilayer perceptron: x → W x + b in every layer, with an activation function after it.

    Args:
        sizes: the numbers of observations, of units of each hidden layer, and of actions: (48, 128, 128, 12).
        activation: of hidden layers: "elu", "identity", "leaky_relu", "relu", "selu", "sigmoid", "silu", "softplus" or
            "tanh", as PyTorch defines them.
        output: the same of the last layer; None is "identity".
        normalize: whether observations are normalised first, (x - mean) / std, with mean and std among the weights.
        bounds: actions for outputs of -1 and of 1, numbers or (action_size,) each. With output="tanh" all actions are
            between them.

    Returns:
        The policy: an action is `policy(weights, observation)`.

    Raises:
        OptionError: fewer than two sizes, one below 1, or an unknown activation function.
        ShapeError: bounds of another shape.

    >>> import kinetree as kt
    >>> policy = kt.learning.mlp((48, 128, 128, 12), activation="elu")
    >>> policy.size
    24332
    """
    return _policy("mlp", sizes, 0, activation, output, normalize, bounds)


def gru(
    sizes: Sequence[int],
    recurrent: int = 1,
    activation: str = "tanh",
    output: str | None = None,
    *,
    normalize: bool = False,
    bounds: tuple[ArrayLike, ArrayLike] | None = None,
) -> Policy:
    """A recurrent policy: gated recurrent units (Cho et al. 2014, as in PyTorch), then dense layers.

    r = σ(W_ir x + b_ir + W_hr h + b_hr), z = σ(W_iz x + b_iz + W_hz h + b_hz),
    n = tanh(W_in x + b_in + r (W_hn h + b_hn)), and the next state is (1 - z) n + z h.

    Args:
        sizes: the numbers of observations, of units of each hidden layer, and of actions: (48, 64, 12).
        recurrent: how many of the hidden layers are recurrent, the first ones.
        activation: of the other hidden layers, as for `kt.learning.mlp`; so are the others.
        output: the activation function of the last layer.
        normalize: whether observations are normalised first.
        bounds: actions for outputs of -1 and of 1.

    Returns:
        The policy: `action, state = policy(weights, observation, state)`.

    Raises:
        OptionError: fewer than three sizes, one below 1, an unknown activation function, or more recurrent layers than
            hidden ones.
        ShapeError: bounds of another shape.

    >>> import kinetree as kt
    >>> import numpy as np
    >>> policy = kt.learning.gru((3, 8, 2))
    >>> action, state = policy(policy.initial(0), np.zeros(3), np.zeros(policy.state_size))
    >>> action.shape, state.shape
    ((2,), (8,))
    """
    layers = whole_number(recurrent)
    if layers is None or not 1 <= layers <= len(sizes) - 2:
        raise OptionError(
            f"kt.learning.gru: recurrent is the number of recurrent layers, from 1 to the {max(len(sizes) - 2, 0)} "
            f"hidden layers of sizes={tuple(sizes)}, not {recurrent!r:.60}"
        )
    return _policy("gru", sizes, layers, activation, output, normalize, bounds)


def _policy(
    name: str,
    sizes: Sequence[int],
    recurrent: int,
    activation: str,
    output: str | None,
    normalize: bool,
    bounds: tuple[ArrayLike, ArrayLike] | None,
) -> Policy:
    what = f"kt.learning.{name}"
    numbers = [whole_number(n) for n in sizes]
    whole = tuple(n for n in numbers if n is not None and n > 0)
    if len(whole) < max(len(numbers), 2):
        raise OptionError(
            f"{what}: sizes are the numbers of observations, of units of each hidden layer, and of actions, such as "
            f"(48, 128, 128, 12), not {sizes!r:.60}"
        )
    for option, given in (("activation", activation), ("output", output or "identity")):
        chosen_word(f"{what}: {option}", given, *ACTIVATIONS)
    rows = None
    if bounds is not None:
        low, high = (number_or_row(f"{what}: bounds", x, whole[-1], "action") for x in bounds)
        rows = tuple(low.tolist()), tuple(high.tolist())
    return Policy(whole, recurrent, activation, output or "identity", flag(f"{what}: normalize", normalize), rows)


@functools.lru_cache(maxsize=64)
def _compiled(policy: Policy) -> Program:
    """The policy as a program of its own."""
    if policy.recurrent:

        def recurrent_policy(weights: Any, observation: Any, state: Any) -> Any:
            return policy(weights, observation, state)

        return program(
            recurrent_policy,
            weights=policy.size,
            observation=policy.observation_size,
            state=policy.state_size,
        )

    def feedforward_policy(weights: Any, observation: Any) -> Any:
        return policy(weights, observation)

    return program(feedforward_policy, weights=policy.size, observation=policy.observation_size)


def _orthogonal(rng: np.random.Generator, rows: int, columns: int) -> NDArray[np.float64]:
    """A random matrix whose rows, or columns if they are fewer, are orthonormal."""
    Q, R = np.linalg.qr(rng.normal(size=(max(rows, columns), min(rows, columns))))
    Q = Q * np.sign(np.diag(R))  # or the distribution would not be uniform
    return Q if rows >= columns else Q.T


# Layers.


def _gated(by_x: Any, U: Any, c: Any, h: Any) -> Any:
    """A gated recurrent unit: its next state, from W x + b of all gates."""

    def unit(_: Any, row: Any) -> tuple[Any, Any]:
        by_x, by_h, h = row
        r, z = _sigmoid(by_x[0] + by_h[0]), _sigmoid(by_x[1] + by_h[1])
        n = np.tanh(by_x[2] + r * by_h[2])
        return (), n + z * (h - n)

    gates = (3, len(h))
    return scan(unit, (), (by_x.reshape(gates).T, _dense(U, c, h).reshape(gates).T, h))[1]


def _dense(W: Any, b: Any, x: Any, activation: Callable[[Any], Any] = ACTIVATIONS["identity"]) -> Any:
    """activation(W x + b), some rows of W at once."""
    rows, columns = W.shape
    in_blocks = rows - rows % _ROWS_AT_ONCE

    def some(_: Any, block: Any) -> tuple[Any, Any]:
        W, b = block
        y, _ = scan(lambda y, column: (y + column[0] * column[1], None), b, (W.T, x))
        return (), activation(y)

    parts = [some((), (W[in_blocks:], b[in_blocks:]))[1]] if rows > in_blocks else []
    if in_blocks:
        shape = (-1, _ROWS_AT_ONCE)
        _, blocks = scan(some, (), (W[:in_blocks].reshape(*shape, columns), b[:in_blocks].reshape(shape)))
        parts = [blocks.reshape(in_blocks), *parts]
    return np.concatenate(parts) if len(parts) > 1 else parts[0]
