import { checkedEvent, type RawAttribute } from './checked-event.ts';
import { attributeTexts, type CloudEvent, defaultLimits, type EventLimits } from './event.ts';
import { encodeJsonEvent } from './json-format.ts';
import { structuredType } from './media-type.ts';
import { decodeMessage, type MessageMode, payloadOf } from './payload.ts';
import { percentDecode, percentEncode } from './percent.ts';
import { type DecodeResult, refused } from './problem.ts';

/** The NATS protocol binding of CloudEvents 1.0, with headers (servers from 2.2 on). */

const prefix = 'ce-';

export interface NatsMessage {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly data: Uint8Array;
}

export function encodeNats(event: CloudEvent, mode: MessageMode): NatsMessage {
  if (mode === 'structured')
    return { headers: [['content-type', structuredType]], data: encodeJsonEvent(event) };
  const headers = attributeTexts(event.attributes).map(
    ([name, text]) => [`${prefix}${name}`, percentEncode(text)] as const,
  );
  return { headers, data: event.data ?? new Uint8Array() };
}

export function decodeNats(
  message: NatsMessage,
  limits: EventLimits = defaultLimits,
): DecodeResult<CloudEvent> {
  const headers = message.headers.map(([name, value]) => [name.toLowerCase(), value] as const);
  const contentType = headers.find(([name]) => name === 'content-type')?.[1];
  return decodeMessage(contentType, message.data, limits, () => {
    const raw: RawAttribute[] = [];
    for (const [header, value] of headers) {
      if (!header.startsWith(prefix)) continue;
      const text = percentDecode(value, 'utf8');
      const name = header.slice(prefix.length);
      if (text === null) return refused('invalid_value', name, 'The header is not percent-encoded UTF-8');
      raw.push([name, text]);
    }
    return checkedEvent(raw, payloadOf(message.data), limits);
  });
}
