import { isUtf8 } from 'node:buffer';
import { asBuffer } from './base64.ts';
import { checkedEvent, type RawAttribute } from './checked-event.ts';
import { attributeTexts, type CloudEvent, defaultLimits, type EventLimits } from './event.ts';
import { encodeJsonEvent } from './json-format.ts';
import { structuredType } from './media-type.ts';
import { decodeMessage, type MessageMode } from './payload.ts';
import { type DecodeResult, refused } from './problem.ts';

/** The Kafka protocol binding of CloudEvents 1.0. */

const prefix = 'ce_';

/** A record, as Kafka's clients for Node.js take and give it. */
export interface KafkaRecord {
  readonly key: Uint8Array | null;
  /** Null when the event has no data: on a compacted topic, a tombstone. */
  readonly value: Uint8Array | null;
  readonly headers: Readonly<Record<string, KafkaHeader | undefined>>;
}

type KafkaHeader = Uint8Array | string | readonly (Uint8Array | string)[];

/** The key that the extension Partitioning asks for; null when the event does not have it. */
export function partitionKey({ attributes }: CloudEvent): string | null {
  const { partitionkey } = attributes;
  return partitionkey === undefined ? null : String(partitionkey);
}

/** @param keyOf which key the record gets; none by default */
export function encodeKafka(
  event: CloudEvent,
  mode: MessageMode,
  keyOf: (event: CloudEvent) => string | null = () => null,
): KafkaRecord & { headers: Record<string, Buffer> } {
  const text = keyOf(event);
  const key = text === null ? null : Buffer.from(text);
  if (mode === 'structured')
    return { key, value: encodeJsonEvent(event), headers: { 'content-type': Buffer.from(structuredType) } };
  const headers = attributeTexts(event.attributes).map(([name, value]) => [
    name === 'datacontenttype' ? 'content-type' : `${prefix}${name}`,
    Buffer.from(value),
  ]);
  return { key, value: event.data, headers: Object.fromEntries(headers) };
}

export function decodeKafka(
  record: KafkaRecord,
  limits: EventLimits = defaultLimits,
): DecodeResult<CloudEvent> {
  const headers: [name: string, text: string][] = [];
  for (const [name, value] of Object.entries(record.headers))
    for (const header of [value ?? []].flat()) {
      const text = textOf(header);
      if (text === null) return refused('invalid_value', name, 'The header is not valid UTF-8');
      headers.push([name, text]);
    }
  const contentType = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  return decodeMessage(contentType, record.value, limits, () => {
    const raw: RawAttribute[] = [['datacontenttype', contentType]];
    for (const [name, text] of headers) {
      // Some producers write the content type in both places.
      const repeated = name === `${prefix}datacontenttype` && text === contentType;
      if (name.startsWith(prefix) && !repeated) raw.push([name.slice(prefix.length), text]);
    }
    return checkedEvent(raw, record.value, limits);
  });
}

function textOf(header: Uint8Array | string): string | null {
  if (typeof header === 'string') return header;
  return isUtf8(header) ? asBuffer(header).toString() : null;
}
