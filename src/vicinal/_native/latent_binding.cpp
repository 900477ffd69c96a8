// Latent vectors of nodes: NumPy in and out.
#include "binding.hpp"
#include "latent.hpp"

namespace {

template <class T>
using Rows = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Numbers = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using TripletRows = Rows<const std::int32_t>;

Triplets checked(const TripletRows& triplets, std::size_t n_nodes, int loss) {
    require(triplets.shape(1) == 3, "triplets have three nodes each");
    require(0 <= loss && loss < n_margin_losses, "there is no such loss");
    for (std::size_t e = 0; e < triplets.size(); ++e) {
        require(triplets.data()[e] >= 0 && static_cast<std::size_t>(triplets.data()[e]) < n_nodes,
                "a node is out of range");
    }
    return {triplets.data(), static_cast<std::int64_t>(triplets.shape(0))};
}

void losses(Rows<const double> vectors, TripletRows triplets, int loss, Numbers<double> values, Numbers<double> slopes,
            int n_threads, nb::object callback) {
    const Triplets all = checked(triplets, vectors.shape(0), loss);
    require(values.shape(0) == triplets.shape(0) && slopes.shape(0) == triplets.shape(0) && n_threads >= 1,
            "outputs have a wrong length");
    const Interrupted interrupted = listener(callback);
    bool finished;
    {
        nb::gil_scoped_release release;
        finished = latent_losses(vectors.data(), static_cast<std::int64_t>(vectors.shape(1)), all,
                                 static_cast<MarginLoss>(loss), n_threads, interrupted, values.data(), slopes.data());
    }
    if (!finished) throw nb::python_error();
}

void gradient(Rows<const double> vectors, TripletRows triplets, Numbers<const double> slopes,
              Numbers<const std::int64_t> places, Numbers<const std::int64_t> starts, Rows<double> out, int n_threads,
              nb::object callback) {
    const Triplets all = checked(triplets, vectors.shape(0), 0);
    require(slopes.shape(0) == triplets.shape(0) && places.shape(0) == triplets.size() &&
                starts.shape(0) == vectors.shape(0) + 1 && out.shape(0) == vectors.shape(0) &&
                out.shape(1) == vectors.shape(1) && n_threads >= 1,
            "arrays do not fit each other");
    require(starts.data()[0] == 0 && static_cast<std::size_t>(starts.data()[vectors.shape(0)]) == places.shape(0),
            "starts do not fit the places");
    const Interrupted interrupted = listener(callback);
    bool finished;
    {
        nb::gil_scoped_release release;
        finished = latent_gradient(vectors.data(), static_cast<std::int64_t>(vectors.shape(0)),
                                   static_cast<std::int64_t>(vectors.shape(1)), all, slopes.data(), places.data(),
                                   starts.data(), n_threads, interrupted, out.data());
    }
    if (!finished) throw nb::python_error();
}

void steps(Rows<float> vectors, TripletRows triplets, int loss, Numbers<const float> decay, Numbers<const float> pull,
           std::optional<Rows<const float>> targets, float step, Numbers<float> squares, nb::object callback) {
    const Triplets all = checked(triplets, vectors.shape(0), loss);
    const std::size_t n_nodes = vectors.shape(0);
    require(decay.shape(0) == n_nodes && pull.shape(0) == n_nodes && squares.shape(0) == n_nodes,
            "there must be a number for each node");
    require(!targets || (targets->shape(0) == n_nodes && targets->shape(1) == vectors.shape(1)),
            "targets have another shape than vectors");
    const Interrupted interrupted = listener(callback);
    bool finished;
    {
        nb::gil_scoped_release release;
        finished = latent_steps(
            vectors.data(), static_cast<std::int64_t>(vectors.shape(1)), all, static_cast<MarginLoss>(loss),
            Pull{decay.data(), pull.data(), targets ? targets->data() : nullptr}, step, squares.data(), interrupted);
    }
    if (!finished) throw nb::python_error();
}

}  // namespace

void bind_latent(nb::module_& m) {
    m.def("latent_losses", &losses, "vectors"_a, "triplets"_a, "loss"_a, "values"_a, "slopes"_a, "n_threads"_a = 1,
          "callback"_a.none() = nb::none());
    m.def("latent_gradient", &gradient, "vectors"_a, "triplets"_a, "slopes"_a, "places"_a, "starts"_a, "out"_a,
          "n_threads"_a = 1, "callback"_a.none() = nb::none());
    m.def("latent_steps", &steps, "vectors"_a, "triplets"_a, "loss"_a, "decay"_a, "pull"_a, "targets"_a.none(),
          "step"_a, "squares"_a, "callback"_a.none() = nb::none());
}
