import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { builtInDataSet, parseDataSet } from '../../../src/catalog/data-set/file.ts';
import { chat, messages } from '../../support/formats/formats.ts';
import { waitFor } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { chatAnswer, messagesAnswer, responsesAnswer } from '../../support/upstream/answers.ts';
import { json } from '../../support/upstream/steps.ts';

const at = setting();
const usage = { prompt_tokens: 1_000_000, completion_tokens: 1_000_000 };

/** As models.dev publishes it, made of what came with the gateway. */
function published(change: (providers: Record<string, { models: Record<string, object> }>) => void): string {
  const { table } = parseDataSet(readFileSync(builtInDataSet, 'utf8'));
  const providers = Object.fromEntries(
    Object.entries(table).map(([id, entries]) => [
      id,
      {
        id,
        models: Object.fromEntries(
          entries.map(({ ctx, id: model, price }) => [
            model,
            {
              id: model,
              limit: { context: ctx },
              ...(price?.i !== undefined && { cost: { input: baseOf(price.i), output: baseOf(price.o) } }),
            },
          ]),
        ),
      },
    ]),
  );
  change(providers);
  return JSON.stringify(providers);
}

const baseOf = (rate: unknown): number => Number(Array.isArray(rate) ? rate[0] : (rate ?? 0));

/** A request to a model, and what its row in the ledger says that it cost. */
async function costOf(model: string): Promise<[cost: number | null, source: string | null]> {
  at.upstream.always(json(200, chatAnswer({ usage })));
  const reply = await at.gateway.ask(chat.path, chat.request({ model }));
  assert.equal(reply.status, 200, reply.text);
  const { cost_usd, price_source } = await at.gateway.entry(reply.header('x-request-id'));
  return [cost_usd, price_source];
}

describe('a newer data set', () => {
  let file = '';
  before(async () => {
    file = join(at.gateway.home, 'api.json');
    await at.gateway.connect({ provider: 'stepfun', name: 'stepfun', baseUrl: at.upstream.url });
    await at.gateway.connect({ provider: 'openrouter', name: 'openrouter', baseUrl: at.upstream.url });
  });

  it('gives a new model its price in a running gateway, until it is undone', async () => {
    assert.deepEqual(await costOf('stepfun/step-99'), [null, null]);
    writeFileSync(
      file,
      published((providers) => {
        const { models = {} } = providers['stepfun'] ?? {};
        models['step-99'] = { id: 'step-99', cost: { input: 3, output: 4 }, limit: { context: 9000 } };
      }),
    );
    const updated = await at.gateway.cliJson('catalog', 'update', '--from', file);
    assert.equal(updated['added'], 1);
    const source = String(updated['source']);
    assert.match(source, /^models\.dev \d{4}-\d{2}-\d{2}$/);
    await waitFor('the price', async () => (await costOf('stepfun/step-99'))[0] === 7);
    assert.deepEqual(await costOf('stepfun/step-99'), [7, source]);
    const shown = await at.gateway.cliJson('catalog', 'show', 'stepfun/step-99');
    assert.deepEqual([shown['context_window'], shown['counts']], [9000, 'dataSet']);
    assert.equal((await at.gateway.cliJson('catalog', 'show'))['installed'], true);
    assert.deepEqual(await at.gateway.cliJson('catalog', 'update', '--reset'), { reset: true });
    await waitFor('the old state', async () => (await costOf('stepfun/step-99'))[0] === null);
    assert.equal((await at.gateway.cliJson('catalog', 'show'))['installed'], false);
  });

  it('is refused as a whole when it is cut short, empty, or counts in another unit', async () => {
    const whole = published(() => {});
    const inThousands = whole.replace(
      /"(input|output)":([\d.]+)/g,
      (_, name, rate) => `"${name}":${Number(rate) * 1000}`,
    );
    for (const [text, reason] of [
      [whole.slice(0, whole.length >> 1), /no JSON/],
      ['{}', /has 0 providers/],
      ['[]', /one entry for each provider/],
      [
        published((providers) => {
          for (const each of Object.values(providers)) each.models = {};
        }),
        /lacks \d+ of the \d+ models/,
      ],
      [inThousands, /50 times higher or lower/],
      [whole.replace(/"input":/g, '"input":-'), /have another shape/],
    ] as const) {
      writeFileSync(file, text);
      const ran = await at.gateway.cli('catalog', 'update', '--from', file);
      assert.equal(ran.code, 2, ran.stdout);
      assert.match(ran.stderr, reason);
    }
    assert.equal((await at.gateway.cliJson('catalog', 'show'))['installed'], false);
    const line = await at.gateway.cli('catalog', 'update', '--from', 'http://models.example/api.json');
    assert.match(line.stderr, /https:\/\//);
  });
});

describe('catalogue data of a model', () => {
  before(async () => {
    await at.gateway.connect({ provider: 'opencode', name: 'opencode', baseUrl: at.upstream.url });
    await at.gateway.connect({ provider: 'groq', name: 'groq', baseUrl: at.upstream.url });
  });

  it('decides in which format a provider that has several is asked for it', async () => {
    for (const [model, path, answer] of [
      ['claude-sonnet-4-6', '/v1/messages', messagesAnswer()],
      ['gpt-5.2', '/v1/responses', responsesAnswer()],
      ['glm-5', '/v1/chat/completions', chatAnswer()],
    ] as const) {
      at.upstream.always(json(200, answer));
      for (const format of [chat, messages]) {
        const reply = await at.gateway.ask(format.path, format.request({ model: `opencode/${model}` }));
        assert.equal(reply.status, 200, `${model} in ${format.name}: ${reply.text}`);
      }
      const paths = at.upstream.requests
        .filter(({ method }) => method === 'POST')
        .map(({ path: asked }) => asked);
      assert.deepEqual(new Set(paths), new Set([path]), model);
    }
  });

  it('lowers the output limit of a translated request to the model’s maximum, and says so', async () => {
    at.upstream.always(json(200, chatAnswer()));
    const model = 'groq/openai/gpt-oss-120b';
    const limit = (await at.gateway.cliJson('catalog', 'show', model))['output_limit'];
    assert.equal(typeof limit, 'number');
    const reply = await at.gateway.ask(
      messages.path,
      messages.request({ model, max_tokens: Number(limit) + 1 }),
    );
    assert.equal(reply.header('x-gateway-lowered'), `max_tokens=${limit}`, reply.text);
    const same = await at.gateway.ask(chat.path, chat.request({ model, max_tokens: Number(limit) + 1 }));
    assert.equal(same.header('x-gateway-lowered'), undefined, 'what is not translated is not changed');
  });

  it('is in the list of models where tools look for it', async () => {
    const list = await at.gateway.send({
      method: 'GET',
      path: '/v1/models/opencode/claude-opus-4-5',
      headers: { authorization: `Bearer ${at.gateway.key}` },
    });
    const model = list.json() as Record<string, unknown>;
    assert.equal(model['context_window'], 200_000);
    assert.deepEqual(model['architecture'], {
      input_modalities: ['text', 'image', 'pdf'],
      output_modalities: ['text'],
    });
    assert.deepEqual(model['supported_parameters'], ['tools', 'tool_choice', 'reasoning']);
    assert.deepEqual(model['top_provider'], { context_length: 200_000, max_completion_tokens: 64_000 });
    assert.deepEqual(model['pricing'], {
      prompt: '0.000005',
      completion: '0.000025',
      input_cache_read: '0.0000005',
      input_cache_write: '0.00000625',
    });
  });
});
