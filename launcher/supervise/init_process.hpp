#pragma once

namespace muster::launcher {

/// Makes sure that whatever becomes a child of this process from now on belongs to the job.
///
/// Process 1 of a container inherits every orphan there, and a shell that started us by `exec` may
/// have left children of its own. Then this process forks: the child returns from here and is the
/// launcher; the parent, which never returns, passes signals on to it, reaps the others' children
/// without touching them, and ends as the launcher does. Must be called before there are threads.
/// Throws Error if it cannot fork.
void separate_from_strangers();

}  // namespace muster::launcher
