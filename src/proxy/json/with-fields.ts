import { fieldsOf } from '../../codecs/json/fields.ts';

/**
 * The JSON object in `body` without the fields of these names and with `added` before the others. Each field that
 * stays keeps its bytes.
 * @throws GatewayError `invalid_json`
 */
export function withFields(
  body: Buffer,
  without: readonly string[],
  added: Readonly<Record<string, unknown>>,
): Buffer[] {
  const out: Buffer[] = [
    Buffer.from(Object.keys(added).length === 0 ? '{' : JSON.stringify(added).slice(0, -1)),
  ];
  let first = Object.keys(added).length === 0;
  for (const { end, name, start } of fieldsOf(body)) {
    if (without.includes(name) || Object.hasOwn(added, name)) continue;
    if (!first) out.push(comma);
    out.push(body.subarray(start, end));
    first = false;
  }
  return [...out, close];
}

const comma = Buffer.from(',');
const close = Buffer.from('}');
