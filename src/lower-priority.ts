import { constants, setPriority } from 'node:os'

/** Requests, the engine and sign-ins come before the caller: on Linux the thread, else the process. */
export function lowerPriority() {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // A sandbox may refuse it, such as a seccomp filter. The work is done all the same.
  }
}
