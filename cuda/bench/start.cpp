// start.cpp: the cost of starting lanes, by parts: contexts, pinned memory, device memory.
#include "common.hpp"
#include <condition_variable>
#include <mutex>

namespace hybz {

namespace {

constexpr size_t kPinned = size_t(65) << 20; // of a lane that codes 32 blocks
constexpr uint32_t kBlocks = 32, kLength = 900000;

struct Times {
    double context, pinned, lane, end;
};

// A barrier for this many threads.
struct Barrier {
    std::mutex mutex;
    std::condition_variable changed;
    uint32_t threads, waiting = 0, turn = 0;
    explicit Barrier(uint32_t count) : threads(count) {}
    void wait() {
        std::unique_lock<std::mutex> lock(mutex);
        const uint32_t mine = turn;
        if (++waiting == threads) {
            waiting = 0;
            turn++;
            changed.notify_all();
        }
        changed.wait(lock, [&] { return turn != mine; });
    }
};

} // namespace

int time_start(uint32_t devices, uint32_t lanes, const std::string &how) {
    const auto begin = Clock::now();
    const auto touch = [](int device) { must(hybz_device_use(device), "context"); };
    if (how == "serial")
        for (uint32_t device = 0; device < devices; device++) touch(int(device));
    std::vector<Times> times(devices * lanes);
    std::vector<std::thread> threads;
    Barrier all(devices * lanes);
    for (uint32_t t = 0; t < devices * lanes; t++)
        threads.emplace_back([&, t] {
            const int device = int(t / lanes);
            Times &own = times[t];
            if (how != "leaders" || t % lanes == 0) touch(device);
            own.context = seconds(begin);
            if (how != "together") all.wait();
            void *memory = nullptr;
            must(hybz_pinned_alloc(device, kPinned, hybz_touched_alloc(kPinned), &memory), "pinned");
            own.pinned = seconds(begin);
            hybz_lane *lane = nullptr;
            must(hybz_lane_create(device, kBlocks, kLength, HYBZ_RESIDENT, &lane), "lane");
            own.lane = seconds(begin);
            all.wait();
            must(hybz_lane_destroy(lane), "destroy");
            must(hybz_pinned_free(memory, kPinned), "free");
            own.end = seconds(begin);
        });
    for (std::thread &thread : threads) thread.join();
    for (uint32_t device = 0; device < devices; device++) {
        Times first{1e9, 1e9, 1e9, 1e9}, last{};
        for (uint32_t lane = 0; lane < lanes; lane++) {
            const Times &own = times[device * lanes + lane];
            first = {std::min(first.context, own.context), std::min(first.pinned, own.pinned),
                     std::min(first.lane, own.lane), std::min(first.end, own.end)};
            last = {std::max(last.context, own.context), std::max(last.pinned, own.pinned),
                    std::max(last.lane, own.lane), std::max(last.end, own.end)};
        }
        printf("%s, device %u, first and last of %u lanes, s: context %.2f %.2f, pinned %.2f %.2f, lane %.2f %.2f, "
               "end %.2f %.2f\n",
               how.c_str(), device, lanes, first.context, last.context, first.pinned, last.pinned, first.lane,
               last.lane, first.end, last.end);
    }
    return 0;
}

} // namespace hybz
