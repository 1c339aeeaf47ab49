import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codecs } from '../../../src/codecs/index.ts';
import { isObject, type JsonObject, parseObject } from '../../../src/codecs/json/values.ts';
import type { StreamPart } from '../../../src/codecs/model/stream-part.ts';
import type { WireFormat } from '../../../src/codecs/wire-format.ts';
import type { Target } from '../../../src/combos/routing/resolve.ts';
import { GatewayError } from '../../../src/lib/error.ts';
import { ownProviders } from '../../../src/providers/index.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import { conversationCodec, translateRequest } from '../../../src/proxy/translate/request.ts';
import { type Asked, askedWith, partsOf, writtenFor } from './answer-chain.ts';
import { type Chance, chanceOf, damagedBytes, mutated, oneOf } from './mutate.ts';

const root = join(import.meta.dirname, '../../..');
/** Tools that some recorded answers call. */
const functions = ['read_file', 'meter', 'exec', 'web.search'];

/** The formats that take part in translation. */
export const formats: readonly WireFormat[] = codecs.flatMap(({ conversation, format }) =>
  conversation === null ? [] : [format],
);

/** One damaged input. Throws when the code under test breaks its word. */
export interface Fuzz {
  /** @returns what became of it, to be counted */
  run(seed: number): string;
  /** The input that `seed` makes, for a report. */
  input(seed: number): string;
}

/** Damaged requests of a format, each translated for some provider of some format: only a GatewayError may come out. */
export function requestFuzz(from: WireFormat): Fuzz {
  const corpus = requestsOf(from);
  const spare = formats.flatMap(requestsOf);
  const targets = formats.filter((to) => to !== from).flatMap(targetsOf);
  const made = (seed: number) => {
    const chance = chanceOf(seed);
    assert.ok(corpus.length > 0 && targets.length > 0, `no ${from} requests to damage, or none to ask`);
    return { target: oneOf(chance, targets), text: mutated(oneOf(chance, corpus), spare, chance) };
  };
  const inPath = conversationCodec(from).pathOf !== null;
  return {
    input: (seed) => made(seed).text,
    run(seed) {
      const { target, text } = made(seed);
      const named = inPath ? { model: 'asked/model', stream: seed % 2 === 0, array: false } : null;
      try {
        const { body, dropped } = translateRequest({ body: [Buffer.from(text)], named, target }, from);
        assert.ok(isObject(JSON.parse(Buffer.concat(body).toString())));
        assert.ok(dropped.every((name) => typeof name === 'string'));
        return 'translated';
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        assert.equal(error.status, 400, error.message);
        assert.ok(error.code === 'invalid_json' || error.param !== null, `without param: ${error.message}`);
        return error.code;
      }
    },
  };
}

/** Request bodies in a format: written by hand, and translated from those of the others. */
function requestsOf(format: WireFormat): unknown[] {
  const written = globSync(`test/translation/requests/*.${format}.json`, { cwd: root });
  const translated = globSync(`test/translation/requests/*.golden/${format}.json`, { cwd: root });
  const read = (path: string) => parseObject(readFileSync(join(root, path), 'utf8')) ?? {};
  return [...written.sort().map(read), ...translated.sort().flatMap((path) => read(path)['body'] ?? [])];
}

function targetsOf(format: WireFormat): Target[] {
  const connection = { id: 'c', name: 'fuzz' } as Target['connection'];
  return ownProviders
    .filter((provider: Provider) => provider.formats[format] !== undefined)
    .map((provider) => ({ connection, provider, model: 'target-model', format }));
}

/** Damaged answers of a format, whole and streamed: nothing may be thrown, and no answer may end twice or half. */
export function answerFuzz(from: WireFormat): Fuzz {
  const { streams, wholes } = answersOf(from);
  const made = (seed: number) => {
    const chance = chanceOf(seed);
    const to = oneOf(chance, formats);
    const whole = wholes.length > 0 && chance(4) === 0;
    const text = whole ? mutated(oneOf(chance, wholes), wholes, chance) : null;
    return { to, text, bytes: text ?? damagedStream(oneOf(chance, streams), chance) };
  };
  return {
    input: (seed) => made(seed).bytes.toString(),
    run(seed) {
      const { bytes, text, to } = made(seed);
      try {
        if (text === null) return readStream(from, Buffer.from(bytes), to);
        return readWhole(from, text, to);
      } catch (error) {
        // The proxy takes it for what it is (`attempt.ts`): JSON deeper than the stack.
        if (error instanceof RangeError && bytes.includes('['.repeat(1_000))) return 'too deep';
        throw error;
      }
    },
  };
}

/** A recorded stream, in one piece and in records. */
interface Recorded {
  bytes: Buffer;
  records: readonly string[];
  /** The JSON of those that have any. */
  values: readonly JsonObject[];
}

function answersOf(format: WireFormat): { streams: Recorded[]; wholes: JsonObject[] } {
  const folder = join(root, 'src/codecs', format, 'fixtures');
  const read = (pattern: string) =>
    globSync(pattern, { cwd: folder })
      .sort()
      .map((name) => readFileSync(join(folder, name)));
  const objectsIn = (text: string) => {
    const value = parseObject(text);
    return value === null ? [] : [value];
  };
  const end = conversationCodec(format).stream.framing === 'sse' ? /(?<=\n\r?\n)/ : /(?<=\n)/;
  const streams = read('*.{sse,ndjson}').map((bytes) => {
    const records = bytes.toString().split(end);
    return { bytes, records, values: records.flatMap((record) => objectsIn(dataOf(record))) };
  });
  assert.ok(streams.length > 0, `${folder} holds no streams to damage`);
  return { streams, wholes: read('*.json').flatMap((bytes) => objectsIn(bytes.toString())) };
}

/** A stream with records lost, repeated, moved or changed inside, or with its bytes damaged. */
function damagedStream({ bytes, records, values }: Recorded, chance: Chance): Buffer {
  if (chance(3) === 0) return damagedBytes(bytes, chance);
  const list = [...records];
  const times = 1 + chance(3);
  for (let turn = 0; turn < times && list.length > 0; turn += 1) {
    const at = chance(list.length);
    const record = list[at] ?? '';
    const kind = chance(8);
    if (kind === 0) list.splice(at, 1);
    else if (kind === 1) list.splice(chance(list.length), 0, record);
    else if (kind === 2) list.splice(chance(list.length), 0, ...list.splice(at, 1));
    else list[at] = damagedRecord(record, values, chance);
  }
  return Buffer.from(list.join(''));
}

/** A record that is longer was nested too deeply to be damaged again. */
const MOST_RECORD = 20_000;

function damagedRecord(record: string, values: readonly JsonObject[], chance: Chance): string {
  const data = record.length > MOST_RECORD ? '' : dataOf(record);
  const value = parseObject(data);
  return value === null ? record : record.replace(data, () => mutated(value, values, chance));
}

/** The JSON in a record of either framing. */
function dataOf(record: string): string {
  return /^(?:data: ?)?(\{.*\})\s*$/m.exec(record)?.[1] ?? '';
}

function readWhole(format: WireFormat, text: string, to: WireFormat): string {
  const { readUsage, responseTextBytes, stream } = conversationCodec(format);
  const body = Buffer.from(text);
  for (const count of Object.values(readUsage(body) ?? {})) assert.ok(Number.isInteger(count) && count >= 0);
  assert.ok(responseTextBytes(body) >= 0);
  const answer = parseObject(text);
  return answer === null ? 'no object' : readStream(format, Buffer.from(stream.encodeFramesOf(answer)), to);
}

function readFacts(format: WireFormat, bytes: Buffer): void {
  const { stream } = conversationCodec(format);
  const half = Math.floor(bytes.length / 2);
  const { error, usage } = stream.readStream(bytes.subarray(0, half), bytes.subarray(half));
  for (const count of Object.values(usage ?? {})) assert.ok(Number.isInteger(count) && count >= 0);
  assert.ok(error === null || Number.isInteger(error.status));
  assert.ok(stream.textBytes(bytes) >= 0);
  const { frames } = stream.split(bytes);
  for (const frame of frames) {
    if (stream.classify(frame) === 'error') assert.equal(typeof stream.readError(frame).message, 'string');
  }
  const whole = stream.assemble(frames);
  if (whole !== null) stream.encodeFramesOf(whole);
}

function readStream(from: WireFormat, bytes: Buffer, to: WireFormat): string {
  readFacts(from, bytes);
  const { stream } = conversationCodec(from);
  const asked = askedOf(from, to);
  const { frames } = stream.split(Buffer.concat([bytes, Buffer.from('\n\n')]));
  const parts = partsOf(asked, frames);
  const end = checkedEnd(parts);
  const { whole } = writtenFor(asked, parts);
  if (end === 'error') assert.equal(whole, null, `as ${to} a failed answer looks complete`);
  else assert.notEqual(whole, null, `as ${to} a complete answer looks cut`);
  return end;
}

const asked = new Map<string, Asked>();

/** A request that an answer may be to, made once for a pair. */
function askedOf(from: WireFormat, to: WireFormat): Asked {
  const name = `${from} ${to}`;
  const known = asked.get(name) ?? askedWith(to, from, functions);
  asked.set(name, known);
  return known;
}

/** The one end of an answer: nothing follows it, and a message ends with all its blocks. */
function checkedEnd(parts: readonly StreamPart[]): string {
  const ends = parts.filter(({ type }) => type === 'message-end' || type === 'error');
  assert.equal(ends.length, 1, 'an answer ends once');
  assert.equal(ends[0], parts.at(-1), 'nothing follows the end');
  const type = ends[0]?.type ?? '';
  if (type === 'error') return type;
  assert.equal(parts[0]?.type, 'message-start', 'an answer begins');
  const open = new Set<number>();
  for (const part of parts) {
    if (!('block' in part)) continue;
    if (part.type.endsWith('-start')) {
      assert.ok(!open.has(part.block), 'a block begins once');
      open.add(part.block);
    } else if (part.type.endsWith('-end')) assert.ok(open.delete(part.block), 'a block ends once');
    else if (part.type.endsWith('-delta')) assert.ok(open.has(part.block), 'a block grows while it is open');
  }
  assert.equal(open.size, 0, 'every block ends');
  return type;
}
