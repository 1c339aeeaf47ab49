import { asBuffer } from './base64.ts';
import { checkedEvent, type RawAttribute } from './checked-event.ts';
import { attributeTexts, type CloudEvent, defaultLimits, type EventLimits } from './event.ts';
import { decodeJsonBatch, decodeJsonEvent, encodeJsonBatch, encodeJsonEvent } from './json-format.ts';
import { batchedType, contentModeOf, structuredType } from './media-type.ts';
import { type MessageMode, payloadOf, unknownFormat } from './payload.ts';
import { percentDecode, percentEncode } from './percent.ts';
import { type DecodeResult, decoded, type EventProblem } from './problem.ts';

/** The HTTP protocol binding of CloudEvents 1.0: the same for requests and responses. */

const prefix = 'ce-';

export interface HttpMessage {
  /** Names in any case. A header that comes twice stands twice. */
  readonly headers: Iterable<readonly [name: string, value: string]>;
  readonly body: Uint8Array | null;
}

export interface EncodedHttp {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

export interface HttpEvents {
  readonly mode: MessageMode | 'batched';
  readonly events: readonly CloudEvent[];
}

/** Reads the event, or the batch of events, that a message carries. */
export function decodeHttp(
  message: HttpMessage,
  limits: EventLimits = defaultLimits,
): DecodeResult<HttpEvents> {
  const headers = [...message.headers].map(([name, value]) => [name.toLowerCase(), value] as const);
  const contentType = headers.find(([name]) => name === 'content-type')?.[1] ?? null;
  const body = message.body ?? new Uint8Array();
  switch (contentModeOf(contentType)) {
    case 'binary':
      return one('binary', decodeBinary(headers, contentType, payloadOf(body), limits));
    case 'structured':
      return one('structured', decodeJsonEvent(body, limits));
    case 'batched': {
      const batch = decodeJsonBatch(body, limits);
      return batch.ok ? decoded({ mode: 'batched', events: batch.value }) : batch;
    }
    case 'unknown-format':
      return unknownFormat();
  }
}

function one(mode: MessageMode, event: DecodeResult<CloudEvent>): DecodeResult<HttpEvents> {
  return event.ok ? decoded({ mode, events: [event.value] }) : event;
}

function decodeBinary(
  headers: readonly (readonly [name: string, value: string])[],
  contentType: string | null,
  data: Uint8Array | null,
  limits: EventLimits,
): DecodeResult<CloudEvent> {
  const raw: RawAttribute[] = [['datacontenttype', contentType]];
  const problems: EventProblem[] = [];
  for (const [header, value] of headers) {
    if (!header.startsWith(prefix)) continue;
    const name = header.slice(prefix.length);
    const text = percentDecode(value, 'latin1');
    if (name === 'datacontenttype')
      problems.push({
        code: 'invalid_name',
        path: name,
        message: 'The content type of the data is the header Content-Type',
      });
    else if (text === null)
      problems.push({
        code: 'invalid_value',
        path: name,
        message: 'The header is not percent-encoded UTF-8',
      });
    else raw.push([name, text]);
  }
  const event = checkedEvent(raw, data, limits);
  if (problems.length === 0) return event;
  const refusedNames = new Set(problems.map(({ path }) => path));
  // What could not be read is not missing too.
  const others = event.ok ? [] : event.problems.filter(({ path }) => !refusedNames.has(path));
  return { ok: false, problems: [...problems, ...others] };
}

/** Puts one event into a message. In binary mode its body is the data itself, not a copy. */
export function encodeHttp(event: CloudEvent, mode: MessageMode): EncodedHttp {
  if (mode === 'structured')
    return { headers: { 'content-type': structuredType }, body: encodeJsonEvent(event) };
  const headers = attributeTexts(event.attributes).map(([name, text]) =>
    name === 'datacontenttype' ? ['content-type', text] : [`${prefix}${name}`, percentEncode(text)],
  );
  return { headers: Object.fromEntries(headers), body: event.data === null ? null : asBuffer(event.data) };
}

/** Puts events into one message, for a receiver that asked for batches. */
export function encodeHttpBatch(events: readonly CloudEvent[]): EncodedHttp {
  return { headers: { 'content-type': batchedType }, body: encodeJsonBatch(events) };
}
