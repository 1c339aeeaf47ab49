import { isUtf8 } from 'node:buffer';
import { elementsOf, fieldsOf } from '../../codecs/json/fields.ts';
import { asBuffer, base64Of, bytesOfBase64 } from './base64.ts';
import { checkedEvent, type RawAttribute } from './checked-event.ts';
import type { CloudEvent, EventLimits } from './event.ts';
import { isJson, isText, isUtf8Charset, parseMediaType } from './media-type.ts';
import { type DecodeResult, decoded, type EventProblem, refused } from './problem.ts';

/**
 * The JSON event format of CloudEvents 1.0. JSON data is neither written anew nor copied: it is the stretch of the message
 * that holds it, so that no number is rounded.
 */

const implied = 'application/json';

/** @param body one event as a JSON object */
export function decodeJsonEvent(body: Uint8Array, limits: EventLimits): DecodeResult<CloudEvent> {
  if (!isUtf8(body)) return refused('invalid_json', '', 'The event is not valid UTF-8');
  const members = membersIn(asBuffer(body));
  if (members === null) return refused('invalid_json', '', 'The event is not a valid JSON object');
  const raw: RawAttribute[] = [];
  const payload: Payload = { json: null, base64: null };
  for (const { name, value, bytes } of members) {
    if (name === 'data') {
      if (payload.json !== null) return refused('duplicate_attribute', name, 'The event has data twice');
      payload.json = { value, bytes };
    } else if (name === 'data_base64') {
      if (payload.base64 !== null) return refused('duplicate_attribute', name, 'The event has data twice');
      if (value !== null) payload.base64 = value;
    } else if (typeof value === 'number' && !/^-?\d+$/.test(bytes.toString('latin1'))) {
      return refused('invalid_value', name, 'The attribute must be an integer of 32 bits, or a string');
    } else raw.push([name, value]);
  }
  const data = dataOf(payload, raw);
  return data.ok ? checkedEvent(raw, data.value, limits) : data;
}

interface JsonMember {
  name: string;
  value: unknown;
  /** The value as it is written. */
  bytes: Buffer;
}

interface Payload {
  json: { value: unknown; bytes: Buffer } | null;
  base64: unknown;
}

/** The members of a JSON object, each parsed; null when it is none. */
function membersIn(body: Buffer): JsonMember[] | null {
  try {
    return [...fieldsOf(body)].map(({ name, value, end }) => {
      const bytes = body.subarray(value, end);
      return { name, bytes, value: JSON.parse(bytes.toString()) };
    });
  } catch {
    return null;
  }
}

/** The data's bytes. Adds the content type that JSON data has when the event names none. */
function dataOf({ json, base64 }: Payload, raw: RawAttribute[]): DecodeResult<Uint8Array | null> {
  if (json !== null && base64 !== null)
    return refused('invalid_data', 'data', 'The event has both data and data_base64');
  if (base64 !== null) {
    const bytes = typeof base64 === 'string' ? bytesOfBase64(base64) : null;
    if (bytes === null)
      return refused('invalid_data', 'data_base64', 'The data is not base64 (RFC 4648) with padding');
    return decoded(bytes);
  }
  if (json === null) return decoded(null);
  const named = raw.find(([name, value]) => name === 'datacontenttype' && value !== null)?.[1];
  if (named === undefined) raw.push(['datacontenttype', implied]);
  const type = typeof named === 'string' ? parseMediaType(named) : parseMediaType(implied);
  // An invalid type is told with the attributes.
  if (type === null) return decoded(json.bytes);
  if (!isUtf8Charset(type.charset))
    return refused('invalid_data', 'data', 'Data in another encoding than UTF-8 belongs into data_base64');
  if (isJson(type)) return decoded(json.bytes);
  if (json.value === null) return decoded(null);
  if (typeof json.value !== 'string' || !json.value.isWellFormed())
    return refused('invalid_data', 'data', 'Data that is not JSON must be a string, or stand in data_base64');
  return decoded(Buffer.from(json.value));
}

/** @param body a list of events as JSON; problems of all of them are told, with their places */
export function decodeJsonBatch(body: Uint8Array, limits: EventLimits): DecodeResult<CloudEvent[]> {
  if (!isUtf8(body)) return refused('invalid_json', '', 'The batch is not valid UTF-8');
  const list = asBuffer(body);
  const events: CloudEvent[] = [];
  const problems: EventProblem[] = [];
  let count = 0;
  try {
    for (const { start, end } of elementsOf(list)) {
      if (count === limits.maxBatchEvents)
        return refused('too_large', '', `The batch has more than ${limits.maxBatchEvents} events`);
      const one = decodeJsonEvent(list.subarray(start, end), limits);
      if (one.ok) events.push(one.value);
      else
        for (const problem of one.problems)
          problems.push({ ...problem, path: `[${count}]${problem.path === '' ? '' : `.${problem.path}`}` });
      count += 1;
    }
  } catch {
    return refused('invalid_json', '', 'The batch is not a valid JSON list');
  }
  return problems.length > 0 ? { ok: false, problems } : decoded(events);
}

/**
 * An event as a JSON object. Data goes as JSON or as text where its content type says so and its bytes are that, and as
 * base64 otherwise, so that every event can be written. White space around JSON data is no part of it.
 */
export function encodeJsonEvent({ attributes, data }: CloudEvent): Buffer {
  const head = JSON.stringify(attributes);
  if (data === null) return Buffer.from(head);
  const open = head.slice(0, -1);
  const bytes = asBuffer(data);
  const type = parseMediaType(attributes.datacontenttype ?? '');
  if (type !== null && isJson(type) && isUtf8Charset(type.charset) && isJsonText(bytes))
    return Buffer.concat([Buffer.from(`${open},"data":`), bytes, Buffer.from('}')]);
  if (type !== null && isText(type) && isUtf8(bytes))
    return Buffer.from(`${open},"data":${JSON.stringify(bytes.toString())}}`);
  return Buffer.from(`${open},"data_base64":"${base64Of(bytes)}"}`);
}

export function encodeJsonBatch(events: readonly CloudEvent[]): Buffer {
  const pieces = events.flatMap((event, index) => [
    Buffer.from(index === 0 ? '[' : ','),
    encodeJsonEvent(event),
  ]);
  return Buffer.concat([...pieces, Buffer.from(events.length === 0 ? '[]' : ']')]);
}

function isJsonText(bytes: Buffer): boolean {
  if (!isUtf8(bytes)) return false;
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}
