"""Metrics of torchmetrics, batch by batch and over all."""

import torch
import torchmetrics
from torchmetrics import MetricCollection
from torchmetrics.classification import (
    BinaryAUROC,
    MulticlassAccuracy,
    MulticlassAveragePrecision,
    MulticlassConfusionMatrix,
    MulticlassF1Score,
)
from torchmetrics.functional import pairwise_cosine_similarity
from torchmetrics.regression import MeanSquaredError, PearsonCorrCoef, R2Score


def main():
    torch.manual_seed(0)
    classes = 4
    metrics = MetricCollection(
        {
            "accuracy": MulticlassAccuracy(classes, average="micro"),
            "f1": MulticlassF1Score(classes),
            "precision": MulticlassAveragePrecision(classes),
            "confusion": MulticlassConfusionMatrix(classes),
        }
    )
    auroc, mean = BinaryAUROC(), torchmetrics.MeanMetric()
    regression = MetricCollection([MeanSquaredError(), PearsonCorrCoef(), R2Score()])
    for batch in range(5):
        target = torch.randint(classes, (32,))
        scores = torch.randn(32, classes) + torch.nn.functional.one_hot(target, classes)
        values = metrics(scores.softmax(dim=-1), target)
        auroc.update(scores[:, 0].sigmoid(), (target == 0).long())
        truth = torch.randn(32)
        regression.update(truth + 0.3 * torch.randn(32), truth)
        mean.update(scores.square().mean())
        print(f"batch {batch} accuracy {values['accuracy']:.4f} f1 {values['f1']:.4f}")
    for name, value in {**metrics.compute(), **regression.compute()}.items():
        print(name, value)
    print("auroc", auroc.compute(), "mean", mean.compute())
    print(pairwise_cosine_similarity(scores[:3], scores[3:5]))
    metrics.reset()
    print(sorted(metrics.state_dict()))


if __name__ == "__main__":
    main()
