import assert from 'node:assert/strict';
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { codecs } from '../../src/codecs/index.ts';
import { objectOf, parseObject } from '../../src/codecs/json/values.ts';
import type { WireFormat } from '../../src/codecs/wire-format.ts';
import { GatewayError } from '../../src/lib/error.ts';
import type { Frame } from '../../src/lib/streams/sse.ts';
import { conversationCodec, translateRequest } from '../../src/proxy/translate/request.ts';
import { askedWith, partsOf, vendorTarget, writtenFor } from '../support/formats/answer-chain.ts';

/**
 * Every request and every recorded answer, into every other format, by the stages that the gateway itself has and for
 * the vendor of the format, as files that a person can read: those of `tools.sse` are in `tools.golden` beside it. To write
 * them anew after a change: UPDATE_GOLDEN=1 node --test test/translation/golden.test.ts, then look at the difference.
 */
const update = process.env['UPDATE_GOLDEN'] === '1';
const here = import.meta.dirname;
const formats = codecs.filter(({ conversation }) => conversation !== null).map(({ format }) => format);
const GOLDEN = '.golden';

/** The files of a folder that can be an input: all but what explains them, and the folders of their golden files. */
const inputsIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name !== 'README.md' && !name.endsWith(GOLDEN))
    .sort();

const stemOf = (file: string) => file.replace(/\.[a-z]+$/, '');

const requests = join(here, 'requests');
const answersOf = (format: WireFormat) => join(here, '../../src/codecs', format, 'fixtures');
const folders = [requests, ...formats.map(answersOf)];

/** Golden files that a test has compared. */
const compared = new Set<string>();

/** @param to what the golden file is called: the format with the ending of its files */
function compare(input: string, to: string, actual: string): void {
  const folder = `${stemOf(input)}${GOLDEN}`;
  const path = join(folder, to);
  assert.ok(!compared.has(path), `${path} is of two inputs: call one of them otherwise`);
  compared.add(path);
  if (update) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, actual);
  }
  assert.ok(existsSync(path), `${path} is missing: run with UPDATE_GOLDEN=1 and read it`);
  assert.equal(actual, readFileSync(path, 'utf8'), path);
}

describe('requests', () => {
  for (const file of inputsIn(requests)) {
    const [name = '', from = ''] = file.split('.');
    const format = formats.find((known) => known === from) ?? assert.fail(`${file} names no format`);
    for (const to of formats) {
      if (to === format) continue;
      it(`${name}: ${from} to ${to}`, () => {
        compare(join(requests, file), `${to}.json`, translated(file, format, to));
      });
    }
  }
});

function translated(file: string, from: WireFormat, to: WireFormat): string {
  const body = readFileSync(join(here, 'requests', file));
  const attempt = () => {
    try {
      const inPath = conversationCodec(from).pathOf !== null;
      const named = inPath ? { model: 'asked/model', stream: true, array: false } : null;
      const { body: bytes, dropped } = translateRequest(
        { body: [body], named, target: vendorTarget(to) },
        from,
      );
      return { dropped, body: JSON.parse(Buffer.concat(bytes).toString()) };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { refused: { param: error.param, message: error.message } };
    }
  };
  const first = JSON.stringify(attempt(), null, 2);
  assert.equal(JSON.stringify(attempt(), null, 2), first, 'the same request gives the same bytes');
  return `${first}\n`;
}

/** How the files of recorded streams end. */
const endings = { sse: '.sse', lines: '.ndjson' } as const;

describe('answers', () => {
  for (const from of formats) {
    const folder = answersOf(from);
    const ending = endings[conversationCodec(from).stream.framing];
    for (const file of inputsIn(folder)) {
      const streamed = file.endsWith(ending);
      assert.ok(streamed || file.endsWith('.json'), `${file} is no answer in ${from}`);
      for (const to of formats) {
        if (to === from) continue;
        it(`${file}: ${from} to ${to}`, () => {
          const input = join(folder, file);
          const frames = framesIn(readFileSync(input), from, streamed);
          const written = `${to}${endings[conversationCodec(to).stream.framing]}`;
          compare(input, written, answerIn(frames, from, to));
        });
      }
    }
  }
});

describe('the golden files', () => {
  it('belong to an existing request or answer', () => {
    const orphans = folders
      .flatMap((folder) => globSync(`*${GOLDEN}/*`, { cwd: folder }).map((name) => join(folder, name)))
      .filter((path) => !compared.has(path));
    if (update) for (const path of orphans) rmSync(path);
    else assert.deepEqual(orphans, [], 'their input is gone: run with UPDATE_GOLDEN=1');
  });
});

/** What an upstream sent, streamed or whole, as the gateway reads it. */
function framesIn(bytes: Buffer, format: WireFormat, streamed: boolean): Frame[] {
  const { framesOf, split } = conversationCodec(format).stream;
  if (streamed) return split(Buffer.concat([bytes, Buffer.from('\n\n')])).frames;
  return framesOf(objectOf(parseObject(bytes.toString())));
}

function answerIn(frames: readonly Frame[], from: WireFormat, to: WireFormat): string {
  const called = partsOf(askedWith(to, from, []), frames).flatMap((part) =>
    part.type === 'tool-call-start' && part.kind === 'function' ? [part.name] : [],
  );
  const asked = askedWith(to, from, [...new Set(called)]);
  const parts = partsOf(asked, frames);
  const { text, whole } = writtenFor(asked, parts);
  const errors = parts.flatMap((part) => (part.type === 'error' ? [part.error] : []));
  if (errors.length > 0) return `${text}error: ${JSON.stringify(errors)}\n`;
  return `${text}whole: ${JSON.stringify(whole, null, 2)}\n`;
}
