import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import * as library from '../../src/codecs/library/library.ts';
import { browser, withoutChromium } from '../support/clients/chromium.ts';

/** `modelgate/codecs` where there is no Node.js: bundled for a page, and run in one. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const entry = join(root, 'src/codecs/library/library.ts');

/** Bytes of the whole library, minified and gzipped. 60 KB are wanted; it has 85 (docs/decisions/0044), and must not grow unseen. */
const mostBytes = 88_000;
/** The same of one pair of formats, in share of the whole. */
const mostOfPair = 0.75;

interface Bundle {
  code: string;
  /** Its modules below src/codecs. */
  modules: string[];
  imports: string[];
  gzipped: number;
}

async function bundled(exports: readonly string[] | '*'): Promise<Bundle> {
  const names = exports === '*' ? '*' : `{ ${exports.join(', ')} }`;
  const build = await rolldown({
    input: 'entry',
    platform: 'browser',
    cwd: root,
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === 'entry' ? id : null),
        load: (id) => (id === 'entry' ? `export ${names} from ${JSON.stringify(entry)};` : null),
      },
    ],
  });
  const { output } = await build.generate({ format: 'esm', minify: true, codeSplitting: false });
  await build.close();
  const [chunk] = output;
  const paths = Object.entries(chunk.modules).flatMap(([id, { renderedLength }]) =>
    renderedLength > 0 ? [id.replaceAll('\\', '/')] : [],
  );
  return {
    code: chunk.code,
    modules: paths.flatMap((id) => /src\/codecs\/(.+)/.exec(id)?.[1] ?? []),
    imports: [...chunk.imports, ...chunk.dynamicImports],
    gzipped: gzipSync(chunk.code, { level: 9 }).length,
  };
}

const formats = [
  library.openaiChat,
  library.openaiResponses,
  library.openaiCompletions,
  library.anthropicMessages,
  library.gemini,
  library.ollama,
] as const;

/** A request of each format that every other can say. */
const requests: Readonly<Record<library.FormatName, Record<string, unknown>>> = {
  'openai-chat': {
    model: 'asked',
    messages: [{ role: 'user', content: 'Good morning, é 🙂' }],
    stream: true,
  },
  'openai-responses': { model: 'asked', input: 'Good morning, é 🙂', stream: true },
  'openai-completions': { model: 'asked', prompt: 'Good morning, é 🙂', stream: true },
  'anthropic-messages': {
    model: 'asked',
    max_tokens: 64,
    messages: [{ role: 'user', content: 'Good morning, é 🙂' }],
    stream: true,
  },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'Good morning, é 🙂' }] }] },
  ollama: { model: 'asked', messages: [{ role: 'user', content: 'Good morning, é 🙂' }], stream: true },
};

const fixture = (format: string, name: string): string | null => {
  const [path] = globSync(`src/codecs/${format}/fixtures/${name}`, { cwd: root }).sort();
  return path === undefined ? null : readFileSync(join(root, path), 'utf8');
};
const streams = Object.fromEntries(
  formats.map(({ format }) => [
    format,
    fixture(format, 'text.{sse,ndjson}') ?? fixture(format, 'usage-all.sse') ?? fixture(format, '*.sse'),
  ]),
) as Record<string, string>;
const wholes = Object.fromEntries(
  formats.map(({ format }) => [format, fixture(format, 'answer.json')]),
) as Record<string, string>;

interface Material {
  requests: typeof requests;
  streams: Record<string, string>;
  wholes: Record<string, string>;
}

/** Translates between all pairs. It runs in the page too, where nothing around it is known. */
async function translateAll(
  codecs: Pick<
    typeof library,
    'compatibility' | 'countTokens' | 'translateRequest' | 'translateResponse' | 'translateStream'
  > &
    Record<string, unknown>,
  { requests, streams, wholes }: Material,
): Promise<Record<string, unknown>> {
  const all = Object.values(codecs).filter(
    (one): one is library.Format => typeof one === 'object' && one !== null && 'format' in one,
  );
  const results: Record<string, unknown> = {};
  for (const from of all)
    for (const to of all) {
      const body = requests[from.format];
      const request = codecs.translateRequest({ from, to, body, model: 'm-1', stream: true });
      const options = { request, id: 'req1', startedAt: 0 };
      const bytes = new TextEncoder().encode(streams[to.format]);
      const pieces = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < bytes.length; at += 7) controller.enqueue(bytes.slice(at, at + 7));
          controller.close();
        },
      });
      let streamUsage: unknown = null;
      const translated = pieces.pipeThrough(
        codecs.translateStream({
          ...options,
          onUsage(usage) {
            streamUsage = usage;
          },
        }),
      );
      results[`${from.format} to ${to.format}`] = {
        body: request.body,
        path: request.path,
        dropped: request.dropped,
        stream: await new Response(translated).text(),
        streamUsage,
        whole: codecs.translateResponse({ ...options, body: wholes[to.format] ?? '' }),
        tokens: codecs.countTokens({ format: from, body }),
        rows: codecs.compatibility(from, to).length,
      };
    }
  return JSON.parse(JSON.stringify(results));
}

describe('modelgate/codecs in a browser', { skip: withoutChromium }, () => {
  const chromium = browser();
  let whole: Bundle;

  before(async () => {
    whole = await bundled('*');
  });

  it('has nothing of Node.js in it', () => {
    assert.deepEqual(whole.imports, []);
    assert.doesNotMatch(whole.code, /node:|\bBuffer\b|\bprocess\b|\brequire\(/);
  });

  it('translates between every pair of formats as it does in Node.js', async () => {
    const page = await chromium.running.newPage();
    try {
      const material = { requests, streams, wholes };
      const url = `data:text/javascript;base64,${Buffer.from(whole.code).toString('base64')}`;
      const script = `(async (material) => (${translateAll.toString()})(await import(${JSON.stringify(url)}), material))(${JSON.stringify(material)})`;
      const inPage = (await page.evaluate(script)) as Record<string, { stream: string }>;
      assert.equal(Object.keys(inPage).length, formats.length ** 2);
      assert.deepEqual(inPage, await translateAll(library, material));
      for (const [pair, { stream }] of Object.entries(inPage)) assert.ok(stream.length > 100, pair);
    } finally {
      await page.close();
    }
  });
});

describe('the size of modelgate/codecs', () => {
  it('is bounded, and smaller for a program that names two formats', async (t) => {
    const whole = await bundled('*');
    t.diagnostic(`whole: ${whole.gzipped} bytes, minified and gzipped`);
    assert.ok(whole.gzipped <= mostBytes, `${whole.gzipped} bytes`);
    const pair = await bundled(['translateRequest', 'translateStream', 'openaiChat', 'anthropicMessages']);
    t.diagnostic(`chat and messages: ${pair.gzipped} bytes`);
    assert.ok(pair.gzipped <= whole.gzipped * mostOfPair, `${pair.gzipped} of ${whole.gzipped} bytes`);
    // Chat servers of Google's bear the signatures of its own format.
    const others = /^(gemini\/(?!signature)|ollama\/|openai-completions\/|openai-responses\/)/;
    assert.deepEqual(
      pair.modules.filter((path) => others.test(path)),
      [],
    );
  });
});
