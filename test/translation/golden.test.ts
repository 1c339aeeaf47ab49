import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { codecs } from '../../src/codecs/index.ts';
import type { WireFormat } from '../../src/codecs/model.ts';
import { restoreTools } from '../../src/codecs/restore.ts';
import type { StreamPart } from '../../src/codecs/stream-part.ts';
import { nameTools } from '../../src/codecs/tool-names.ts';
import type { Target } from '../../src/combos/resolve.ts';
import { GatewayError } from '../../src/lib/error.ts';
import { openaiCompatible } from '../../src/providers/openai-compatible.ts';
import { conversationCodec, translateRequest } from '../../src/proxy/translate-request.ts';

/**
 * Every request and every recorded stream, into every other format, as files that a person can read. To write them
 * anew after a change: UPDATE_GOLDEN=1 node --test test/translation, then look at the difference.
 */
const update = process.env['UPDATE_GOLDEN'] === '1';
const here = import.meta.dirname;
const formats = codecs.filter(({ conversation }) => conversation !== null).map(({ format }) => format);

function compare(name: string, actual: string): void {
  const path = join(here, 'golden', name);
  if (update) writeFileSync(path, actual);
  assert.ok(existsSync(path), `${name} is missing: run with UPDATE_GOLDEN=1 and read it`);
  assert.equal(actual, readFileSync(path, 'utf8'), name);
}

/** A target that takes `format`; only its dialect and model matter here. */
function targetOf(format: WireFormat): Target {
  const connection = { name: 'golden' } as Target['connection'];
  return { connection, provider: openaiCompatible, model: 'target-model', format };
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
      const { body: bytes, dropped } = translateRequest({ body: [body], named, target: targetOf(to) }, from);
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

describe('streams', () => {
  for (const from of formats) {
    const folder = join(here, '../../src/codecs', from, 'fixtures');
    for (const file of readdirSync(folder)
      .filter((name) => name.endsWith(endings[conversationCodec(from).stream.framing]))
      .sort()) {
      for (const to of formats) {
        if (to === from) continue;
        it(`${file}: ${from} to ${to}`, () => {
          const stream = streamOf(readFileSync(join(folder, file)), from, to);
          const ending = endings[conversationCodec(to).stream.framing];
          compare(`${file.replace(/\.[a-z]+$/, '')}.${from}-to-${to}${ending}`, stream);
        });
      }
    }
  }
});

/** Callers of Google's format see thoughts only when they ask for them. */
const showingThoughts = { generationConfig: { thinkingConfig: { includeThoughts: true } } };

function streamOf(bytes: Buffer, from: WireFormat, to: WireFormat): string {
  const names = nameTools([], conversationCodec(from).conversation.tools, false);
  const reader = restoreTools(conversationCodec(from).conversation.reader(), names);
  const { frames } = conversationCodec(from).stream.split(Buffer.concat([bytes, Buffer.from('\n\n')]));
  const parts: StreamPart[] = [...frames.flatMap((frame) => reader.push(frame)), ...reader.end()];
  const writer = conversationCodec(to).conversation.writer({
    ...{ id: 'req_golden', model: 'asked/model', startedAt: 1_790_000_000_000 },
    ...{ includeUsage: true, request: { model: 'asked/model', ...showingThoughts } },
  });
  const errors = parts.flatMap((part) => (part.type === 'error' ? [part.error] : []));
  const text = parts.map((part) => writer.push(part)).join('');
  if (errors.length > 0) return `${text}error: ${JSON.stringify(errors)}\n`;
  const { assemble, split } = conversationCodec(to).stream;
  const whole = assemble(split(Buffer.from(text)).frames);
  return `${text}whole: ${JSON.stringify(whole, null, 2)}\n`;
}
