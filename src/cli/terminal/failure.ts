import { type ErrorKind, GatewayError } from '../../lib/error.ts';
import type { ExitCode } from './exit-code.ts';

/** A refusal of the command line itself: what to print and how to exit. */
export interface Failure extends Error {
  readonly exit: ExitCode;
  readonly code: string;
}

const marks = new WeakSet<object>();

/** An error that ends the command with `exit`. The message is a sentence that names the fix. */
export function failure(exit: ExitCode, code: string, message: string): Failure {
  const error = Object.assign(new Error(message), { exit, code });
  marks.add(error);
  return error;
}

/** The command line was wrong (exit 2). */
export function usageError(message: string): Failure {
  return failure(2, 'bad_usage', message);
}

export interface Report {
  exit: ExitCode;
  code: string;
  message: string;
}

const exitOfKind: Readonly<Record<ErrorKind, ExitCode>> = {
  invalid_request: 2,
  authentication: 4,
  billing: 4,
  permission: 4,
  not_found: 1,
  too_large: 1,
  rate_limit: 5,
  overloaded: 1,
  timeout: 124,
  server: 1,
};

/** What a thrown value means to the caller of the program. */
export function reportOf(error: unknown): Report {
  if (isFailure(error)) return { exit: error.exit, code: error.code, message: error.message };
  if (error instanceof GatewayError) {
    // With a cause, something around the program failed (a port in use), and not what the user typed.
    const outside = error.kind === 'invalid_request' && error.cause !== undefined;
    return { exit: outside ? 1 : exitOfKind[error.kind], code: error.code, message: error.message };
  }
  if (error instanceof Error && error.name === 'TimeoutError') {
    return { exit: 124, code: 'timed_out', message: `Timed out: ${error.message}` };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { exit: 1, code: systemCode(error) ?? 'internal_error', message };
}

function isFailure(error: unknown): error is Failure {
  return typeof error === 'object' && error !== null && marks.has(error);
}

/** `EACCES`, `ENOSPC` and the like, in lower case. */
function systemCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  return error.code.toLowerCase();
}
