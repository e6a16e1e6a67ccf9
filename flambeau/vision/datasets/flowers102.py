"""Oxford 102 Flowers (https://www.robots.ox.ac.uk/~vgg/data/flowers/102/)."""

from __future__ import annotations

from flambeau.vision.datasets._matlab import read_matlab
from flambeau.vision.datasets._published import Resource, SplitImages, prepare, reading

__all__ = ["Flowers102"]

_HOME = "https://www.robots.ox.ac.uk/~vgg/data/flowers/102/"
_LABELS = ("imagelabels.mat", "e0620be6f572b9609742df49c70aed4d")
_PARTS = ("setid.mat", "a5357ecc9cb78c4bef273ce3793fc85c")
_RESOURCES = [
    Resource(f"{_HOME}102flowers.tgz", "52808999861908f626f3c1f4e79d11fa"),
    *(Resource(f"{_HOME}{name}", md5, packed=False) for name, md5 in (_LABELS, _PARTS)),
]

_CLASSES = """
    pink primrose; hard-leaved pocket orchid; canterbury bells; sweet pea; english marigold; tiger
    lily; moon orchid; bird of paradise; monkshood; globe thistle; snapdragon; colt's foot; king
    protea; spear thistle; yellow iris; globe-flower; purple coneflower; peruvian lily; balloon
    flower; giant white arum lily; fire lily; pincushion flower; fritillary; red ginger; grape
    hyacinth; corn poppy; prince of wales feathers; stemless gentian; artichoke; sweet william;
    carnation; garden phlox; love in the mist; mexican aster; alpine sea holly; ruby-lipped
    cattleya; cape flower; great masterwort; siam tulip; lenten rose; barbeton daisy; daffodil;
    sword lily; poinsettia; bolero deep blue; wallflower; marigold; buttercup; oxeye daisy; common
    dandelion; petunia; wild pansy; primula; sunflower; pelargonium; bishop of llandaff; gaura;
    geranium; orange dahlia; pink-yellow dahlia?; cautleya spicata; japanese anemone; black-eyed
    susan; silverbush; californian poppy; osteospermum; spring crocus; bearded iris; windflower;
    tree poppy; gazania; azalea; water lily; rose; thorn apple; morning glory; passion flower;
    lotus; toad lily; anthurium; frangipani; clematis; hibiscus; columbine; desert-rose; tree
    mallow; magnolia; cyclamen; watercress; canna lily; hippeastrum; bee balm; ball moss;
    foxglove; bougainvillea; camellia; mallow; mexican petunia; bromelia; blanket flower; trumpet
    creeper; blackberry lily
"""


class Flowers102(SplitImages):
    """Photographs of 102 species of flowers, in ``root/flowers-102``.

    ``split`` is train, val or test. SciPy reads the labels.
    """

    _splits_map = {"train": "trnid", "val": "valid", "test": "tstid"}
    _fb_SPLITS = ("train", "val", "test")
    classes: list[str] = " ".join(_CLASSES.split()).split("; ")

    def _fb_load(self, download: bool) -> None:
        folder = self._fb_below("flowers-102")
        prepare(folder, ["jpg", _LABELS, _PARTS], _RESOURCES, download)
        part = self._splits_map[self._split]
        (labels,) = read_matlab(f"{folder}/imagelabels.mat", "labels", squeeze_me=True)
        (chosen,) = read_matlab(f"{folder}/setid.mat", part, squeeze_me=True)
        self._fb_name_classes(self.classes)
        # Images and classes are counted from 1.
        with reading(f"{folder}/setid.mat"):
            self._fb_take(
                (f"{folder}/jpg/image_{number:05d}.jpg", int(labels[number - 1]) - 1)
                for number in chosen.tolist()
            )
