import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseObject } from '../../src/codecs/json/values.ts';
import type { Target } from '../../src/combos/routing/resolve.ts';
import { openaiCompatible } from '../../src/providers/openai-compatible.ts';
import { conversationCodec, translateRequest } from '../../src/proxy/translate/request.ts';
import { type Asked, askedWith, partsOf, vendorTarget, writtenFor } from '../support/formats/answer-chain.ts';
import { numberText } from '../support/formats/arbitrary.ts';
import { type Conversing, conversing } from '../support/formats/formats-matrix.ts';
import { fc } from '../support/machine/properties.ts';

/** Numbers arrive with the digits in which they were written: one that is rounded names another object. */
const formats = conversing.filter((format) => format !== 'openai-completions');
const pairs = formats.flatMap((from) => formats.filter((to) => to !== from).map((to) => ({ from, to })));

const numbers = fc.array(numberText, { minLength: 1, maxLength: 3 });

/** Arguments or a result with numbers at several depths. */
const objectWith = (list: readonly string[]) => `{"id":${list[0]},"of":{"each":[${list.join(',')}]}}`;
const textOf = (json: string) => JSON.stringify(json);

/** A schema whose every number stands for something. */
const schemaWith = ([number]: readonly string[]) =>
  `{"type":"object","properties":{"id":{"type":"number","maximum":${number},"enum":[${number}],"default":${number}}}}`;

/** A request with a call, its result and a tool, in a format's own JSON. */
function requestIn(format: Conversing, list: readonly string[]): string {
  const [object, schema] = [objectWith(list), schemaWith(list)];
  switch (format) {
    case 'openai-chat':
      return `{"model":"m","temperature":1.0,"max_tokens":100.0,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"find","arguments":${textOf(object)}}}]},{"role":"tool","tool_call_id":"call_1","content":${textOf(object)}}],"tools":[{"type":"function","function":{"name":"find","parameters":${schema}}}]}`;
    case 'openai-responses':
      return `{"model":"m","temperature":1.0,"max_output_tokens":1e2,"input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"call_1","name":"find","arguments":${textOf(object)}},{"type":"function_call_output","call_id":"call_1","output":${textOf(object)}}],"tools":[{"type":"function","name":"find","strict":false,"parameters":${schema}}]}`;
    case 'anthropic-messages':
      return `{"model":"m","temperature":1.0,"max_tokens":100.0,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"find","input":${object}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":${textOf(object)}}]}],"tools":[{"name":"find","input_schema":${schema}}]}`;
    case 'gemini':
      return `{"model":"m","generationConfig":{"temperature":1.0,"maxOutputTokens":100.0},"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"id":"call_1","name":"find","args":${object}}}]},{"role":"user","parts":[{"functionResponse":{"id":"call_1","name":"find","response":${object}}}]}],"tools":[{"functionDeclarations":[{"name":"find","parametersJsonSchema":${schema}}]}]}`;
    default:
      return `{"model":"m","options":{"temperature":1.0,"num_predict":100.0},"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"","tool_calls":[{"id":"call_1","function":{"name":"find","arguments":${object}}}]},{"role":"tool","tool_name":"find","tool_call_id":"call_1","content":${textOf(object)}}],"tools":[{"type":"function","function":{"name":"find","parameters":${schema}}}]}`;
  }
}

/** A whole answer with a call. */
function answerIn(format: Conversing, list: readonly string[]): string {
  const object = objectWith(list);
  switch (format) {
    case 'openai-chat':
      return `{"id":"c1","object":"chat.completion","created":1.0,"model":"m","choices":[{"index":0.0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"find","arguments":${textOf(object)}}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":5.0,"completion_tokens":7.0,"total_tokens":12.0}}`;
    case 'openai-responses':
      return `{"id":"r1","object":"response","created_at":1,"status":"completed","model":"m","output":[{"type":"function_call","id":"fc_1","call_id":"call_1","name":"find","arguments":${textOf(object)},"status":"completed"}],"usage":{"input_tokens":5.0,"output_tokens":7.0,"total_tokens":12.0}}`;
    case 'anthropic-messages':
      return `{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"call_1","name":"find","input":${object}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":5.0,"output_tokens":7.0}}`;
    case 'gemini':
      return `{"candidates":[{"index":0.0,"content":{"role":"model","parts":[{"functionCall":{"name":"find","args":${object}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5.0,"candidatesTokenCount":7.0,"totalTokenCount":12.0},"modelVersion":"m","responseId":"g1"}`;
    default:
      return `{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"find","arguments":${object}}}]},"done":true,"done_reason":"stop","prompt_eval_count":5.0,"eval_count":7.0}`;
  }
}

/** The same as a stream; arguments that are text come in pieces. */
function streamIn(format: Conversing, list: readonly string[]): string {
  const object = objectWith(list);
  const pieces = [object.slice(0, 8), object.slice(8)].map(textOf);
  const events = (values: readonly string[]) =>
    values.map((value) => `event: ${parseObject(value)?.['type']}\ndata: ${value}\n\n`).join('');
  switch (format) {
    case 'openai-chat': {
      const chunk = (delta: string, reason = 'null') =>
        `data: {"id":"c1","model":"m","choices":[{"index":0.0,"delta":${delta},"finish_reason":${reason}}]}\n\n`;
      const call = (piece: string | undefined) =>
        `{"tool_calls":[{"index":0.0,"function":{"arguments":${piece}}}]}`;
      return `${chunk('{"role":"assistant","tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"find","arguments":""}}]}')}${chunk(call(pieces[0]))}${chunk(call(pieces[1]))}${chunk('{}', '"tool_calls"')}data: {"choices":[],"usage":{"prompt_tokens":5.0,"completion_tokens":7.0}}\n\ndata: [DONE]\n\n`;
    }
    case 'openai-responses':
      return events([
        '{"type":"response.created","response":{"id":"r1","model":"m","output":[]}}',
        '{"type":"response.output_item.added","output_index":0.0,"item":{"type":"function_call","call_id":"call_1","name":"find","arguments":""}}',
        ...pieces.map(
          (piece) => `{"type":"response.function_call_arguments.delta","output_index":0,"delta":${piece}}`,
        ),
        `{"type":"response.output_item.done","output_index":0.0,"item":{"type":"function_call","call_id":"call_1","name":"find","arguments":${textOf(object)},"status":"completed"}}`,
        '{"type":"response.completed","response":{"id":"r1","status":"completed","output":[],"usage":{"input_tokens":5.0,"output_tokens":7.0}}}',
      ]);
    case 'anthropic-messages':
      return events([
        '{"type":"message_start","message":{"id":"m1","model":"m","usage":{"input_tokens":5.0,"output_tokens":1}}}',
        '{"type":"content_block_start","index":0.0,"content_block":{"type":"tool_use","id":"call_1","name":"find","input":{}}}',
        ...pieces.map(
          (piece) =>
            `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":${piece}}}`,
        ),
        '{"type":"content_block_stop","index":0}',
        '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7.0}}',
        '{"type":"message_stop"}',
      ]);
    case 'gemini':
      return `data: ${answerIn(format, list)}\n\n`;
    default:
      return `${answerIn(format, list)}\n`;
  }
}

/** Vertex AI's pieces of arguments, each number in a piece of its own. */
function partialArgs(list: readonly string[]): string {
  const piece = (path: string, number: string) => `{"jsonPath":"${path}","numberValue":${number}}`;
  const [first = '0'] = list;
  const pieces = [piece('$.id', first), ...list.map((number, index) => piece(`$.of.each[${index}]`, number))];
  const chunk = (call: string, more = '') =>
    `data: {"candidates":[{"content":{"parts":[{"functionCall":${call}}]}${more}}]}\n\n`;
  return `${chunk('{"name":"find","willContinue":true}')}${chunk(`{"partialArgs":[${pieces.join(',')}],"willContinue":true}`)}${chunk('{}', ',"finishReason":"STOP"')}`;
}

/** The numbers behind the keywords of the schema, also where they are told in its description. */
const numbersOfSchema = (text: string) =>
  [...text.matchAll(/(?:maximum|default)"?: ?([-+.\deE]+)|"enum":\["?([-+.\deE]+)/g)].map(
    ([, bound, value]) => bound ?? value,
  );

/** What was said as JSON inside any JSON: without the backslashes that its depth adds. */
const unescaped = (json: string) => json.replaceAll('\\', '');

describe('numbers of a request', () => {
  const connection = { id: 'con_plain', name: 'plain' } as Target['connection'];
  for (const { from, to } of pairs) {
    it(`keep their digits from ${from} to ${to}, in calls, results and schemas`, () => {
      const target = { connection, provider: openaiCompatible, model: 'm', format: to };
      fc.assert(
        fc.property(numbers, (list) => {
          const body = Buffer.from(requestIn(from, list));
          const text = unescaped(
            Buffer.concat(translateRequest({ body: [body], named: null, target }, from).body).toString(),
          );
          assert.equal(text.split(objectWith(list)).length - 1, 2, text);
          // Not every target has a word for each; what it is told keeps its digits.
          for (const said of numbersOfSchema(text)) assert.equal(said, list[0], text);
          assert.ok(numbersOfSchema(text).length > 0, text);
          // What the gateway itself looks at is a number however it is written.
          assert.match(text, /"temperature":1[,}]/);
          assert.match(text, /"(?:max_(?:completion_|output_)?tokens|maxOutputTokens|num_predict)":100[,}]/);
        }),
      );
    });
  }
});

describe('numbers of an answer', () => {
  for (const { from, to } of pairs) {
    const asked = askedWith(to, from, ['find']);
    it(`keep their digits from ${from} to ${to}, whole and streamed`, () => {
      fc.assert(
        fc.property(numbers, (list) => {
          const { framesOf, split } = conversationCodec(from).stream;
          const whole = framesOf(parseObject(answerIn(from, list)) ?? {});
          const streams = [streamIn(from, list), ...(from === 'gemini' ? [partialArgs(list)] : [])];
          for (const frames of [whole, ...streams.map((text) => split(Buffer.from(text)).frames)])
            keeps(asked, list, frames);
        }),
      );
    });
  }
});

function keeps(asked: Asked, list: readonly string[], frames: Parameters<typeof partsOf>[1]): void {
  const parts = partsOf(asked, frames);
  const { text, whole } = writtenFor(asked, parts);
  assert.ok(unescaped(JSON.stringify(whole)).includes(objectWith(list)), JSON.stringify(whole));
  const client = conversationCodec(asked.client);
  const reader = client.conversation.reader();
  const read = client.stream.split(Buffer.from(text)).frames.flatMap((frame) => reader.push(frame));
  const input = read.map((part) => (part.type === 'tool-call-delta' ? part.text : '')).join('');
  assert.equal(input, objectWith(list));
  const end = parts.at(-1);
  const usage = end?.type === 'message-end' ? end.usage : null;
  if (usage !== null) assert.deepEqual([usage.input, usage.output], [5, 7]);
}

/** The whole numbers of a document with a fraction of nothing, as servers in other languages write them. */
const respelled = (text: string) =>
  text.replace(/"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d+(?![\d.eE])/g, (found) =>
    found.startsWith('"') ? found : `${found}.0`,
  );
const spelledAlike = (value: unknown) => JSON.stringify(value).replace(/(?<=\d)\.0(?=[,\]}\\])/g, '');

describe('whole numbers with a zero fraction', () => {
  const root = join(import.meta.dirname, '../..');
  for (const from of conversing) {
    it(`equal integers in every recorded ${from} answer`, () => {
      const folder = join(root, 'src/codecs', from, 'fixtures');
      for (const name of globSync('*.{sse,ndjson,json}', { cwd: folder })) {
        const text = readFileSync(join(folder, name), 'utf8');
        const { framesOf, split } = conversationCodec(from).stream;
        const framesIn = (said: string) =>
          name.endsWith('.json')
            ? framesOf(parseObject(said) ?? {})
            : split(Buffer.from(`${said}\n\n`)).frames;
        const asked = askedWith(from === 'gemini' ? 'ollama' : 'gemini', from, []);
        const parts = [text, respelled(text)].map((said) => partsOf(asked, framesIn(said)));
        assert.equal(spelledAlike(parts[1]), spelledAlike(parts[0]), name);
      }
    });

    it(`equal integers in every ${from} request`, () => {
      const folder = join(root, 'test/translation/requests');
      for (const name of globSync(`*.${from}.json`, { cwd: folder })) {
        const text = readFileSync(join(folder, name), 'utf8');
        for (const to of conversing.filter((format) => format !== from)) {
          const bodies = [text, respelled(text)].map((said) => {
            try {
              const target = { ...vendorTarget(to), model: 'm' };
              const asked = { body: [Buffer.from(said)], named: null, target };
              return Buffer.concat(translateRequest(asked, from).body).toString();
            } catch (error) {
              return (error as Error).message;
            }
          });
          assert.equal(spelledAlike(bodies[1]), spelledAlike(bodies[0]), `${name} to ${to}`);
        }
      }
    });
  }

  it('equal integers in schemas that are adapted to a vendor', () => {
    const properties = {
      a: { type: 'integer', exclusiveMinimum: 0, maximum: 10 },
      b: { type: 'array', prefixItems: [{ type: 'string' }], items: false, maxItems: 3 },
      c: {
        allOf: [
          { type: 'number', minimum: 1 },
          { minimum: 2, exclusiveMaximum: 9 },
        ],
      },
      d: { enum: [1, 2] },
    };
    const tools = [{ name: 'find', input_schema: { type: 'object', properties } }];
    const messages = [{ role: 'user', content: 'hi' }];
    const text = JSON.stringify({ model: 'm', max_tokens: 9, messages, tools });
    for (const to of formats.filter((format) => format !== 'anthropic-messages')) {
      const [plain, other] = [text, respelled(text)].map((said) => {
        const asked = { body: [Buffer.from(said)], named: null, target: vendorTarget(to) };
        return Buffer.concat(translateRequest(asked, 'anthropic-messages').body).toString();
      });
      assert.equal(spelledAlike(other).replace(/(?<=\d)\.0(?=[";])/g, ''), spelledAlike(plain), to);
    }
  });
});
