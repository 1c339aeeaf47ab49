import type { GatewayError } from '../../lib/error.ts';
import type { RequestFacts } from '../request/facts.ts';
import { redactedError } from '../upstream/redaction.ts';

/** How a stream ends that goes no further: never cleanly (docs/decisions/0004-how-a-broken-stream-ends.md). */

/** The client's format, and the secrets that must not appear. */
interface ErrorFrameContext {
  readonly facts: Pick<RequestFacts, 'codec' | 'exchange'>;
  redact(this: void, text: string): string;
}

/** The frame that sends `error` to the client, before its connection is reset. */
export function errorFrame(
  { facts: { codec, exchange }, redact }: ErrorFrameContext,
  error: GatewayError,
): Buffer | null {
  const frame = codec.stream?.encodeErrorFrame(redactedError(error, redact), exchange.id);
  return frame === undefined ? null : Buffer.from(frame);
}

/** The same after an upstream broke off; null where the format's clients do better with the reset alone. */
export function cutEnding(context: ErrorFrameContext, error: GatewayError): Buffer | null {
  return context.facts.codec.stream?.endings.cut === 'error-frame' ? errorFrame(context, error) : null;
}

/** The same after an upstream reported a failure that was translated. */
export function reportedEnding(context: ErrorFrameContext, error: GatewayError): Buffer | null {
  return context.facts.codec.stream?.endings.reported === 'error-frame' ? errorFrame(context, error) : null;
}
