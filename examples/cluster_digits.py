"""Clusters of scikit-learn's handwritten digits, from k-means on pixels to spectral clusters of local features."""

from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline

from vicinal import LocalSpectralClustering, RandLocal
from vicinal.metrics import clustering_accuracy, normalized_mutual_information

X, y = load_digits(return_X_y=True)


def show(name, clusters):
    accuracy, nmi = clustering_accuracy(y, clusters), normalized_mutual_information(y, clusters)
    print(f"{name:<55} accuracy {accuracy:.3f}, NMI {nmi:.3f}")


show("k-means on pixels", KMeans(10, n_init=20, random_state=0).fit_predict(X))

# k-means reads the sparse features as they are. Unit rows matter: rows far from all anchors would crowd at the origin.
features = RandLocal(task="unsupervised", norm="l2", random_state=0)
pipeline = make_pipeline(features, KMeans(10, n_init=20, random_state=0))
show("k-means on RandLocal's features, unit rows", pipeline.fit_predict(X))

# Without a number of clusters, the largest gap in the spectrum suggests one.
model = LocalSpectralClustering(random_state=0).fit(X)
show(f"LocalSpectralClustering, which suggests {model.n_clusters_} clusters", model.labels_)

seen = LocalSpectralClustering(10, random_state=0).fit(X[::2])
print(f"Rows that it has not seen: accuracy {clustering_accuracy(y[1::2], seen.predict(X[1::2])):.3f}")
