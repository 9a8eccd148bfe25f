"""Images as people see them: all of one format and without what their files tell of where they come from."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import Response

from resit.build.folder import write_whole
from resit.data.decode import decode
from resit.errors import InputError
from resit.web.stop import Stop

if TYPE_CHECKING:
    from resit.build.folder import BuildFolder

SIZES = {"small": 360, "large": 1280}  # longest side, in pixels
LOSSLESS = 128  # smaller ones are kept to the pixel
QUALITY = 88
FOLDER = "web"
YEAR = 365 * 24 * 60 * 60


class Pictures:
    """Makes images for the screen, once each; they lie in the build's folder and can be deleted.

    Parameters
    ----------
    folder : BuildFolder
    """

    def __init__(self, folder: BuildFolder) -> None:
        self._folder = folder

    def path(self, image: str, size: str) -> Path:
        """File of an image of the build, in WebP.

        Parameters
        ----------
        image : str
            Its digest.
        size : {'small', 'large'}

        Raises
        ------
        Stop
            If it cannot be read.
        """
        path = self._folder.path / FOLDER / size / image[:2] / f"{image}.webp"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                data = self._folder.find_image(image).read_bytes()
                write_whole(path, for_screen(data, SIZES[size]))
            except (InputError, OSError) as error:
                raise Stop(404, "This image cannot be read. Tell whoever invited you.") from error
        return path

    def answer(self, image: str, size: str) -> Response:
        """The image for a browser to keep: without its file's time and tag, which tell when somebody saw it first.

        Parameters
        ----------
        image, size : str
            As for :meth:`path`.

        Raises
        ------
        Stop
            If it cannot be read.
        """
        keep = {"cache-control": f"private, max-age={YEAR}, immutable"}
        return Response(self.path(image, size).read_bytes(), media_type="image/webp", headers=keep)


def for_screen(data: bytes, longest: int) -> bytes:
    """An image as WebP, made smaller where it is larger.

    Parameters
    ----------
    data : bytes
    longest : int
        Pixels of the longer side at most.
    """
    from PIL.Image import Resampling

    image = decode(data).image
    image.thumbnail((longest, longest), Resampling.LANCZOS)
    small = max(image.size) <= LOSSLESS
    file = io.BytesIO()
    image.save(file, "WEBP", lossless=small, quality=100 if small else QUALITY, method=2)
    return file.getvalue()
