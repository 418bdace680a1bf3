#include "session.hpp"

#include <muster/communicators.hpp>
#include <muster/error.hpp>

#include <mutex>
#include <utility>

namespace muster {
namespace {

std::mutex mutex;
std::weak_ptr<Session> joined;
int groups_made = 0;

/// Kept for the life of the process: rank 0's store is where every later group meets too.
const Rendezvous& rendezvous(const World& world) {
  static const Rendezvous opened = world.size > 1 ? Rendezvous::open(world) : Rendezvous();
  return opened;
}

Endpoint endpoint(const World& world) {
  Endpoint result;
  result.rank = world.rank;
  result.size = world.size;
  result.timeout = world.timeout;
  result.one_host = world.node_count == 1;
  // All ranks make groups in the same order, so they agree on the number.
  result.group = "world-" + std::to_string(++groups_made);
  result.rendezvous = rendezvous(world);
  return result;
}

}  // namespace

std::shared_ptr<Session> Session::join(const World& world, const std::string& communicator,
                                       bool debug) {
  const std::lock_guard lock(mutex);
  auto session = joined.lock();
  if (!session) {
    session.reset(new Session(world, communicator, debug));
    joined = session;
  } else if (session->asked_ != communicator || session->timeout_ != world.timeout) {
    throw ConfigError("an Accelerator of this process has joined the ranks with communicator " +
                      session->asked_ + " and a timeout of " +
                      std::to_string(session->timeout_.count()) + " ms; another one asks for " +
                      communicator + " and " + std::to_string(world.timeout.count()) +
                      " ms: give both the same, or end the first with end_training()");
  }
  return session;
}

Session::Session(const World& world, std::string communicator, bool debug)
    : asked_(std::move(communicator)), timeout_(world.timeout) {
  // One rank communicates with nobody, whatever was asked for, so that a program does the same
  // alone.
  auto where = endpoint(world);
  where.check_collectives = debug;
  auto connection = connect(world.size == 1 ? "self" : asked_, where);
  why_ = std::move(connection.why);
  mesh_ = std::make_shared<Mesh>(Mesh::data_parallel(std::move(connection.communicator)));
}

}  // namespace muster
