// Gaussian sums and weighted means of one query tile over its list of key leaves.
//
// One block a query tile (and a share of its leaves), ROWS queries a thread. A leaf of TILE keys is
// staged through shared memory; each thread forms the exponents of STEP keys at a time,
//
//     e_ij = l_j - beta |u_i - v_j|^2          (base two, differences before squares),
//
// raises its running maximum if one of them lies above it, and sums the weights 2^(e_ij - top) and
// their products with the values, the row's centre subtracted before multiplication. The maximum is
// rounded up to an integer, so that rescaling what is already summed is exact. Sums of a leaf are
// formed in Real and added to float64 totals.
//
// Plain CUDA C++ on purpose: barriers and statically sized shared memory only, so that the same
// source also runs on a CPU, where the tests hold it against the block engine.

constexpr int TILE = 128;  // queries of a block; keys of a leaf
constexpr int STEP = 8;    // keys whose exponents a thread holds at once
#define NOTHING (-1.0 / 0.0)  // log of weight zero

// What the coordinates, log-weights and values of a tile are taken relative to. In float64 they
// stay as they are. In float32 coordinates are measured from the middle of the query tile in units
// of the bandwidth, log-weights from the tile's level and values from its first centre, all
// subtracted in float64: what is rounded to float32 is small wherever it matters.
template <class Real>
struct Frame;

template <>
struct Frame<double> {
    static constexpr double LOWEST = -1.7976931348623157e308;
    double beta;
    __device__ Frame(double beta, double) : beta(beta) {}
    __device__ double coordinate(double x, double) const { return x; }
    __device__ double log_weight(double l) const { return l; }
    __device__ double value(double v, double) const { return v; }
    __device__ double exponent(double l, double square) const { return l - beta * square; }
    __device__ double from_top(double top) const { return top; }
    __device__ static double power(double x) { return exp2(x); }
    __device__ static double larger(double x, double y) { return fmax(x, y); }
    __device__ static double round_up(double x) { return ceil(x); }
};

template <>
struct Frame<float> {
    static constexpr float LOWEST = -3.402823466e38f;
    double root, level;
    __device__ Frame(double beta, double level) : root(sqrt(beta)), level(level) {}
    __device__ float coordinate(double x, double middle) const {
        return float((x - middle) * root);
    }
    __device__ float log_weight(double l) const { return float(l - level); }
    __device__ float value(double v, double base) const { return float(v - base); }
    __device__ float exponent(float l, float square) const { return l - square; }
    __device__ double from_top(float top) const { return level + top; }
    __device__ static float power(float x) { return exp2f(x); }
    __device__ static float larger(float x, float y) { return fmaxf(x, y); }
    __device__ static float round_up(float x) { return ceilf(x); }
};

// One query and its running sums 2^top * mass and 2^top * moments.
template <class Real, int D, int WIDTH>
struct Row {
    Real point[D], center[WIDTH];
    Real top, leaf_mass, leaf_moments[WIDTH];
    double mass, moments[WIDTH];
    long long excluded;  // position of the key left out, -1 for none
    int left_out;        // the same within the leaf at hand, negative outside it

    __device__ void begin_leaf(long long first) {
        const long long position = excluded - first;
        left_out = position >= 0 && position < TILE ? int(position) : -TILE;
        leaf_mass = 0;
        for (int k = 0; k < WIDTH; ++k) leaf_moments[k] = 0;
    }

    __device__ void raise(Real largest) {
        const Real raised = Frame<Real>::round_up(largest);
        const Real drop = Frame<Real>::larger(top - raised, Real(-2000));
        const double scale = ldexp(1.0, int(drop));
        top = raised;
        mass *= scale;
        leaf_mass *= Real(scale);
        for (int k = 0; k < WIDTH; ++k) {
            moments[k] *= scale;
            leaf_moments[k] *= Real(scale);
        }
    }

    __device__ void end_leaf() {
        mass += double(leaf_mass);
        for (int k = 0; k < WIDTH; ++k) moments[k] += double(leaf_moments[k]);
    }
};

// One leaf of keys in shared memory. Keys that are not there have weight zero, and so have values
// of keys without weight: they may be of any size.
template <class Real, int D, int COLUMNS, int WIDTH>
struct Leaf {
    Real points[D][TILE], log_weights[TILE], values[WIDTH][TILE];

    __device__ void stage(const Frame<Real>& frame, const double* keys, const double* log2_weights,
                          const double* columns, const double* middle, const double* centers,
                          long long first, long long n_keys, long long n_queries) {
        const int length = n_keys - first < TILE ? int(n_keys - first) : TILE;
        for (int j = threadIdx.x; j < TILE; j += blockDim.x) {
            const long long at = first + j;
            const bool present = j < length;
            const double weight = present ? log2_weights[at] : NOTHING;
            log_weights[j] = frame.log_weight(weight);
#pragma unroll
            for (int d = 0; d < D; ++d) {
                const double* row = keys + d * n_keys;
                points[d][j] = present ? frame.coordinate(row[at], middle[d]) : Real(0);
            }
#pragma unroll
            for (int k = 0; k < COLUMNS; ++k) {
                const double base = centers[k * n_queries];
                values[k][j] =
                    weight > NOTHING ? frame.value(columns[k * n_keys + at], base) : Real(0);
            }
        }
    }
};

// Add the STEP keys from `j` on to ROWS queries; what is read from shared memory serves them all.
template <class Real, int D, int COLUMNS, int WIDTH, int ROWS>
__device__ void absorb(const Frame<Real>& frame, const Leaf<Real, D, COLUMNS, WIDTH>& leaf,
                       Row<Real, D, WIDTH> (&rows)[ROWS], int j) {
    Real terms[ROWS][STEP];
#pragma unroll
    for (int d = 0; d < D; ++d)
#pragma unroll
        for (int s = 0; s < STEP; ++s)
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const Real difference = rows[r].point[d] - leaf.points[d][j + s];
                const Real before = d > 0 ? terms[r][s] : Real(0);
                terms[r][s] = before + difference * difference;
            }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
        for (int s = 0; s < STEP; ++s)
            terms[r][s] = frame.exponent(leaf.log_weights[j + s], terms[r][s]);
        const int left_out = rows[r].left_out - j;
        if (left_out >= 0 && left_out < STEP) {
#pragma unroll
            for (int s = 0; s < STEP; ++s)
                if (s == left_out) terms[r][s] = Real(NOTHING);
        }
        Real largest = terms[r][0];
#pragma unroll
        for (int s = 1; s < STEP; ++s) largest = Frame<Real>::larger(largest, terms[r][s]);
        if (largest > rows[r].top) rows[r].raise(largest);
        Real total = 0;
#pragma unroll
        for (int s = 0; s < STEP; ++s) {
            terms[r][s] = Frame<Real>::power(terms[r][s] - rows[r].top);
            total += terms[r][s];
        }
        rows[r].leaf_mass += total;
    }
#pragma unroll
    for (int k = 0; k < COLUMNS; ++k)
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            Real total = 0;
#pragma unroll
            for (int s = 0; s < STEP; ++s)
                total += terms[r][s] * (leaf.values[k][j + s] - rows[r].center[k]);
            rows[r].leaf_moments[k] += total;
        }
}

// Arrays are in tile order and dimension-major. Runs `first_run[t] .. first_run[t + 1]` of
// consecutive leaves belong to query tile t; segment s of n_segments takes the leaves s, s +
// n_segments, ... and writes its own partial sums, tops as logarithms to base two.
template <class Real, int D, int COLUMNS, int ROWS>
__global__ void __launch_bounds__(TILE / ROWS)
    gaussian_sums(const double* queries, const double* centers, const long long* excluded,
                  long long n_queries, const double* keys, const double* log2_weights,
                  const double* values, long long n_keys, const long long* first_run,
                  const int* runs, const double* middles, const double* levels, double beta,
                  int n_segments, double* tops, double* masses, double* moments) {
    constexpr int WIDTH = COLUMNS > 0 ? COLUMNS : 1;
    alignas(16) __shared__ Leaf<Real, D, COLUMNS, WIDTH> leaf;
    const long long tile = blockIdx.x, start = tile * TILE;
    const int segment = blockIdx.y;
    const Frame<Real> frame(beta, levels[tile]);
    const double* middle = middles + tile * D;
    const double* base = centers + start;  // of the tile's first query, one a column

    Row<Real, D, WIDTH> rows[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const long long row = start + threadIdx.x + r * (TILE / ROWS);
        const long long i = row < n_queries ? row : n_queries - 1;  // repeats, not written
        for (int d = 0; d < D; ++d)
            rows[r].point[d] = frame.coordinate(queries[d * n_queries + i], middle[d]);
        for (int k = 0; k < COLUMNS; ++k)
            rows[r].center[k] = frame.value(centers[k * n_queries + i], base[k * n_queries]);
        rows[r].excluded = excluded[i];
        rows[r].top = Frame<Real>::LOWEST;
        rows[r].mass = 0.0;
        for (int k = 0; k < WIDTH; ++k) rows[r].moments[k] = 0.0;
    }

    for (long long run = first_run[tile]; run < first_run[tile + 1]; ++run) {
        const int begin = runs[2 * run], end = runs[2 * run + 1];
        const int ahead = (segment + n_segments - begin % n_segments) % n_segments;
        for (int number = begin + ahead; number < end; number += n_segments) {
            const long long first = (long long)number * TILE;
            leaf.stage(frame, keys, log2_weights, values, middle, base, first, n_keys, n_queries);
            __syncthreads();  // the leaf is complete
#pragma unroll
            for (int r = 0; r < ROWS; ++r) rows[r].begin_leaf(first);
#pragma unroll 1
            for (int j = 0; j < TILE; j += STEP)
                absorb<Real, D, COLUMNS, WIDTH, ROWS>(frame, leaf, rows, j);
#pragma unroll
            for (int r = 0; r < ROWS; ++r) rows[r].end_leaf();
            __syncthreads();  // nobody reads it any more
        }
    }

#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const long long i = start + threadIdx.x + r * (TILE / ROWS);
        if (i < n_queries) {
            const long long at = segment * n_queries + i;
            tops[at] = rows[r].mass > 0.0 ? frame.from_top(rows[r].top) : NOTHING;
            masses[at] = rows[r].mass;
            for (int k = 0; k < COLUMNS; ++k)
                moments[((long long)segment * COLUMNS + k) * n_queries + i] = rows[r].moments[k];
        }
    }
}
