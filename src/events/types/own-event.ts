import { newUuid } from '../../lib/id.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import { type EventData, type EventName, schemaId, typeOf } from './catalogue.ts';

/** What happened, as whoever knows of it tells it. */
export interface Occurrence<Name extends EventName> {
  readonly subject: string | null;
  /** The subject when absent. */
  readonly partitionKey?: string | null;
  /** Of the request that it came of, as its client sent it. */
  readonly traceparent?: string | null;
  /** Attributes to filter by, beside those that every event has. */
  readonly extensions?: Readonly<Record<string, string | number>>;
  readonly data: EventData<Name>;
}

/** Longer texts are cut: names come from clients, and an event is small. */
const LONGEST_TEXT = 512;
const MOST_DATA_BYTES = 16_384;
/** version-traceid-parentid-flags (W3C Trace Context). */
const traceparentForm = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * An event of the gateway itself, of at most 16 KiB of data.
 * @throws Error for data that stays larger when its texts are cut
 */
export function buildEvent<Name extends EventName>(
  area: string,
  name: Name,
  { data, extensions, partitionKey, subject, traceparent }: Occurrence<Name>,
  { at, instance }: { at: number; instance: string },
): CloudEvent {
  const about = attributeText(subject);
  const key = partitionKey === undefined ? about : attributeText(partitionKey);
  const attributes: CloudEvent['attributes'] = {
    ...extensions,
    specversion: '1.0',
    id: newUuid(at),
    source: `/gateway/${instance}/${area}`,
    type: typeOf(name),
    time: new Date(at).toISOString(),
    datacontenttype: 'application/json',
    dataschema: schemaId(name),
    ...(about === '' ? {} : { subject: about }),
    ...(key === '' ? {} : { partitionkey: key }),
    ...(traceparent && traceparentForm.test(traceparent) ? { traceparent } : {}),
  };
  const bytes = Buffer.from(jsonOf(data));
  if (bytes.length > MOST_DATA_BYTES) throw new Error(`The data of ${name} has ${bytes.length} bytes`);
  return { attributes, data: bytes };
}

/** A text as an attribute may have it: short, and without what the type system of CloudEvents forbids. */
function attributeText(text: string | null): string {
  return (text ?? '')
    .slice(0, LONGEST_TEXT)
    .toWellFormed()
    .replace(/[\u0000-\u001f\u007f-\u009f]/g, '');
}

function jsonOf(data: object): string {
  // There is an event for every request: a function that is called for every value takes as long as all the rest.
  return hasLongText(data) ? JSON.stringify(data, (_, value) => shortened(value)) : JSON.stringify(data);
}

function hasLongText(value: unknown): boolean {
  if (typeof value === 'string') return value.length > LONGEST_TEXT;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasLongText);
}

function shortened(value: unknown): unknown {
  return typeof value === 'string' && value.length > LONGEST_TEXT
    ? `${value.slice(0, LONGEST_TEXT - 1)}…`
    : value;
}

/** The name of this machine as it may stand in a `source`. */
export function instanceName(hostname: string): string {
  const name = hostname.toLowerCase().replace(/[^a-z0-9._-]+/g, '-');
  return name === '' ? 'gateway' : name.slice(0, 63);
}
