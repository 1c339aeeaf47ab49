/** The types of CloudEvents that have a JSON type; URIs, timestamps and bytes (base64) are their texts. */
export type AttributeValue = string | number | boolean;

/** The context attributes of CloudEvents 1.0 and any extensions, by name. Absent is absent, never null. */
export interface EventAttributes {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly datacontenttype?: string;
  readonly dataschema?: string;
  readonly subject?: string;
  /** As it was written (RFC 3339): precision and offset stay. */
  readonly time?: string;
  readonly [extension: string]: AttributeValue | undefined;
}

/**
 * An event as everything here passes it on. `source` and `id` together identify it. The data is the producer's bytes, in the
 * format that `datacontenttype` tells; null when the event has none.
 */
export interface CloudEvent {
  readonly attributes: EventAttributes;
  readonly data: Uint8Array | null;
}

/** Bounds on what a decoder takes. */
export interface EventLimits {
  /** Of one event's attributes and data together, see `eventSize`. */
  readonly maxEventBytes: number;
  readonly maxBatchEvents: number;
}

/** CloudEvents asks every intermediary to forward events of 64 KiB. */
export const defaultLimits: EventLimits = { maxEventBytes: 1_048_576, maxBatchEvents: 1_000 };

export const requiredAttributes = ['specversion', 'id', 'source', 'type'] as const;

/** The canonical text of a value (CloudEvents 1.0, Type System). */
const attributeText = (value: AttributeValue): string => String(value);

/** Bytes of the data, and of the attributes' names and texts in UTF-8: what an event weighs in any binding, but for framing. */
export function eventSize({ attributes, data }: CloudEvent): number {
  let size = data?.byteLength ?? 0;
  for (const name in attributes) {
    const value = attributes[name];
    if (value !== undefined) size += name.length + Buffer.byteLength(attributeText(value));
  }
  return size;
}

/** Every attribute that is set, as its canonical text. */
export function attributeTexts(attributes: EventAttributes): [name: string, text: string][] {
  return Object.entries(attributes).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, attributeText(value)]],
  );
}
