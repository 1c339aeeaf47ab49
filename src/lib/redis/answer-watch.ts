/** Sees that nothing is answered on a connection, however much is sent: its socket is not idle then, and has no timeout. */
export interface AnswerWatch {
  /** Call it before something is sent. @returns false when the connection has answered nothing for too long: give it up */
  maySend(): boolean;
  /** Call it for each answer, also for an error, and for a new connection. */
  answered(): void;
}

/** @param silenceMs how long an answer may take, in milliseconds */
export function createAnswerWatch(silenceMs: number, now = (): number => performance.now()): AnswerWatch {
  /** When the first thing was sent that is not answered; null where nothing is. */
  let unansweredSince: number | null = null;
  return {
    maySend() {
      unansweredSince ??= now();
      return now() - unansweredSince <= silenceMs;
    },
    answered() {
      unansweredSince = null;
    },
  };
}
