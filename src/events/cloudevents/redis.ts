import { isUtf8 } from 'node:buffer';
import { asBuffer } from './base64.ts';
import { checkedEvent, type RawAttribute } from './checked-event.ts';
import { attributeTexts, type CloudEvent, defaultLimits, type EventLimits } from './event.ts';
import { encodeJsonEvent } from './json-format.ts';
import { structuredType } from './media-type.ts';
import { decodeMessage, type MessageMode } from './payload.ts';
import { type DecodeResult, refused } from './problem.ts';

/**
 * Events as entries of Redis streams. CloudEvents has no such binding: an entry has the fields `ce_<attribute>` and `data`, or
 * in structured mode `content-type` and `event`.
 */

const prefix = 'ce_';

/** The fields of one entry. */
export type RedisFields = Readonly<Record<string, Uint8Array>>;

export function encodeRedis(event: CloudEvent, mode: MessageMode): Record<string, Buffer> {
  if (mode === 'structured')
    return { 'content-type': Buffer.from(structuredType), event: encodeJsonEvent(event) };
  const fields: Record<string, Buffer> = {};
  for (const [name, text] of attributeTexts(event.attributes)) fields[`${prefix}${name}`] = Buffer.from(text);
  if (event.data !== null) fields['data'] = asBuffer(event.data);
  return fields;
}

export function decodeRedis(
  fields: RedisFields,
  limits: EventLimits = defaultLimits,
): DecodeResult<CloudEvent> {
  const contentType = fields['content-type'];
  const type = contentType === undefined ? null : asBuffer(contentType).toString('latin1');
  return decodeMessage(type, fields['event'] ?? null, limits, () => {
    const raw: RawAttribute[] = [];
    for (const [field, value] of Object.entries(fields)) {
      if (!field.startsWith(prefix)) continue;
      const name = field.slice(prefix.length);
      if (!isUtf8(value)) return refused('invalid_value', name, 'The field is not valid UTF-8');
      raw.push([name, asBuffer(value).toString()]);
    }
    return checkedEvent(raw, fields['data'] ?? null, limits);
  });
}
