"""How a model is asked: one narrow protocol, adapters that load when they are used, and preparation of images."""

from resit.models.adapters.sklearn import SklearnModel
from resit.models.callable import CallableModel
from resit.models.fake import FakeModel
from resit.models.load import load_model
from resit.models.options import ModelOptions
from resit.models.preprocess import Preprocess
from resit.models.protocol import FeatureModel, LabelSpace, Model, OutOfMemory, Transform
from resit.models.torch_model import TorchModel

__all__ = [
    "CallableModel",
    "FakeModel",
    "FeatureModel",
    "LabelSpace",
    "Model",
    "ModelOptions",
    "OutOfMemory",
    "Preprocess",
    "SklearnModel",
    "TorchModel",
    "Transform",
    "load_model",
]
