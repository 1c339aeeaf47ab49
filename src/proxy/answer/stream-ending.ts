import type { GatewayError } from '../../lib/error.ts';
import type { Call } from '../dispatch/call.ts';
import { redactedError } from '../upstream/redaction.ts';

/** How a stream ends that goes no further: never cleanly (docs/decisions/0004-how-a-broken-stream-ends.md). */

/** The frame that tells `error` to the caller, before its connection is reset. */
export function errorFrame({ codec, exchange, redact }: Call, error: GatewayError): Buffer | null {
  const frame = codec.stream?.encodeErrorFrame(redactedError(error, redact), exchange.id);
  return frame === undefined ? null : Buffer.from(frame);
}

/** The same after an upstream broke off; null where the format's clients do better with the reset alone. */
export function cutEnding(call: Call, error: GatewayError): Buffer | null {
  return call.codec.stream?.endings.cut === 'error-frame' ? errorFrame(call, error) : null;
}

/** The same after an upstream reported a failure that was translated. */
export function reportedEnding(call: Call, error: GatewayError): Buffer | null {
  return call.codec.stream?.endings.reported === 'error-frame' ? errorFrame(call, error) : null;
}
