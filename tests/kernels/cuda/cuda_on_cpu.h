// CUDA kernels on a CPU: each thread of a block is a fiber, a barrier hands over to the next one.
//
// Enough of the language for kernels with barriers and statically sized shared memory. Threads run
// one after the other between barriers, in forward or in reverse order, so that a result which
// needs a barrier that is not there comes out wrong in at least one of the two orders. A thread
// that ends while others still wait at a barrier is reported.

#include <cmath>
#include <cstddef>
#include <ucontext.h>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(...)

struct Index {
    unsigned x, y, z;
};
static Index threadIdx, blockIdx, blockDim;

struct Fiber {
    ucontext_t context;
    std::vector<char> stack = std::vector<char>(1 << 16);
    bool ended;
};
static std::vector<Fiber> fibers;
static ucontext_t scheduler;

template <class Kernel, class... Types, std::size_t... Number>
void call(Kernel kernel, void** arguments, void (*)(Types...), std::index_sequence<Number...>) {
    kernel(*static_cast<Types*>(arguments[Number])...);
}

// Arguments by address and their sizes, as a kernel launch takes them.
template <class... Types>
struct Launch {
    static inline void (*kernel)(Types...);
    static inline void** arguments;

    static void thread() {
        const unsigned self = threadIdx.x;
        call(kernel, arguments, kernel, std::index_sequence_for<Types...>());
        fibers[self].ended = true;
        setcontext(&scheduler);
    }

    // 0, or what is wrong: 1 a thread left before a barrier, 2 an argument of another size.
    static int run(void (*function)(Types...), const unsigned* grid, unsigned block, int reverse,
                   void** by_address, const int* sizes) {
        const int expected[] = {int(sizeof(Types))...};
        for (std::size_t i = 0; i < sizeof...(Types); ++i)
            if (sizes[i] != expected[i]) return 2;
        kernel = function, arguments = by_address;
        blockDim = {block, 1, 1};
        fibers.resize(block);
        for (unsigned y = 0; y < grid[1]; ++y)
            for (unsigned x = 0; x < grid[0]; ++x) {
                blockIdx = {x, y, 0};
                if (!run_block(reverse)) return 1;
            }
        return 0;
    }

    static bool run_block(int reverse) {
        for (Fiber& fiber : fibers) {
            getcontext(&fiber.context);
            fiber.context.uc_stack.ss_sp = fiber.stack.data();
            fiber.context.uc_stack.ss_size = fiber.stack.size();
            fiber.ended = false;
            makecontext(&fiber.context, thread, 0);
        }
        const std::size_t n = fibers.size();
        for (std::size_t ended = 0; ended == 0;) {  // one turn takes everybody to the next barrier
            for (std::size_t i = 0; i < n; ++i) {
                threadIdx.x = unsigned(reverse ? n - 1 - i : i);
                swapcontext(&scheduler, &fibers[threadIdx.x].context);
            }
            for (const Fiber& fiber : fibers) ended += fiber.ended;
            if (ended != 0 && ended != n) return false;
        }
        return true;
    }
};

static void __syncthreads() { swapcontext(&fibers[threadIdx.x].context, &scheduler); }

template <class... Types>
int launch(void (*kernel)(Types...), const unsigned* grid, unsigned block, int reverse,
           void** arguments, const int* sizes) {
    return Launch<Types...>::run(kernel, grid, block, reverse, arguments, sizes);
}
