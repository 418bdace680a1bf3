#pragma once
// c10d's header includes this one and uses nothing of it.
