"""Distances and similarities."""

from tests.nn.layers.registry import function, layer, refused

layer("CosineSimilarity()", inputs=["4 3", "4 3"])
layer("CosineSimilarity(dim=-1, eps=0.5)", inputs=["2 4 3", "2 4 3"])
layer("CosineSimilarity(0)", inputs=["4", "4"], zero_batch=None)
layer("CosineSimilarity()", inputs=["4 3", "1 3"])
layer("PairwiseDistance()", inputs=["4 3", "4 3"])
layer("PairwiseDistance(p=1, eps=1e-3, keepdim=True)", inputs=["2 4 3", "2 4 3"])
layer("PairwiseDistance(3.0)", inputs=["4 3", "3"], zero_batch=None)
layer("PairwiseDistance(float('inf'))", inputs=["4 3", "4 3"])

function("pdist", "F.pdist(x)", x="5 3")
function("pdist", "F.pdist(x, p=1.0)", x="5 3")
function("pdist", "torch.pdist(x, 3)", x="5 3")
function("cdist", "torch.cdist(x, y, p=1.0)", x="2 5 3", y="2 4 3")
function("cosine_similarity", "torch.cosine_similarity(x, y.double())", x="4 3", y="4 3")

refused("F.cosine_similarity(x, y)", x="4 3", y="2 3")
refused("F.cosine_similarity(x, x)", x="int64[0:3] 4 3")
refused("F.pairwise_distance(x, y)", x="4 3", y="2 3")
refused("F.pdist(x)", x="4")
refused("F.pdist(x, p=-1)", x="4 3")
