// fork_exec COUNT PROGRAM: the least that a launcher can do: fork and exec COUNT times, then wait.

#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char** words) {
  const int wanted = count == 3 ? std::atoi(words[1]) : 0;
  if (wanted < 1) return 2;
  char* const arguments[] = {words[2], nullptr};
  for (int at = 0; at < wanted; ++at) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::execv(words[2], arguments);
      ::_exit(127);
    }
    if (pid < 0) return 1;
  }
  int failed = 0, status = 0;
  while (::wait(&status) > 0) failed += status != 0 ? 1 : 0;
  return failed == 0 ? 0 : 1;
}
