import { codecOf } from '../index.ts';
import type { WireFormat } from '../wire-format.ts';

/**
 * The request without what its vendor encrypted and refused, and the name of that.
 * @param message the vendor's error
 * @returns null when the error is about something else, or the request holds nothing encrypted
 * @throws GatewayError `invalid_json`
 */
export function stripEncryptedReasoning(
  { format, model }: { format: WireFormat; model: string },
  request: Buffer,
  message: string,
): { request: Buffer; name: string } | null {
  for (const { name, refused, strip } of codecOf(format).history?.refusals ?? []) {
    const without = refused.test(message) ? strip(request, { model, strips: () => true }) : request;
    if (without !== request) return { request: without, name };
  }
  return null;
}
