"""Where the images of a test set lie: in files or at addresses, in Parquet files, tar shards, arrays, or with another library.

Each kind keeps the contract of :class:`resit.data.images.Images`: one image at a time as it was stored, from any thread, and
after pickling.
"""

from resit.data.image_sources.arrays import ArrayImages
from resit.data.image_sources.files import FileImages
from resit.data.image_sources.huggingface import DatasetImages
from resit.data.image_sources.parquet import ParquetImages
from resit.data.image_sources.tar import TarImages
from resit.data.image_sources.torchvision import TorchvisionImages

__all__ = ["ArrayImages", "DatasetImages", "FileImages", "ParquetImages", "TarImages", "TorchvisionImages"]
