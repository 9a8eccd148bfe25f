"""The ways in which people lay out a test set: each is read into one Benchmark, with its images.

The names of the layouts are ``imagefolder``, ``parquet``, ``arrays``, ``webdataset``, ``manifest``, ``datasets`` (places such
as ``hf:uoft-cs/cifar10@test``) and ``torchvision`` (``torchvision:CIFAR10?root=data&train=false``).
"""

from resit.data.layouts.detect import LAYOUTS, detect, read_layout
from resit.data.layouts.request import Request

__all__ = ["LAYOUTS", "Request", "detect", "read_layout"]
