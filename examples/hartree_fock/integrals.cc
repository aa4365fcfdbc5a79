// SPDX-License-Identifier: BSD-3-Clause
#include "integrals.h"

#include <libint2.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

using libint2::Engine;
using libint2::Operator;
using libint2::Shell;
using libint2::ShellPair;

struct integrals {
    std::vector<Shell> shells;
    std::vector<int> first; // function of each shell
    int functions = 0;
    size_t primitives_max = 0;
    int momentum_max = 0;
    double precision = 0;
    std::vector<ShellPair> pairs; // of shells i >= j, at i(i + 1)/2 + j
    std::vector<double> bounds;
};

struct quartets {
    const struct integrals *integrals = nullptr;
    Engine engine;
};

namespace
{

size_t pair_index(int i, int j)
{
    if (i < j)
        std::swap(i, j);
    return size_t(i) * (size_t(i) + 1) / 2 + size_t(j);
}

int momentum(const struct integrals &integrals, int shell)
{
    return integrals.shells[size_t(shell)].contr[0].l;
}

void add_shell(struct integrals &integrals, const struct molecule &molecule,
               const struct shell &shell)
{
    libint2::svector<double> exponents(shell.exponent,
                                       shell.exponent + shell.primitives);
    libint2::svector<double> coefficients(shell.coefficient,
                                          shell.coefficient + shell.primitives);
    const double *at = molecule.atom[shell.atom].position;
    integrals.shells.push_back(
        Shell{exponents,
              {{shell.momentum, shell.is_spherical, coefficients}},
              {{at[0], at[1], at[2]}}});
    integrals.first.push_back(integrals.functions);
    integrals.functions += shell.functions;
    integrals.primitives_max =
        std::max(integrals.primitives_max, size_t(shell.primitives));
    integrals.momentum_max = std::max(integrals.momentum_max, shell.momentum);
}

Engine engine_make(const struct integrals &integrals, Operator what)
{
    return Engine(what, integrals.primitives_max, integrals.momentum_max, 0,
                  integrals.precision);
}

struct shell_pair ordered_pair(const struct integrals &integrals, int i, int j)
{
    const int li = momentum(integrals, i), lj = momentum(integrals, j);
    if (li < lj || (li == lj && i < j))
        std::swap(i, j);
    return shell_pair{i, j, li + lj, 0};
}

/* Square root of the largest (ab|ab). */
double schwarz_bound(Engine &engine, const Shell &a, const Shell &b)
{
    const auto &results = engine.results();
    // Engine::compute() has all kinds of integrals compiled, for 20 s.
    engine.compute2<Operator::coulomb, libint2::BraKet::xx_xx, 0>(a, b, a, b);
    const size_t n = a.size() * b.size();
    double largest = 0;
    for (size_t k = 0; results[0] && k < n * n; k += n + 1)
        largest = std::max(largest, std::abs(results[0][k]));
    return std::sqrt(largest);
}

/*
 * Tables of shell pairs and their Schwarz bounds.
 *
 * A bound is the root of an integral: primitives that contribute 1e-17 to the
 * integral make 3e-9 of the bound, so bounds are computed without leaving
 * anything out.
 */
void prepare_pairs(struct integrals &integrals)
{
    const int shells = int(integrals.shells.size());
    const double ln_precision = std::log(integrals.precision);
    Engine exact = engine_make(integrals, Operator::coulomb);
    exact.set_precision(0);
    for (int i = 0; i < shells; i++) {
        for (int j = 0; j <= i; j++) {
            const struct shell_pair pair = ordered_pair(integrals, i, j);
            const Shell &a = integrals.shells[size_t(pair.a)];
            const Shell &b = integrals.shells[size_t(pair.b)];
            integrals.pairs.emplace_back(a, b, ln_precision);
            integrals.bounds.push_back(schwarz_bound(exact, a, b));
        }
    }
}

/* Put a block of a symmetric matrix into both its places; NULL: zeros. */
void fill_block(const struct integrals &integrals, int a, int b,
                const double *value, double *matrix)
{
    const size_t n = size_t(integrals.functions);
    const size_t rows = integrals.shells[size_t(a)].size();
    const size_t columns = integrals.shells[size_t(b)].size();
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            const size_t row = size_t(integrals.first[size_t(a)]) + i;
            const size_t column = size_t(integrals.first[size_t(b)]) + j;
            const double entry = value ? value[i * columns + j] : 0;
            matrix[row * n + column] = entry;
            matrix[column * n + row] = entry;
        }
    }
}

void fill_matrix(const struct integrals &integrals, Engine &engine,
                 double *matrix)
{
    const int shells = int(integrals.shells.size());
    const auto &results = engine.results();
    for (int a = 0; a < shells; a++) {
        for (int b = 0; b <= a; b++) {
            engine.compute1(integrals.shells[size_t(a)],
                            integrals.shells[size_t(b)]);
            fill_block(integrals, a, b, results[0], matrix);
        }
    }
}

} // namespace

void integrals_start(void)
{
    libint2::initialize();
    Shell::do_enforce_unit_normalization(true);
}

void integrals_stop(void)
{
    libint2::finalize();
}

struct integrals *integrals_create(const struct molecule *molecule,
                                   const struct shell *shell, int shells,
                                   double precision, struct message *message)
{
    try {
        auto integrals = std::make_unique<struct integrals>();
        integrals->precision = precision;
        for (int i = 0; i < shells; i++)
            add_shell(*integrals, *molecule, shell[i]);
        prepare_pairs(*integrals);
        return integrals.release();
    } catch (const std::exception &error) {
        message_set(message, "libint2 cannot compute these integrals: %s",
                    error.what());
        return nullptr;
    }
}

void integrals_destroy(struct integrals *integrals)
{
    delete integrals;
}

void integrals_overlap(const struct integrals *integrals, double *matrix)
{
    Engine engine = engine_make(*integrals, Operator::overlap);
    fill_matrix(*integrals, engine, matrix);
}

void integrals_kinetic(const struct integrals *integrals, double *matrix)
{
    Engine engine = engine_make(*integrals, Operator::kinetic);
    fill_matrix(*integrals, engine, matrix);
}

void integrals_attraction(const struct integrals *integrals,
                          const struct atom *atom, int atoms, double *matrix)
{
    std::vector<std::pair<double, std::array<double, 3>>> charges;
    for (int i = 0; i < atoms; i++)
        charges.push_back({double(atom[i].element),
                           {{atom[i].position[0], atom[i].position[1],
                             atom[i].position[2]}}});
    Engine engine = engine_make(*integrals, Operator::nuclear);
    engine.set_params(charges);
    fill_matrix(*integrals, engine, matrix);
}

struct shell_pair integrals_pair(const struct integrals *integrals, int i,
                                 int j)
{
    struct shell_pair pair = ordered_pair(*integrals, i, j);
    pair.bound = integrals->bounds[pair_index(i, j)];
    return pair;
}

struct quartets *quartets_create(const struct integrals *integrals) noexcept
{
    auto made = std::make_unique<struct quartets>();
    made->integrals = integrals;
    made->engine = engine_make(*integrals, Operator::coulomb);
    return made.release();
}

void quartets_destroy(struct quartets *quartets)
{
    delete quartets;
}

const double *quartets_compute(struct quartets *quartets,
                               const struct shell_pair *ab,
                               const struct shell_pair *cd)
{
    const struct integrals &integrals = *quartets->integrals;
    const auto &results = quartets->engine.results();
    quartets->engine.compute2<Operator::coulomb, libint2::BraKet::xx_xx, 0>(
        integrals.shells[size_t(ab->a)], integrals.shells[size_t(ab->b)],
        integrals.shells[size_t(cd->a)], integrals.shells[size_t(cd->b)],
        &integrals.pairs[pair_index(ab->a, ab->b)],
        &integrals.pairs[pair_index(cd->a, cd->b)]);
    return results[0];
}
