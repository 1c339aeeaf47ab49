import { GatewayError } from './error.ts';
import { describe, type Log } from './log.ts';

/**
 * Logs what failed beside the requests. What the gateway can name, such as a database that is away, is a warning with its
 * code; any other error is logged with where it came from.
 */
export function logFailure(
  log: Pick<Log, 'warn' | 'error'>,
  error: unknown,
  message: string,
  fields: Readonly<Record<string, string>> = {},
): void {
  if (error instanceof GatewayError)
    log.warn({ ...fields, code: error.code, reason: error.message }, message);
  else log.error({ ...fields, error: describe(error) }, message);
}
