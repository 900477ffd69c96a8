// Threads that live for one call. The calling thread only waits and listens for an interruption.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace vicinal {

// Told now and then which share of the work is done; says whether to stop.
using Interrupted = std::function<bool(double)>;

// Calls make_worker() once in each thread, then the worker with every item; items are handed out in order.
// Returns false when interrupted; what a worker throws is thrown again here.
template <class MakeWorker>
bool run_parallel(std::int64_t n_items, int n_threads, const Interrupted& interrupted, MakeWorker make_worker) {
    std::atomic<std::int64_t> next{0};
    std::atomic<bool> stop{false};
    std::exception_ptr error;
    std::mutex mutex;
    std::condition_variable done;
    int running = 0;
    auto body = [&] {
        try {
            auto worker = make_worker();
            for (std::int64_t item; !stop && (item = next++) < n_items;) worker(item, stop);
        } catch (...) {
            std::lock_guard lock(mutex);
            error = std::current_exception();
            stop = true;
        }
        std::lock_guard lock(mutex);
        --running;
        done.notify_one();
    };
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(std::min<std::int64_t>(n_threads, n_items)));
    auto starting = [&](int change) {
        std::lock_guard lock(mutex);
        running += change;
    };
    for (std::int64_t i = 0; i < std::min<std::int64_t>(n_threads, n_items); ++i) {
        starting(+1);
        try {
            threads.emplace_back(body);
        } catch (const std::system_error&) {  // no more threads to be had: go on with those that started
            starting(-1);
            break;
        }
    }
    if (threads.empty()) {
        starting(+1);
        body();
    }
    bool was_interrupted = false;
    {
        std::unique_lock lock(mutex);
        while (!done.wait_for(lock, std::chrono::milliseconds(50), [&] { return running == 0; })) {
            lock.unlock();
            if (!was_interrupted && interrupted(std::min(1.0, static_cast<double>(next) / n_items))) {
                was_interrupted = stop = true;
            }
            lock.lock();
        }
    }
    for (auto& thread : threads) thread.join();
    if (error) std::rethrow_exception(error);
    return !was_interrupted;
}

}  // namespace vicinal
