"""Policies that other libraries have trained: state dicts of PyTorch, and ONNX files.

Files are not trusted. State dicts are read without running code (`weights_only=True`), ONNX files without the data in
other files that they may name, and both up to a size.
"""

from __future__ import annotations

import importlib
import io
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import MissingPackageError, OptionError, PolicyFileError, listed
from kinetree.files import file_path, read_regular, reason
from kinetree.learning.policies import Policy, gru, mlp

__all__ = ["load_policy"]

Array = NDArray[np.float64]
_MOST_BYTES = 1 << 29
_GROUPS = (
    ("mlp_extractor.policy_net.", "action_net."),  # stable-baselines3's PPO and A2C
    ("actor.", "memory_a.", "actor_obs_normalizer."),  # rsl_rl up to version 3; stable-baselines3's SAC and TD3
    ("mlp.", "rnn.", "obs_normalizer."),  # rsl_rl since then
    ("",),
)
"""Beginnings of the names of a policy's arrays, where there are others as well."""
_OTHER = re.compile(
    r"(actor_target|critic|critic_target|critic_obs_normalizer|distribution|memory_c|mlp_extractor\.value_net|value_net)\."
    r"|(.*\.)?(log_std|std|count|_var)(\.|$)"
)
"""Names of arrays that say nothing about the action without noise."""
_INSIDE = ("actor_state_dict", "model_state_dict", "policy_state_dict", "state_dict")
_NORMALIZER_EPSILON = 1e-2
"""rsl_rl divides by the standard deviation plus this."""


def load_policy(
    source: str | os.PathLike[str] | Mapping[str, Any], activation: str | None = None, output: str | None = None
) -> tuple[Policy, Array]:
    """A policy that another library has trained, and its weights.

    Read are perceptrons and gated recurrent units:

    - state dicts of PyTorch, or files of them (`torch.save`): `torch.nn.Sequential` of `Linear` layers, `torch.nn.GRU`
      followed by such layers, checkpoints of rsl_rl (with their normalisation of observations), and policies of
      stable-baselines3 (`policy.pth`, or the whole .zip file). They do not contain the activation functions.
    - ONNX files (.onnx), by the package onnx: Gemm or MatMul and Add, activation functions, and Sub and Div (or Mul)
      before the first layer.

    Args:
        source: a file, or the state dict itself: arrays or tensors by name.
        activation: the activation function of the hidden layers, as for `kt.learning.mlp`; of state dicts alone.
        output: the same of the last layer.

    Returns:
        The policy, and its weights (size,) in float64.

    Raises:
        PolicyFileError: the file cannot be read, or contains something else; the error names the array or node.
        OptionError: the activation function is missing, or is given for an ONNX file.
        MissingPackageError: torch or onnx is not installed.

    >>> import kinetree as kt
    >>> import numpy as np
    >>> layers = {"0.weight": np.ones((8, 3)), "0.bias": np.zeros(8), "2.weight": np.ones((2, 8)), "2.bias": np.ones(2)}
    >>> policy, weights = kt.learning.load_policy(layers, activation="tanh")
    >>> policy.sizes
    (3, 8, 2)
    """
    if isinstance(source, Mapping):
        return _of_state_dict(source, "the state dict", activation, output)
    path = file_path("kt.learning.load_policy", source)
    try:
        data = read_regular(path, _MOST_BYTES)
    except OSError as error:
        raise PolicyFileError(f"cannot read {path}: {reason(error)}") from None
    if path.suffix.lower() != ".onnx":
        return _of_state_dict(_state_dict(path, data), str(path), activation, output)
    if activation is not None or output is not None:
        raise OptionError("an ONNX file contains its activation functions: leave activation and output out")
    return _of_onnx(path, data)


def _package(name: str, what: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingPackageError(f"{what} need {name}: pip install 'kinetree[learning]'") from None


# State dicts.


def _state_dict(path: Path, data: bytes) -> Any:
    torch = _package("torch", "files of PyTorch")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(x.file_size for x in archive.infolist()) > _MOST_BYTES:
                raise PolicyFileError(f"{path} unpacks to more than {_MOST_BYTES:,} bytes")
            if "policy.pth" in archive.namelist():  # a file of stable-baselines3
                data = archive.read("policy.pth")
    except zipfile.BadZipFile:
        pass  # as older versions of PyTorch wrote
    try:
        return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except Exception as error:
        raise PolicyFileError(f"{path} is not a state dict of PyTorch: {str(error).splitlines()[0]:.200}") from None


def _of_state_dict(given: Any, where: str, activation: str | None, output: str | None) -> tuple[Policy, Array]:
    if not isinstance(given, Mapping):
        raise PolicyFileError(f"{where} contains a {type(given).__name__}; a state dict has arrays by name")
    given = {**given, **_normalizer(given.get("obs_norm_state_dict"))}
    for name in _INSIDE:
        if isinstance(given.get(name), Mapping):
            given = {**given[name], **_normalizer(given.get("obs_norm_state_dict"))}
            break
    names = [name for name in given if isinstance(name, str) and not _OTHER.match(name)]
    group = next(g for g in _GROUPS if g == ("",) or any(n.startswith(g[0]) and n.endswith("weight") for n in names))
    arrays = {n: _array(given[n], n, where) for n in names if n.startswith(group)}
    if len(arrays) < len(names):
        name = next(n for n in names if n not in arrays)
        raise PolicyFileError(f"{where}: {name!r} belongs neither to the policy ({', '.join(group)}) nor to a critic")
    weights, sizes, recurrent = _taken(arrays, where)
    if activation is None and len(sizes) - recurrent > 2:
        raise OptionError(
            f"{where} does not contain the activation functions of its layers of {listed(map(str, sizes))} units: "
            'give activation="elu", for example'
        )
    activation, normalize = activation or "identity", "mean" in weights
    if recurrent:
        policy = gru(sizes, recurrent, activation, output, normalize=normalize)
    else:
        policy = mlp(sizes, activation, output, normalize=normalize)
    return policy, policy.join(weights)


def _normalizer(given: Any) -> dict[str, Any]:
    """The normalisation of observations that rsl_rl stores apart."""
    return {f"actor_obs_normalizer.{n}": x for n, x in given.items()} if isinstance(given, Mapping) else {}


def _array(x: Any, name: str, where: str) -> Array:
    try:
        array = np.asarray(x.detach().cpu().double().numpy() if hasattr(x, "detach") else x, np.float64)
    except Exception:
        raise PolicyFileError(f"{where}: {name!r} is not an array of real numbers") from None
    if not np.isfinite(array).all():
        raise PolicyFileError(f"{where}: {name!r} contains NaN or infinite numbers")
    return array


def _taken(arrays: dict[str, Array], where: str) -> tuple[dict[str, Array], list[int], int]:
    """The arrays by the policy's names, the sizes of all layers, and how many are recurrent."""
    found: dict[str, Array] = {}
    cells: dict[str, Array] = {}
    weights: dict[str, Array] = {}
    rest = dict(arrays)
    for name, array in arrays.items():
        last = name.rpartition(".")[2]
        if re.fullmatch(r"(weight|bias)_(ih|hh)_l\d{1,3}", last):
            cells[last] = rest.pop(name)
        elif last in ("_mean", "_std"):
            found[last[1:]] = rest.pop(name).ravel() + (_NORMALIZER_EPSILON if last == "_std" else 0.0)
        elif last == "weight" and array.ndim == 2:
            weights[name] = rest.pop(name)
    recurrent = sum(name.startswith("weight_ih") for name in cells)
    sizes: list[int] = []

    def follows(name: str, inputs: int) -> None:
        if sizes and sizes[-1] != inputs:
            raise PolicyFileError(
                f"{where}: {name!r} takes {inputs} numbers, and the layer before it gives {sizes[-1]}"
            )
        if not sizes:
            sizes.append(inputs)

    for k in range(recurrent):
        W, U = (cells.get(f"weight_{x}_l{k}", np.zeros((0, 0))) for x in ("ih", "hh"))
        units = U.shape[-1] if U.ndim == W.ndim == 2 else 0
        if not units or W.shape[0] != 3 * units or U.shape[0] != 3 * units:
            kind = "an LSTM" if units and W.shape[0] == 4 * units else "something else"
            raise PolicyFileError(f"{where}: 'weight_ih_l{k}' and 'weight_hh_l{k}' are {kind}, not a GRU")
        follows(f"weight_ih_l{k}", W.shape[1])
        sizes.append(units)
        found |= {f"bias_{x}_l{k}": np.zeros(3 * units) for x in ("ih", "hh")}
    found |= cells
    for k, (name, W) in enumerate(weights.items()):
        follows(name, W.shape[1])
        sizes.append(len(W))
        bias = rest.pop(f"{name.removesuffix('weight')}bias", np.zeros(len(W)))
        if bias.shape != W.shape[:1]:
            raise PolicyFileError(f"{where}: the bias of {name!r} has shape {bias.shape}, not {W.shape[:1]}")
        found |= {f"{k}.weight": W, f"{k}.bias": bias}
    if rest or not weights:
        what = f"{next(iter(rest))!r} belongs to no layer of a perceptron or GRU" if rest else "there are no layers"
        raise PolicyFileError(f"{where}: {what}; the arrays of layers are called weight and bias, or weight_ih_l0, …")
    return found, sizes, recurrent


# ONNX.

_ACTIVATIONS = {
    "Elu": ("elu", {"alpha": 1.0}),
    "LeakyRelu": ("leaky_relu", {"alpha": 0.01}),
    "Relu": ("relu", {}),
    "Selu": ("selu", {"alpha": 1.6732631921768188, "gamma": 1.0507010221481323}),
    "Sigmoid": ("sigmoid", {}),
    "Softplus": ("softplus", {}),
    "Tanh": ("tanh", {}),
}
"""Nodes of activation functions, and the attributes that they must have, which are ONNX's defaults."""


def _of_onnx(path: Path, data: bytes) -> tuple[Policy, Array]:
    onnx = _package("onnx", "files of ONNX")
    try:
        graph = onnx.load_model_from_string(data).graph
    except Exception as error:
        raise PolicyFileError(f"{path} is not an ONNX file: {str(error).splitlines()[0]:.200}") from None
    reader = _Graph(onnx, graph, str(path))
    for node in graph.node:
        reader.read(node)
    return reader.policy()


class _Graph:
    """A graph of ONNX that is a chain of layers, node by node."""

    def __init__(self, onnx: Any, graph: Any, where: str) -> None:
        self._onnx, self._where = onnx, where
        self._constants = {x.name: self._numbers(x, x.name) for x in graph.initializer}
        inputs = [x.name for x in graph.input if x.name not in self._constants]
        self._outputs = [x.name for x in graph.output]
        if len(inputs) != 1 or len(self._outputs) != 1:
            raise PolicyFileError(
                f"{where} has inputs {listed(map(repr, inputs))}, and outputs {listed(map(repr, self._outputs))}; "
                "a policy has one of each (recurrent ones are read from state dicts)"
            )
        self._current, self._before = inputs[0], ""
        """The value that the last node gave, and the one that it was computed from."""
        self._layers: list[tuple[Array, Array]] = []
        self._activations: list[str] = []
        self._normalizer: dict[str, Array] = {}

    def read(self, node: Any) -> None:
        """The next node."""
        kind, given = node.op_type, [x for x in node.input if x]
        attributes = {a.name: self._onnx.helper.get_attribute_value(a) for a in node.attribute}
        if kind == "Constant" and "value" in attributes:
            self._constants[node.output[0]] = self._numbers(attributes["value"], node.output[0])
            return
        others = [self._constants[x] for x in given if x in self._constants]
        is_swish = kind == "Mul" and {*given} == {self._before, self._current} and self._activations[-1:] == ["sigmoid"]
        is_next = self._current in given[:1] or (kind in ("Add", "Mul") and self._current in given)
        if is_swish:
            self._activations[-1] = "silu"
        elif not is_next or len(others) != len(given) - 1 or not self._take(kind, others, attributes):
            name = node.name or (node.output[0] if node.output else "")
            raise PolicyFileError(
                f"{self._where}: node {name!r} ({kind}) is not a part of a perceptron: these are Gemm, MatMul, Add, "
                f"{', '.join(_ACTIVATIONS)} with their usual constants, and Sub, Div and Mul before the first layer"
            )
        self._before, self._current = self._current, node.output[0]

    def _take(self, kind: str, others: list[Array], attributes: dict[str, Any]) -> bool:
        """Add a node to the layers; False if it cannot be one of them."""
        layers, activations = self._layers, self._activations
        if kind in _ACTIVATIONS and not others:
            name, usual = _ACTIVATIONS[kind]
            if len(activations) >= len(layers) or any(abs(attributes.get(k, x) - x) > 1e-6 for k, x in usual.items()):
                return False
            activations.append(name)
            return True
        if kind == "Identity":
            return True
        if kind in ("Gemm", "MatMul") and others and others[0].ndim == 2:
            W = others[0] if attributes.get("transB", 0) else others[0].T
            b = others[1].ravel() if len(others) > 1 else np.zeros(len(W))
            if attributes.get("transA", 0) or b.size not in (1, len(W)):
                return False
            if len(activations) < len(layers):
                activations.append("identity")
            layers.append((attributes.get("alpha", 1.0) * W, np.full(len(W), attributes.get("beta", 1.0) * b)))
            return True
        if len(others) != 1 or others[0].size not in (1, others[0].shape[-1] if others[0].ndim else 1):
            return False
        x = others[0].ravel()
        if layers and kind == "Add" and len(activations) < len(layers):  # the bias after a product
            W, b = layers[-1]
            layers[-1] = W, b + x
            return x.size in (1, len(b))
        if layers or kind not in ("Sub", "Div", "Mul") or "std" in self._normalizer:
            return False
        if kind == "Sub":
            return self._normalizer.setdefault("mean", x) is x
        self._normalizer["std"] = x if kind == "Div" else 1.0 / x
        return True

    def policy(self) -> tuple[Policy, Array]:
        """The policy that the nodes are, and its weights."""
        layers, activations = self._layers, self._activations
        if not layers or self._current != self._outputs[0]:
            raise PolicyFileError(f"{self._where}: its nodes do not lead from its input to {self._outputs[0]!r}")
        output = activations.pop() if len(activations) == len(layers) else "identity"
        if len({*activations}) > 1:
            raise PolicyFileError(
                f"{self._where}: its hidden layers have the activation functions {', '.join(activations)}; those of a "
                "policy are the same"
            )
        arrays = {
            f"{k}.{x}": a for k, layer in enumerate(layers) for x, a in zip(("weight", "bias"), layer, strict=True)
        }
        weights, sizes, _ = _taken(arrays, self._where)
        weights |= {name: np.broadcast_to(x, sizes[0]) for name, x in self._normalizer.items()}
        policy = mlp(sizes, activations[0] if activations else "identity", output, normalize=bool(self._normalizer))
        return policy, policy.join(weights)

    def _numbers(self, tensor: Any, name: str) -> Array:
        if tensor.data_location == self._onnx.TensorProto.EXTERNAL:
            raise PolicyFileError(
                f"{self._where}: the numbers of {name!r} are in another file; write one file (torch.onnx.export with "
                "external_data=False)"
            )
        try:
            return _array(self._onnx.numpy_helper.to_array(tensor), name, self._where)
        except PolicyFileError:
            raise
        except Exception as error:
            raise PolicyFileError(f"{self._where}: {name!r} is damaged: {error!s:.200}") from None
