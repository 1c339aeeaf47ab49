import type { CloudEvent, EventLimits } from './event.ts';
import { decodeJsonEvent } from './json-format.ts';
import { contentModeOf } from './media-type.ts';
import { type DecodeResult, refused } from './problem.ts';

/** How an event is put into a message: attributes beside the data, or all of it in one JSON object. */
export type MessageMode = 'binary' | 'structured';

/**
 * Reads a message of a binding that has no batches: structured when its content type says so, else by `binary`.
 * @param body null when the message has no payload
 */
export function decodeMessage(
  contentType: string | null | undefined,
  body: Uint8Array | null,
  limits: EventLimits,
  binary: () => DecodeResult<CloudEvent>,
): DecodeResult<CloudEvent> {
  switch (contentModeOf(contentType)) {
    case 'binary':
      return binary();
    case 'structured':
      return decodeJsonEvent(body ?? new Uint8Array(), limits);
    case 'batched':
      return refused('unsupported_format', '', 'Only HTTP carries batches of events');
    case 'unknown-format':
      return unknownFormat();
  }
}

export function unknownFormat(): DecodeResult<never> {
  return refused(
    'unsupported_format',
    '',
    'Of the formats of CloudEvents only JSON in UTF-8 is understood: application/cloudevents+json',
  );
}

/** In most bindings nothing tells an empty payload from none: it is none. */
export const payloadOf = (bytes: Uint8Array | null): Uint8Array | null =>
  bytes === null || bytes.byteLength === 0 ? null : bytes;
