#pragma once

#include <csignal>

namespace uringsim::analysis {

/// While it lives, Ctrl-C (SIGINT) and SIGTERM do not end the process but are noticed by pending().
/// The second one ends it as usual. Threads started while it lives inherit this.
class Interrupt {
  public:
    Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;
    ~Interrupt();

    /// True from the first signal on.
    bool pending();

    /// The exit status that the shell expects: 130 after Ctrl-C, 143 after SIGTERM; 0 without.
    int status() const { return signal_ == 0 ? 0 : 128 + signal_; }

  private:
    sigset_t watched_;
    sigset_t before_;
    int signal_ = 0;
};

} // namespace uringsim::analysis
