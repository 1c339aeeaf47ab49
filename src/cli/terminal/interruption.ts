import { failure } from './failure.ts';

/**
 * Does work that ends when the process is told to: by Ctrl+C, or by SIGTERM. A second signal ends the process at once.
 * @param work ends by itself when the signal is aborted, and removes what it has begun
 * @throws what `work` throws; the signal's reason is a failure with exit 1
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stop = () => {
    ignore();
    controller.abort(failure(1, 'interrupted', 'Interrupted: nothing was made'));
  };
  const ignore = () => {
    process.off('SIGTERM', stop);
    process.off('SIGINT', stop);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  try {
    return await work(controller.signal);
  } finally {
    ignore();
  }
}
