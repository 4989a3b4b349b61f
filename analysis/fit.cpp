// One order of additions on every host: what the compiler or the CPU would vectorise differently
// must not reach the last digit that is written.
#define EIGEN_DONT_VECTORIZE
#include "analysis/fit.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

namespace uringsim::analysis {

namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr double thousandths = 1000.0;
constexpr double alike = 0.9;

/// The problem in units in which every prior has the spread 1 around 0 and every measurement the
/// sigma 1: minimise |A z - b|^2 + |z|^2, lower <= z <= upper.
struct Scaled {
    Matrix a;
    Vector b;
    Vector lower;
    Vector upper;
};

/// `used` are indices of unknowns, `rows` of measurements; the other unknowns are at `values`.
Scaled scale(const FitProblem& problem, const std::vector<std::size_t>& used,
             const std::vector<std::size_t>& rows, const std::vector<double>& values) {
    Scaled scaled;
    scaled.a = Matrix::Zero(static_cast<Index>(rows.size()), static_cast<Index>(used.size()));
    scaled.b = Vector::Zero(static_cast<Index>(rows.size()));
    scaled.lower = Vector::Zero(static_cast<Index>(used.size()));
    scaled.upper = scaled.lower;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const FitMeasurement& row = problem.measurements[rows[i]];
        double missing = row.target - row.constant;
        for (std::size_t j = 0; j < values.size(); ++j) {
            missing -= row.coefficients[j] * values[j];
        }
        for (std::size_t k = 0; k < used.size(); ++k) {
            const FitUnknown& unknown = problem.unknowns[used[k]];
            const double coefficient = row.coefficients[used[k]];
            missing += coefficient * (values[used[k]] - unknown.prior);
            scaled.a(static_cast<Index>(i), static_cast<Index>(k)) =
                coefficient * unknown.spread / row.sigma;
        }
        scaled.b(static_cast<Index>(i)) = missing / row.sigma;
    }
    for (std::size_t k = 0; k < used.size(); ++k) {
        const FitUnknown& unknown = problem.unknowns[used[k]];
        scaled.lower(static_cast<Index>(k)) = (unknown.min - unknown.prior) / unknown.spread;
        scaled.upper(static_cast<Index>(k)) = (unknown.max - unknown.prior) / unknown.spread;
    }
    return scaled;
}

/// The stationary point of the free unknowns, the others as they are in `z`.
Vector solve_free(const Scaled& scaled, const std::vector<Index>& free, const Vector& z) {
    const Index rows = scaled.a.rows();
    const auto count = static_cast<Index>(free.size());
    Vector fixed = z;
    Matrix system = Matrix::Zero(rows + count, count);
    for (Index k = 0; k < count; ++k) {
        fixed(free[static_cast<std::size_t>(k)]) = 0;
        system.col(k).head(rows) = scaled.a.col(free[static_cast<std::size_t>(k)]);
        system(rows + k, k) = 1;
    }
    Vector target = Vector::Zero(rows + count);
    target.head(rows) = scaled.b - scaled.a * fixed;
    return system.colPivHouseholderQr().solve(target);
}

/// Moves z towards the stationary point as far as the bounds let it. Returns the free unknown that
/// stopped it, or -1.
Index step(const Scaled& scaled, const std::vector<Index>& free, const Vector& goal, Vector& z) {
    double fraction = 1;
    Index blocking = -1;
    for (std::size_t k = 0; k < free.size(); ++k) {
        const Index j = free[k];
        const double wanted = goal(static_cast<Index>(k));
        const double bound = wanted < scaled.lower(j)   ? scaled.lower(j)
                             : wanted > scaled.upper(j) ? scaled.upper(j)
                                                        : wanted;
        const double possible = bound == wanted ? 1 : (bound - z(j)) / (wanted - z(j));
        if (possible < fraction) {
            fraction = possible;
            blocking = static_cast<Index>(k);
        }
    }
    for (std::size_t k = 0; k < free.size(); ++k) {
        z(free[k]) += fraction * (goal(static_cast<Index>(k)) - z(free[k]));
    }
    if (blocking >= 0) {
        const Index j = free[static_cast<std::size_t>(blocking)];
        z(j) = goal(blocking) < scaled.lower(j) ? scaled.lower(j) : scaled.upper(j);
    }
    return blocking;
}

/// The unknown at a bound that most wants to leave it, or -1.
Index wants_to_leave(const Scaled& scaled, const std::vector<bool>& is_free, const Vector& z) {
    constexpr double tolerance = 1e-9;
    const Vector downhill = scaled.a.transpose() * (scaled.b - scaled.a * z) - z;
    Index best = -1;
    double most = tolerance;
    for (Index j = 0; j < z.size(); ++j) {
        const bool inwards = z(j) <= scaled.lower(j) ? downhill(j) > 0 : downhill(j) < 0;
        const bool movable = scaled.lower(j) < scaled.upper(j);
        if (!is_free[static_cast<std::size_t>(j)] && movable && inwards &&
            std::abs(downhill(j)) > most) {
            most = std::abs(downhill(j));
            best = j;
        }
    }
    return best;
}

/// Active sets: the function is strictly convex, so every set is visited at most once.
Vector minimise(const Scaled& scaled) {
    Vector z = Vector::Zero(scaled.a.cols()).cwiseMax(scaled.lower).cwiseMin(scaled.upper);
    std::vector<bool> is_free(static_cast<std::size_t>(z.size()), true);
    for (;;) {
        std::vector<Index> free;
        for (Index j = 0; j < z.size(); ++j) {
            if (is_free[static_cast<std::size_t>(j)]) {
                free.push_back(j);
            }
        }
        const Vector goal = solve_free(scaled, free, z);
        if (const Index blocking = step(scaled, free, goal, z); blocking >= 0) {
            is_free[static_cast<std::size_t>(free[static_cast<std::size_t>(blocking)])] = false;
            continue;
        }
        const Index leaving = wants_to_leave(scaled, is_free, z);
        if (leaving < 0) {
            return z;
        }
        is_free[static_cast<std::size_t>(leaving)] = true;
    }
}

/// (A'A + 1)^-1: how far measurements and priors together leave each unknown open.
Matrix covariance(const Matrix& a) {
    const Matrix information = a.transpose() * a + Matrix::Identity(a.cols(), a.cols());
    return information.ldlt().solve(Matrix::Identity(a.cols(), a.cols()));
}

std::vector<std::string> confused_with(const FitProblem& problem, const Matrix& a,
                                       const std::vector<std::size_t>& used, std::size_t index) {
    const Vector own = a.col(static_cast<Index>(index));
    std::vector<std::pair<double, std::string>> near;
    for (std::size_t k = 0; k < used.size(); ++k) {
        const Vector other = a.col(static_cast<Index>(k));
        const double sizes = own.norm() * other.norm();
        const double cosine = sizes > 0 ? std::abs(own.dot(other)) / sizes : 0;
        if (k != index && cosine >= alike) {
            near.emplace_back(cosine, problem.unknowns[used[k]].name);
        }
    }
    std::ranges::stable_sort(near, [](const auto& x, const auto& y) { return x.first > y.first; });
    std::vector<std::string> names;
    for (auto& entry : near) {
        names.push_back(std::move(entry.second));
    }
    return names;
}

std::vector<std::size_t> up_to(std::size_t count) {
    std::vector<std::size_t> all(count);
    for (std::size_t i = 0; i < count; ++i) {
        all[i] = i;
    }
    return all;
}

double evaluate(const FitMeasurement& row, const std::vector<double>& values) {
    double sum = row.constant;
    for (std::size_t j = 0; j < values.size(); ++j) {
        sum += row.coefficients[j] * values[j];
    }
    return sum;
}

std::vector<double> solve(const FitProblem& problem, const std::vector<std::size_t>& used,
                          const std::vector<std::size_t>& rows, std::vector<double> values) {
    if (used.empty()) {
        return values;
    }
    const Vector z = minimise(scale(problem, used, rows, values));
    for (std::size_t k = 0; k < used.size(); ++k) {
        const FitUnknown& unknown = problem.unknowns[used[k]];
        const double value = unknown.prior + z(static_cast<Index>(k)) * unknown.spread;
        values[used[k]] =
            std::clamp(std::round(value * thousandths) / thousandths, unknown.min, unknown.max);
    }
    return values;
}

/// Leaves out, one by one, what the measurements cannot tell. `result` gets why.
std::vector<std::size_t> determined_unknowns(const FitProblem& problem,
                                             const std::vector<double>& priors, FitResult& result) {
    std::vector<std::size_t> used = up_to(problem.unknowns.size());
    const std::vector<std::size_t> rows = up_to(problem.measurements.size());
    while (!used.empty()) {
        const Matrix a = scale(problem, used, rows, priors).a;
        const Matrix open = covariance(a);
        std::size_t worst = 0;
        for (std::size_t k = 0; k < used.size(); ++k) {
            const double variance = open(static_cast<Index>(k), static_cast<Index>(k));
            FittedValue& value = result.values[used[k]];
            value.resolution = 1 - variance;
            value.standard_error = std::sqrt(variance) * problem.unknowns[used[k]].spread;
            if (value.resolution < result.values[used[worst]].resolution) {
                worst = k;
            }
        }
        FittedValue& value = result.values[used[worst]];
        if (value.resolution >= min_resolution) {
            const Vector sizes = Eigen::JacobiSVD<Matrix>(a).singularValues();
            const double least = sizes(sizes.size() - 1);
            result.condition = least > 0 ? sizes(0) / least : 0;
            break;
        }
        value.standing = FitStanding::at_prior;
        value.standard_error = problem.unknowns[used[worst]].spread;
        value.confused_with = confused_with(problem, a, used, worst);
        used.erase(used.begin() + static_cast<std::ptrdiff_t>(worst));
    }
    result.determined = used.size();
    return used;
}

} // namespace

FitResult fit(const FitProblem& problem) {
    FitResult result;
    result.values.resize(problem.unknowns.size());
    std::vector<double> priors;
    for (const FitUnknown& unknown : problem.unknowns) {
        priors.push_back(unknown.prior);
    }
    const std::vector<std::size_t> used = determined_unknowns(problem, priors, result);
    const std::vector<std::size_t> rows = up_to(problem.measurements.size());
    const std::vector<double> values = solve(problem, used, rows, priors);
    for (std::size_t j = 0; j < values.size(); ++j) {
        const FitUnknown& unknown = problem.unknowns[j];
        result.values[j].value = values[j];
        result.values[j].at_bound = result.values[j].standing == FitStanding::determined &&
                                    (values[j] <= unknown.min || values[j] >= unknown.max);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::vector<std::size_t> others = rows;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        const FitMeasurement& row = problem.measurements[i];
        std::vector<double> without = solve(problem, used, others, priors);
        result.residuals.push_back(
            {evaluate(row, values), evaluate(row, without), std::move(without)});
    }
    return result;
}

} // namespace uringsim::analysis
