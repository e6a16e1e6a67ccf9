"""Small data sets in the layouts in which the large ones are published."""

from tests.vision.published import classified as classified
from tests.vision.published import described as described
from tests.vision.published import paired as paired
from tests.vision.published.files import LAYOUTS as LAYOUTS
