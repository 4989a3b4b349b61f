#include "analysis/cli/interrupt.h"

#include <ctime>

namespace uringsim::analysis {

Interrupt::Interrupt() {
    sigemptyset(&watched_);
    sigaddset(&watched_, SIGINT);
    sigaddset(&watched_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &watched_, &before_);
}

Interrupt::~Interrupt() {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool Interrupt::pending() {
    if (signal_ == 0) {
        const timespec now{};
        const int signal = sigtimedwait(&watched_, nullptr, &now);
        if (signal > 0) {
            signal_ = signal;
            pthread_sigmask(SIG_SETMASK, &before_, nullptr);
        }
    }
    return signal_ != 0;
}

} // namespace uringsim::analysis
