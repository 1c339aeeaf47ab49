import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import type { StreamCodec, StreamFacts } from '../../../src/codecs/codec.ts';
import { codecOf, codecs } from '../../../src/codecs/index.ts';
import type { WireFormat } from '../../../src/codecs/wire-format.ts';
import type { Frame } from '../../../src/lib/streams/sse.ts';

export function streamOf(format: WireFormat): StreamCodec {
  const { stream } = codecOf(format);
  assert.ok(stream !== null);
  return stream;
}

/** The formats that have streams. */
export const streaming = codecs.filter((codec) => codec.stream !== null).map((codec) => codec.format);

/** The recorded event streams of every format. */
export const recorded = streaming.flatMap((format) => {
  const folder = new URL(`../../../src/codecs/${format}/fixtures/`, import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith('.sse'));
  return names.map((name) => ({ format, name, bytes: readFileSync(new URL(name, folder)) }));
});

/** The bytes of a recorded stream. */
export function recordedAs(format: WireFormat, name: string): Buffer {
  const found = recorded.find((entry) => entry.format === format && entry.name === name);
  assert.ok(found !== undefined, `${format}/${name}`);
  return found.bytes;
}

export const frame = (data: unknown, event = ''): Frame => ({
  event,
  data: typeof data === 'string' ? data : JSON.stringify(data),
});

/** What is read of a stream of which all is known. */
export function factsOf(format: WireFormat, text: string | Buffer): StreamFacts {
  return streamOf(format).readStream(Buffer.from(text), Buffer.from(text));
}

/** Data as it stands on the wire. */
export const record = (data: unknown) =>
  `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
export const named = (data: { type: string }) => `event: ${data.type}\n${record(data)}`;

/** A chunk of a chat stream. */
export const choice = (delta: unknown, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});
