import type { ChildProcess } from 'node:child_process';

/**
 * Sends a signal to a child process, if there is one. A program that could not be started has no process, and Node.js would then send
 * the signal to whatever number its memory holds: `kill` of a failed `spawn` was seen to end the process group of its parent.
 * @returns whether the signal was sent
 */
export function signalChild(child: Pick<ChildProcess, 'kill' | 'pid'>, signal: NodeJS.Signals): boolean {
  return child.pid !== undefined && child.kill(signal);
}
