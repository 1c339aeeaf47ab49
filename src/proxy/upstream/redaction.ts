import { secretsOf } from '../../connections/accounts/account.ts';
import type { AccessTokens } from '../../connections/credentials/access-tokens.ts';
import type { OpenConnection } from '../../connections/schema.ts';
import { GatewayError } from '../../lib/error.ts';
import { withoutSecrets } from '../../lib/secrets/secrets.ts';
import type { Failure } from '../request/failure.ts';

/** Takes out of a text what a connection proves itself with to its upstream: servers quote it in their errors. */
export function redactSecrets(
  { tokens }: { tokens: Pick<AccessTokens, 'issued'> },
  connection: OpenConnection,
  text: string,
): string {
  return withoutSecrets(text, [...secretsOf(connection), ...tokens.issued(connection)]);
}

/** The failure as the client, the ledger and the trace may have it. */
export function redactedFailure(failure: Failure, redact: (text: string) => string): Failure {
  const { answer, error } = failure;
  const clean = redactedError(error, redact);
  if (answer === undefined) return clean === error ? failure : { ...failure, error: clean };
  return { ...failure, error: clean, answer: { ...answer, errorText: redact(answer.errorText) } };
}

/** The error with its message redacted. */
export function redactedError(error: GatewayError, redact: (text: string) => string): GatewayError {
  const message = redact(error.message);
  if (message === error.message) return error;
  const { code, headers, param, retryAfter, status } = error;
  return new GatewayError(code, message, {
    status,
    headers,
    cause: error.cause,
    ...(param === null ? {} : { param }),
    ...(retryAfter === null ? {} : { retryAfter }),
  });
}
