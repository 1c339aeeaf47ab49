import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { codecs } from '../../src/codecs/index.ts';
import { objectOf, parseObject } from '../../src/codecs/json/values.ts';
import type { WireFormat } from '../../src/codecs/wire-format.ts';
import { GatewayError } from '../../src/lib/error.ts';
import type { Frame } from '../../src/lib/sse.ts';
import { conversationCodec, translateRequest } from '../../src/proxy/translate/request.ts';
import { askedWith, partsOf, vendorTarget, writtenFor } from '../support/answer-chain.ts';

/**
 * Every request and every recorded answer, into every other format, by the stages that the gateway itself has and for
 * the vendor of the format, as files that a person can read. To write them anew after a change: UPDATE_GOLDEN=1 node --test test/translation, then look at the difference.
 */
const update = process.env['UPDATE_GOLDEN'] === '1';
const here = import.meta.dirname;
const formats = codecs.filter(({ conversation }) => conversation !== null).map(({ format }) => format);

/** Files that a test has compared. */
const compared = new Set<string>();

function compare(name: string, actual: string): void {
  compared.add(name);
  const path = join(here, 'golden', name);
  if (update) writeFileSync(path, actual);
  assert.ok(existsSync(path), `${name} is missing: run with UPDATE_GOLDEN=1 and read it`);
  assert.equal(actual, readFileSync(path, 'utf8'), name);
}

describe('requests', () => {
  for (const file of readdirSync(join(here, 'requests')).sort()) {
    const [name = '', from = ''] = file.split('.');
    for (const to of formats) {
      if (to === from || !formats.includes(from as WireFormat)) continue;
      it(`${name}: ${from} to ${to}`, () => {
        compare(`${name}.${from}-to-${to}.json`, translated(file, from as WireFormat, to));
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
      return { dropped, body: JSON.parse(bytes.toString()) };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { refused: { param: error.param, message: error.message } };
    }
  };
  const first = JSON.stringify(attempt(), null, 2);
  assert.equal(JSON.stringify(attempt(), null, 2), first, 'the same request gives the same bytes (X-10)');
  return `${first}\n`;
}

/** How the files of recorded streams end. */
const endings = { sse: '.sse', lines: '.ndjson' } as const;

describe('answers', () => {
  for (const from of formats) {
    const folder = join(here, '../../src/codecs', from, 'fixtures');
    const { framing } = conversationCodec(from).stream;
    for (const file of readdirSync(folder).sort()) {
      const streamed = file.endsWith(endings[framing]);
      if (!streamed && !file.endsWith('.json')) continue;
      for (const to of formats) {
        if (to === from) continue;
        it(`${file}: ${from} to ${to}`, () => {
          const frames = framesIn(readFileSync(join(folder, file)), from, streamed);
          const ending = endings[conversationCodec(to).stream.framing];
          compare(`${file.replace(/\.[a-z]+$/, '')}.${from}-to-${to}${ending}`, answerIn(frames, from, to));
        });
      }
    }
  }
});

describe('the files', () => {
  it('are all those of a request or an answer that there is', () => {
    const orphans = readdirSync(join(here, 'golden')).filter((name) => !compared.has(name));
    if (update) for (const name of orphans) rmSync(join(here, 'golden', name));
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
