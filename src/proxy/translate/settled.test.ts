import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Target } from '../../combos/routing/resolve.ts';
import { anthropicCompatible } from '../../providers/anthropic-compatible.ts';
import { openaiCompatible } from '../../providers/openai-compatible.ts';
import { listSpan } from './list-span.ts';
import { translateRequest } from './request.ts';
import { createSettledTurns, type SettledTurns } from './settled.ts';

const target: Target = {
  connection: { id: 'c', name: 'c' } as Target['connection'],
  provider: openaiCompatible,
  model: 'm',
  format: 'openai-chat',
};

/** An agent's request of the messages format with so many calls; `name` tells one conversation from another. */
function agentRequest(name: string, calls: number): Buffer {
  const exchanges = Array.from({ length: calls }, (_, index) => [
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: `${name}_${index}`, name: 'Read', input: { n: index } }],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `${name}_${index}`, content: `${index} `.repeat(500) }],
    },
  ]);
  return Buffer.from(
    JSON.stringify({
      messages: [{ role: 'user', content: name }, ...exchanges.flat()],
      system: 'Be an agent. '.repeat(200),
      tools: [{ name: 'Read', input_schema: { type: 'object', properties: { n: { type: 'integer' } } } }],
    }),
  );
}

/** One answer of a chat request with so many calls, and their results. */
function chatExchange(calls: number, index: number): object[] {
  const ids = Array.from({ length: calls }, (_, call) => `c_${index}_${call}`);
  const made = ids.map((id) => ({ id, type: 'function', function: { name: 'Read', arguments: '{}' } }));
  return [
    { role: 'assistant', content: null, tool_calls: made },
    ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: `${index} `.repeat(400) })),
  ];
}

function sent(body: Buffer, settled: SettledTurns | null, to = target): string {
  return Buffer.concat(piecesOf(body, settled, to)).toString();
}

function piecesOf(body: Buffer, settled: SettledTurns | null, to = target): readonly Buffer[] {
  const outgoing = { body: [body], named: null, target: to };
  return translateRequest(outgoing, 'anthropic-messages', { settled }).body;
}

describe('settled turns', () => {
  it('are those of a conversation that continues, without its last exchange', () => {
    const settled = createSettledTurns();
    sent(agentRequest('a', 6), settled);
    assert.equal(settled.exchanges, 0);
    sent(agentRequest('a', 7), settled);
    assert.equal(settled.exchanges, 6);
    assert.equal(sent(agentRequest('a', 9), settled), sent(agentRequest('a', 9), null));
    assert.equal(settled.exchanges, 8);
  });

  it('are sent from the memory that keeps them, without a copy for each request', () => {
    const settled = createSettledTurns();
    for (const calls of [6, 7]) sent(agentRequest('a', calls), settled);
    const one = piecesOf(agentRequest('a', 9), settled);
    const other = piecesOf(agentRequest('a', 9), settled);
    const own = other.filter(
      ({ buffer, byteOffset }) =>
        !one.some((piece) => piece.buffer === buffer && piece.byteOffset === byteOffset),
    );
    assert.equal(own.length, 1, 'the last entries alone are written for each');
    assert.deepEqual(Buffer.concat(one), Buffer.concat(other));
  });

  it('are not used for another conversation or another model', () => {
    const settled = createSettledTurns();
    for (const calls of [6, 7]) sent(agentRequest('a', calls), settled);
    const elsewhere = { ...target, model: 'other' };
    assert.equal(sent(agentRequest('a', 7), settled, elsewhere), sent(agentRequest('a', 7), null, elsewhere));
    assert.equal(sent(agentRequest('b', 7), settled), sent(agentRequest('b', 7), null));
    assert.equal(settled.exchanges, 6);
  });

  it('are translated again if the id of one of their calls is used once more', () => {
    const responses = { ...target, format: 'openai-responses' } as const;
    const settled = createSettledTurns();
    for (const calls of [6, 7]) sent(agentRequest('a', calls), settled, responses);
    const again = Buffer.from(agentRequest('a', 8).toString().replaceAll('"a_7"', '"a_0"'));
    assert.match(sent(again, null, responses), /"a_0_2"/);
    for (const _ of [1, 2]) assert.equal(sent(again, settled, responses), sent(again, null, responses));
  });

  it('are kept up to a limit, the least recently used ones are removed first', () => {
    const settled = createSettledTurns(110_000);
    const converse = (name: string) => {
      for (const calls of [6, 7]) sent(agentRequest(name, calls), settled);
    };
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      converse(name);
      sent(agentRequest('a', 7), settled);
      assert.ok(settled.bytes <= 110_000);
    }
    const before = settled.exchanges;
    sent(agentRequest('a', 9), settled);
    assert.equal(settled.exchanges, before + 2, '"a" was used between the others');
    // A conversation that alone is larger is not kept.
    const small = createSettledTurns(2_000);
    for (const calls of [6, 7]) sent(agentRequest('a', calls), small);
    assert.equal(small.bytes, 0);
  });

  it('are not in the request that an answer refers to, and not used for a response that is stored', () => {
    const responseState = {
      keyId: 'k',
      previousId: null,
      input: null,
      compaction: null,
      compacts: false,
      shown: [],
    };
    const input = Array.from({ length: 9 }, (_, index) => [
      { type: 'function_call', call_id: `c_${index}`, name: 'Read', arguments: '{}' },
      { type: 'function_call_output', call_id: `c_${index}`, output: 'x '.repeat(500) },
    ]).flat();
    const tools = [{ type: 'function', name: 'Read', parameters: { type: 'object', properties: {} } }];
    for (const store of [false, true]) {
      const settled = createSettledTurns();
      const body = [Buffer.from(JSON.stringify({ model: 'm', input, tools, store }))];
      const whole = translateRequest({ body, named: null, target, responseState }, 'openai-responses');
      for (const _ of [1, 2, 3]) {
        const made = translateRequest({ body, named: null, target, responseState }, 'openai-responses', {
          settled,
        });
        assert.deepEqual(Buffer.concat(made.body), Buffer.concat(whole.body));
        assert.doesNotMatch(JSON.stringify(made.request), /exchange_/);
        if (store) assert.deepEqual(made.request, whole.request);
      }
      assert.equal(settled.exchanges, store ? 0 : 8);
    }
  });

  it('get the same cache marks as translated turns, also with many calls in one answer', () => {
    const messages: Target = { ...target, provider: anthropicCompatible, format: 'anthropic-messages' };
    const settled = createSettledTurns();
    const request = (parallel: readonly number[]) =>
      Buffer.from(
        JSON.stringify({
          model: 'm',
          messages: [{ role: 'user', content: 'Go.' }, ...parallel.flatMap(chatExchange)],
          tools: [
            { type: 'function', function: { name: 'Read', parameters: { type: 'object', properties: {} } } },
          ],
        }),
      );
    const translate = (body: Buffer, own: SettledTurns | null) =>
      Buffer.concat(
        translateRequest({ body: [body], named: null, target: messages }, 'openai-chat', { settled: own })
          .body,
      ).toString();
    const parallel = [1, 1, 1, 1, 1];
    for (const calls of [1, 1, 12, 1, 30, 1, 1, 1, 1]) {
      parallel.push(calls);
      const body = request(parallel);
      const whole = translate(body, null);
      assert.equal(whole.split('cache_control').length - 1, 4);
      for (const _ of [1, 2]) assert.equal(translate(body, settled), whole);
    }
    assert.ok(settled.exchanges >= 48, `all but the last two exchanges, not ${settled.exchanges} calls`);
    const shorter = request(parallel.slice(0, 9));
    assert.equal(translate(shorter, settled), translate(shorter, null), 'a conversation that was cut off');
  });

  it('are kept only for agents: requests with tools that have an earlier answer', () => {
    const settled = createSettledTurns();
    const text = { role: 'user', content: 'x'.repeat(5_000) };
    sent(Buffer.from(JSON.stringify({ messages: [text] })), settled);
    sent(agentRequest('a', 0), settled);
    assert.equal(settled.bytes, 0);
  });
});

describe('the position of a list in a request', () => {
  const listIn = (text: string) => {
    const span = listSpan(Buffer.from(text), 'list');
    return span === null ? null : text.slice(span.start, span.end);
  };

  it('is between its brackets, whatever surrounds it', () => {
    assert.equal(
      listIn(' { "a" : "]\\"list\\":[" , "list" : [ {"b":[1]}, 2 ] , "c":{"list":[3]} } '),
      ' {"b":[1]}, 2 ',
    );
    assert.equal(listIn('{"é":1.5e3,"list":[]}'), '');
  });

  it('is unknown if its name is ambiguous, or if there is no list', () => {
    for (const text of [
      '{"list":[1],"list":[2]}',
      '{"list":[1],"\\u006cist":[2]}',
      '{"list":{}}',
      '{"a":[]}',
      '[]',
      '{',
    ])
      assert.equal(listIn(text), null, text);
  });
});
