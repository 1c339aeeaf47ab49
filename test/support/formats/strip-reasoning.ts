import { stripEncryptedReasoning as stripBytes } from '../../../src/codecs/encrypted-reasoning/strip.ts';
import type { JsonObject } from '../../../src/codecs/json/values.ts';
import type { WireFormat } from '../../../src/codecs/wire-format.ts';

/** `stripEncryptedReasoning` of a request as a value. */
export function stripEncryptedReasoning(
  format: WireFormat,
  request: JsonObject,
  message: string,
): { request: JsonObject; name: string } | null {
  const bytes = Buffer.from(JSON.stringify(request));
  const without = stripBytes({ format, model: 'm' }, bytes, message);
  return without === null ? null : { ...without, request: JSON.parse(without.request.toString()) };
}
