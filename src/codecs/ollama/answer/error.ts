import type { GatewayError } from '../../../lib/error.ts';
import type { Frame } from '../../../lib/streams/sse.ts';
import type { ReportedError } from '../../codec.ts';
import { parseObject } from '../../json/values.ts';
import { readVendorError } from '../../openai-shared/error.ts';
import type { OllamaAnswer } from '../wire.ts';
import { encodeLine } from './json-lines.ts';

/** The body of an error, and the line of one in a stream: nothing but its text ("Errors"). */
export function encodeError({ message }: GatewayError): Record<string, unknown> {
  return { error: message };
}

export function encodeErrorFrame(error: GatewayError): string {
  return encodeLine(encodeError(error));
}

/** Whether a line reports a failure. The vendor's clients take any line that has the field for one. */
export function isErrorLine({ error }: OllamaAnswer): boolean {
  return error !== undefined && error !== null && error !== false;
}

/** The failure in a line. It names no cause, so that its status is that of any failed upstream, 502, unless one stands beside it. */
export function readError({ data }: Pick<Frame, 'data'>): ReportedError {
  return readVendorError(parseObject(data) ?? data);
}
