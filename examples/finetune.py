"""Fine-tune a pretrained network on new classes, with a few images of each.

    python examples/finetune.py pictures --weights resnet18-f37072fd.pth
    flambeau classify pictures/test --weights finetuned.pt

reads pictures/train/CLASS/... and pictures/test/CLASS/..., and a state dict from a file. It first
trains only the new head, on the features of the pretrained network, then all layers at a tenth of
the rate, so that the features are adapted and not overwritten. The checkpoint contains the class
names and the preprocessing, which `flambeau classify` reads.

Offline, pretrain on six drawn shapes and fine-tune on the other four:

    python examples/shapes.py folders six --kinds disc ring square frame triangle cross --count 200
    python examples/finetune.py six --size 64 --lr 0.003 --epochs 0 15 --checkpoint six.pt
    python examples/shapes.py folders four --kinds stripes checks heart moon
    python examples/finetune.py four --size 64 --weights six.pt

Expected: all 32 test images of the four shapes are classified correctly, from 32 training images
each; without --weights 66 %. Pretraining took three minutes on one core, fine-tuning ten seconds.
"""

import argparse
from pathlib import Path

import flambeau as torch
import flambeau.nn.functional as F
from flambeau import nn
from flambeau.utils.data import DataLoader
from flambeau.vision import datasets, models, transforms


def network(model: str, classes: int, weights: Path | None) -> tuple[nn.Module, nn.Module]:
    """A network, pretrained but for its head, and the head: the last of its linear layers."""
    net = models.get_model(model, num_classes=classes)
    name, head = [each for each in net.named_modules() if isinstance(each[1], nn.Linear)][-1]
    if weights is not None:
        state = torch.load(weights)
        state = state.get("state_dict", state)  # in a checkpoint of this program it lies deeper
        body = {key: value for key, value in state.items() if not key.startswith(f"{name}.")}
        keys = net.load_state_dict(body, strict=False)
        if keys.unexpected_keys or len(keys.missing_keys) > len(head.state_dict()):
            raise SystemExit(f"{weights} holds no weights of {model}")
    return net, head


def loaders(
    pictures: Path, prepare: nn.Module, batch_size: int
) -> tuple[DataLoader, DataLoader, list[str]]:
    """Batches to learn from and for the test, and the names of the classes."""
    varied = transforms.Compose(
        [
            transforms.RandomResizedCrop(prepare.crop_size, scale=(0.5, 1.0)),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize(prepare.mean, prepare.std),
        ]
    )
    training = datasets.ImageFolder(pictures / "train", varied)
    test = datasets.ImageFolder(pictures / "test", prepare)
    return (
        DataLoader(training, batch_size, shuffle=True),
        DataLoader(test, batch_size),
        training.classes,
    )


def learn(
    net: nn.Module,
    groups: list[dict],
    loader: DataLoader,
    epochs: int,
    description: str,
    body_rests: bool,
) -> None:
    """Train some of the parameters, each group at its rate, which falls to nothing."""
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    steps = epochs * len(loader)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    # Batch normalisation goes on with the means it has while the rest of the network rests.
    net.train(not body_rests)
    with torch.progress(total=steps, description=description) as bar:
        for _ in range(epochs):
            for images, labels in loader:
                loss = F.cross_entropy(net(images), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
                bar.set(loss=loss)
                bar.update()


@torch.inference_mode()
def accuracy(net: nn.Module, loader: DataLoader) -> float:
    net.eval()
    right = sum((net(images).argmax(1) == labels).sum().item() for images, labels in loader)
    return right / len(loader.dataset)


def train(
    pictures: Path,
    weights: Path | None = None,
    model: str = "resnet18",
    size: int = 224,
    epochs: tuple[int, int] = (3, 6),
    batch_size: int = 16,
    lr: float = 1e-3,
    checkpoint: Path = Path("finetuned.pt"),
    seed: int = 0,
) -> tuple[nn.Module, float]:
    """The network, and the share of the test pictures that it knows."""
    torch.manual_seed(seed)
    sizes = {"crop_size": size, "resize_size": size * 8 // 7}
    prepare = models.get_model_weights(model).DEFAULT.transforms(**sizes)
    training, test, classes = loaders(pictures, prepare, batch_size)
    net, head = network(model, len(classes), weights)

    net.requires_grad_(False)
    head.requires_grad_(True)
    groups = [{"params": head.parameters(), "lr": 10 * lr}]
    if epochs[0]:
        learn(net, groups, training, epochs[0], "head", body_rests=True)
        print(f"head alone: {accuracy(net, test):.1%} of the test pictures")

    net.requires_grad_(True)
    body = [parameter for parameter in net.parameters() if parameter not in set(head.parameters())]
    groups = [{"params": body, "lr": lr / 10}, {"params": head.parameters(), "lr": lr}]
    learn(net, groups, training, epochs[1], "all", body_rests=False)

    torch.save(
        {"arch": model, "classes": classes, "transforms": sizes, "state_dict": net.state_dict()},
        checkpoint,
    )
    return net, accuracy(net, test)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pictures", type=Path, help="a folder with train and test in it")
    parser.add_argument("--weights", type=Path, help="a file with the state dict of the model")
    parser.add_argument("--model", default="resnet18")
    parser.add_argument("--size", type=int, default=224, help="pixels on each side")
    parser.add_argument("--epochs", type=int, nargs=2, default=(3, 6), metavar=("HEAD", "ALL"))
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--checkpoint", type=Path, default=Path("finetuned.pt"))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    _, share = train(**vars(arguments))
    print(f"all of it: {share:.1%} of the test pictures")
    print(f"try: flambeau classify {arguments.pictures / 'test'} --weights {arguments.checkpoint}")


if __name__ == "__main__":
    main()
