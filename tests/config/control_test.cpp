#include <muster/contract.hpp>
#include <muster/control.hpp>

#include "config/support.hpp"
#include "control_slot.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace muster {
using Kind = ControlMessage::Kind;

namespace {

/// The launcher's side: a socket pair, and shared memory with some slots.
class Channel {
 public:
  Channel() {
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends_) == 0);
    memory_ = memfd_create("slots", MFD_CLOEXEC);
    REQUIRE(memory_ >= 0);
    REQUIRE(ftruncate(memory_, sizeof(ControlSlot) * slots) == 0);
    void* const mapped =
        mmap(nullptr, sizeof(ControlSlot) * slots, PROT_READ, MAP_SHARED, memory_, 0);
    REQUIRE(mapped != MAP_FAILED);
    slots_ = static_cast<const ControlSlot*>(mapped);
  }
  ~Channel() {
    close(ends_[0]);
    close(ends_[1]);
    close(memory_);
    munmap(const_cast<ControlSlot*>(slots_), sizeof(ControlSlot) * slots);
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Runs `call` in a child that finds the channel as a rank does; returns its exit code.
  template <class Call>
  int in_rank(Call call) const {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      setenv("MUSTER_CONTROL_FD", std::to_string(ends_[1]).c_str(), 1);
      setenv("MUSTER_CONTROL_MEMORY_FD", std::to_string(memory_).c_str(), 1);
      setenv("LOCAL_RANK", "1", 1);
      _exit(call() ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
  }

  std::vector<ControlMessage> received() const {
    std::vector<ControlMessage> messages;
    char buffer[8192];
    for (ssize_t count = 0; (count = recv(ends_[0], buffer, sizeof buffer, MSG_DONTWAIT)) > 0;) {
      const auto message = decode({buffer, static_cast<std::size_t>(count)});
      REQUIRE(message);
      messages.push_back(*message);
    }
    return messages;
  }

  const ControlSlot& slot(int index) const { return slots_[index]; }
  int launcher_end() const { return ends_[0]; }
  void close_launcher_end() {
    close(ends_[0]);
    ends_[0] = -1;
  }
  int rank_end() const { return ends_[1]; }
  int memory() const { return memory_; }

  static constexpr int slots = 3;

 private:
  int ends_[2] = {-1, -1};
  int memory_ = -1;
  const ControlSlot* slots_ = nullptr;
};

}  // namespace

TEST_CASE("messages are read back as they were written") {
  constexpr char letters[] = "back\\slash \\n\nnew line\ttab\0zero  spaces ";
  const std::string odd(letters, sizeof letters - 1);
  for (const Kind kind :
       {Kind::ready, Kind::step, Kind::checkpoint, Kind::death, Kind::stuck, Kind::stack}) {
    const ControlMessage message{kind, UINT64_MAX, INT64_MIN, "a reason", odd};
    const std::string bytes = encode(message);
    CHECK(bytes.find('\n') == std::string::npos);
    const auto back = decode(bytes);
    REQUIRE(back);
    CHECK(*back == message);
  }
  const auto empty = decode(encode({}));
  REQUIRE(empty);
  CHECK(*empty == ControlMessage{});
}

TEST_CASE("long messages are cut at a whole letter") {
  for (const std::string letter : {"a", "\n", "\\", "\xc3\xa9", "\xf0\x9f\x98\x80"}) {
    for (std::size_t shift = 0; shift < 4; ++shift) {
      std::string text(shift, 'x');
      while (text.size() < 9000) text += letter;
      const std::string bytes = encode({Kind::death, 0, 1, std::string(500, 'r'), text});
      CHECK(bytes.size() <= 4096);
      CHECK(bytes.size() > 4080);
      const auto back = decode(bytes);
      REQUIRE(back);
      CHECK(text.starts_with(back->text));
      CHECK((back->text.size() - shift) % letter.size() == 0);
      CHECK(back->reason == std::string(64, 'r'));
    }
  }
}

TEST_CASE("bytes that are no message are nothing") {
  for (const char* bytes :
       {"", "READY", "READY 0 0", "READY 0 0  x y", "ready 0 0  ", "READY -1 0  ", "READY 0 x  ",
        "READY 0 0 \\ ", "READY 0 0  \\q", "READY 18446744073709551616 0  ", "GET / HTTP/1.1"}) {
    INFO(bytes);
    CHECK_FALSE(decode(bytes));
  }
  CHECK_FALSE(decode("READY 0 0  " + std::string(5000, 'x')));
}

TEST_CASE("a rank's reports reach the launcher") {
  const Channel channel;
  const int code = channel.in_rank([&] {
    Control& control = Control::instance();
    control.ready();
    control.step(7);
    control.checkpoint(3);
    control.note(
        {41, 1024, CollectiveState::running, "all_reduce", "gradients 3/5", "float32 [256]"});
    control.death("exception", "label 11\nis not in [0, 10)");
    control.death("signal", "SIGABRT");
    return control.connected() && (fcntl(channel.rank_end(), F_GETFD) & FD_CLOEXEC) != 0;
  });
  CHECK(code == 0);
  const auto messages = channel.received();
  REQUIRE(messages.size() == 4);
  CHECK(messages[0].kind == Kind::ready);
  CHECK(messages[1].kind == Kind::step);
  CHECK(messages[1].number == 7);
  CHECK(messages[2].kind == Kind::checkpoint);
  CHECK(messages[2].number == 3);
  CHECK(messages[3].kind == Kind::death);
  CHECK(messages[3].reason == "exception");
  CHECK(messages[3].text == "label 11\nis not in [0, 10)");
  CHECK(messages[0].monotonic_ns > 0);
  CHECK(messages[3].monotonic_ns >= messages[0].monotonic_ns);
  const auto note = read_slot(channel.slot(1));
  REQUIRE(note);
  CHECK(note->sequence == 41);
  CHECK(note->operation == "all_reduce");
  CHECK(note->label == "gradients 3/5");
  CHECK(note->bytes == 1024);
  CHECK(note->tensor == "float32 [256]");
  CHECK(note->since_ns > 0);
  CHECK(note->active_ns >= messages[0].monotonic_ns);
  CHECK(note->waiting == 0);
  CHECK(note->busy.empty());
  CHECK(note->step == 7);
  CHECK(note->state == CollectiveState::running);
  CHECK(read_slot(channel.slot(0))->sequence == 0);
  CHECK(read_slot(channel.slot(0))->operation.empty());
}

TEST_CASE("a rank says what it is busy with, the newest first") {
  const Channel channel;
  const auto says = [&](const std::string& what) {
    const auto note = read_slot(channel.slot(1));
    return note && note->busy == what && (note->busy_ns == 0) == what.empty();
  };
  CHECK(channel.in_rank([&] {
    Control& control = Control::instance();
    if (!says("")) return false;
    control.begin_busy("evaluation");
    control.begin_busy(std::string(100, 'x'));
    if (!says(std::string(39, 'x'))) return false;
    control.end_busy();
    if (!says("evaluation")) return false;
    for (int i = 0; i < 20; ++i) control.begin_busy("deep");
    for (int i = 0; i < 20; ++i) control.end_busy();
    if (!says("evaluation")) return false;
    control.end_busy();
    control.end_busy();
    return says("");
  }) == 0);
  CHECK(read_slot(channel.slot(1))->active_ns > 0);
}

TEST_CASE("a collective begins when it is queued, and threads that wait for it are counted") {
  const Channel channel;
  CHECK(channel.in_rank([&] {
    Control& control = Control::instance();
    control.note({3, 4, CollectiveState::queued, "barrier", "a", ""});
    const auto queued = read_slot(channel.slot(1))->since_ns;
    control.note({3, 4, CollectiveState::running, "barrier", "a", ""});
    control.waiting(true);
    control.waiting(true);
    control.waiting(false);
    const auto running = read_slot(channel.slot(1));
    control.note({4, 4, CollectiveState::running, "barrier", "b", ""});
    return running->since_ns == queued && running->waiting == 1 &&
           read_slot(channel.slot(1))->since_ns > queued;
  }) == 0);
}

TEST_CASE("a rank that is stuck waits until the launcher has looked") {
  const Channel channel;
  const auto answer = [&](std::string_view bytes) {
    return send(channel.launcher_end(), bytes.data(), bytes.size(), 0) >= 0;
  };
  CHECK(channel.in_rank([&] {
    return answer("something else") && answer(control_answer) &&
           Control::instance().stuck("deadline", 12, "rank 1 did not come");
  }) == 0);
  const auto messages = channel.received();
  REQUIRE(messages.size() == 1);
  CHECK(messages[0] == ControlMessage{Kind::stuck, 12, messages[0].monotonic_ns, "deadline",
                                      "rank 1 did not come"});
}

TEST_CASE("a rank that is stuck does not wait for a launcher that is gone") {
  Channel channel;
  channel.close_launcher_end();
  CHECK(channel.in_rank([] { return !Control::instance().stuck("deadline", 1, ""); }) == 0);
}

TEST_CASE("a rank that is stuck on purpose tells nobody") {
  const Channel channel;
  CHECK(channel.in_rank([&] {
    Control::instance().expect_stuck(true);
    return !Control::instance().stuck("deadline", 12, "a check of deadlines");
  }) == 0);
  CHECK(channel.received().empty());
}

TEST_CASE("a handler's stack is a message") {
  const Channel channel;
  CHECK(channel.in_rank([] {
    void* const addresses[] = {reinterpret_cast<void*>(0x1f), reinterpret_cast<void*>(0xabc)};
    Control::instance().stack(addresses, 2);
    void* many[500] = {};
    for (void*& address : many) address = reinterpret_cast<void*>(0x7fffffffffff);
    Control::instance().stack(many, 500);
    return true;
  }) == 0);
  const auto messages = channel.received();
  REQUIRE(messages.size() == 2);
  CHECK(messages[0].kind == Kind::stack);
  CHECK(messages[0].text == "1f,abc");
  CHECK(messages[1].text.size() > 900);
  CHECK(messages[1].text.ends_with(",7fffffffffff"));
}

TEST_CASE("a signal's handler reports the death as the others do, and once") {
  const Channel channel;
  CHECK(channel.in_rank([] {
    Control::instance().death_by_signal("SIGSEGV");
    Control::instance().death("exception", "later");
    Control::instance().death_by_signal("SIGABRT");
    return true;
  }) == 0);
  const auto messages = channel.received();
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].monotonic_ns > 0);
  CHECK(messages[0] ==
        ControlMessage{Kind::death, 0, messages[0].monotonic_ns, "signal", "SIGSEGV"});
  CHECK(channel.in_rank([] {  // Longer than any signal's name: cut, not overrun.
    Control::instance().death_by_signal(std::string(500, 'x'));
    return true;
  }) == 0);
  const auto cut = channel.received();
  REQUIRE(cut.size() == 1);
  CHECK(std::string(500, 'x').starts_with(cut[0].text));
}

TEST_CASE("the slot's own variable comes before LOCAL_RANK, and a slot outside is none") {
  const Channel channel;
  CHECK(channel.in_rank([] {
    setenv("MUSTER_CONTROL_SLOT", "2", 1);
    Control::instance().step(9);
    return true;
  }) == 0);
  CHECK(read_slot(channel.slot(2))->step == 9);
  CHECK(channel.in_rank([] {
    setenv("MUSTER_CONTROL_SLOT", "3", 1);
    Control::instance().step(9);
    Control::instance().note({1, 0, CollectiveState::done, "barrier", "", ""});
    return true;
  }) == 0);
}

TEST_CASE("without a launcher, or with variables of somebody else's, every call does nothing") {
  const Channel channel;
  const auto call_all = [] {
    Control& control = Control::instance();
    control.ready();
    control.step(1);
    control.checkpoint(1);
    control.note({1, 0, CollectiveState::done, "barrier", "end", ""});
    control.death("exception", "x");
    return !control.connected();
  };
  CHECK(channel.in_rank([&] {
    unsetenv("MUSTER_CONTROL_FD");
    unsetenv("MUSTER_CONTROL_MEMORY_FD");
    return call_all();
  }) == 0);
  for (const std::string wrong : {"", "x", "-1", "99", "1", "4294967299"}) {
    INFO(wrong);
    CHECK(channel.in_rank([&] {
      setenv("MUSTER_CONTROL_FD", wrong.c_str(), 1);
      setenv("MUSTER_CONTROL_MEMORY_FD", wrong.c_str(), 1);
      return call_all();
    }) == 0);
  }
  CHECK(channel.in_rank([&] {  // The two swapped: each is a descriptor, of another kind.
    setenv("MUSTER_CONTROL_FD", std::to_string(channel.memory()).c_str(), 1);
    setenv("MUSTER_CONTROL_MEMORY_FD", std::to_string(channel.rank_end()).c_str(), 1);
    return call_all();
  }) == 0);
  CHECK(channel.received().empty());
  CHECK(read_slot(channel.slot(1))->sequence == 0);
}

TEST_CASE("a forked child of a rank does not speak for it") {
  const Channel channel;
  CHECK(channel.in_rank([] {
    Control::instance().step(1);
    const pid_t child = fork();
    if (child == 0) {
      Control::instance().step(2);
      Control::instance().note({5, 0, CollectiveState::done, "barrier", "", ""});
      Control::instance().death("exception", "of a child");
      _exit(Control::instance().connected() ? 1 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status == 0;
  }) == 0);
  CHECK(channel.received().size() == 1);
  CHECK(read_slot(channel.slot(1))->step == 1);
  CHECK(read_slot(channel.slot(1))->sequence == 0);
}

TEST_CASE("a launcher that does not read stops no rank") {
  const Channel channel;
  CHECK(channel.in_rank([] {
    for (std::uint64_t i = 1; i <= 20000; ++i) Control::instance().step(i);
    Control::instance().death("exception", "not to be read");
    return true;
  }) == 0);
  CHECK(read_slot(channel.slot(1))->step == 20000);
  CHECK(!channel.received().empty());
}

TEST_CASE("long names in a slot are cut") {
  const auto slot = std::make_unique<ControlSlot>();
  const std::string o(100, 'o'), l(100, 'l');
  write_slot(*slot, {1, 2, CollectiveState::failed, o, l, ""}, 0);
  const auto note = read_slot(*slot);
  REQUIRE(note);
  CHECK(note->operation == std::string(31, 'o'));
  CHECK(note->label == std::string(63, 'l'));
  write_slot(*slot, {2, 2, CollectiveState::done, "x", "", ""}, 0);
  CHECK(read_slot(*slot)->operation == "x");
  CHECK(read_slot(*slot)->label.empty());
}

TEST_CASE("a rank that died while it wrote leaves a slot that says nothing") {
  const auto slot = std::make_unique<ControlSlot>();
  write_slot(*slot, {1, 2, CollectiveState::done, "barrier", "end", ""}, 0);
  slot->version.fetch_add(1);
  CHECK_FALSE(read_slot(*slot));
}

TEST_CASE("a reader sees whole states only, while another thread writes") {
  const auto slot = std::make_unique<ControlSlot>();
  constexpr std::uint64_t updates = 300000;
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (std::uint64_t i = 1; i <= updates; ++i) {
      const std::string label(20 + i % 40, static_cast<char>('a' + i % 26));
      write_slot(*slot, {i, 3 * i, CollectiveState::running, label.substr(0, 10), label, ""}, 0);
    }
    done = true;
  });
  while (!done) {
    const auto note = read_slot(*slot);
    if (!note || note->sequence == 0) continue;
    const std::uint64_t n = note->sequence;
    const std::string label(20 + n % 40, static_cast<char>('a' + n % 26));
    if (note->bytes != 3 * n || note->label != label || note->operation != label.substr(0, 10)) {
      FAIL_CHECK("torn state at " << n << ": " << note->label);
      break;
    }
  }
  writer.join();
  REQUIRE(read_slot(*slot));
  CHECK(read_slot(*slot)->sequence == updates);
}

TEST_CASE("a reader in another process sees whole states only") {
  const Channel channel;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    setenv("MUSTER_CONTROL_MEMORY_FD", std::to_string(channel.memory()).c_str(), 1);
    setenv("LOCAL_RANK", "0", 1);
    for (std::uint64_t i = 1; i <= 300000; ++i) {
      const std::string label(i % 60, static_cast<char>('a' + i % 26));
      Control::instance().note({i, 5 * i, CollectiveState::queued, "all_reduce", label, ""});
    }
    _exit(0);
  }
  std::uint64_t last = 0;
  int status = 0;
  bool ended = false;
  while (!ended) {
    ended = waitpid(child, &status, WNOHANG) == child;
    const auto note = read_slot(channel.slot(0));
    if (!note) continue;
    const std::uint64_t n = note->sequence;
    const std::string label(n % 60, static_cast<char>('a' + n % 26));
    if (n != 0 && (note->bytes != 5 * n || note->label != label || n < last)) {
      FAIL_CHECK("torn state at " << n);
      break;
    }
    last = n;
  }
  if (!ended) waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(read_slot(channel.slot(0))->sequence == 300000);
}

}  // namespace muster
