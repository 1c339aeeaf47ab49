import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type JsonObject, listOf, objectOf } from '../../json/values.ts';
import { plainDialect } from '../../model/dialect.ts';
import { markCache } from './cache-marks.ts';

const dialect = { ...plainDialect, cacheFields: true };
const long = 'All work and no play makes Jack a dull boy. '.repeat(500);
const mark = { cache_control: { type: 'ephemeral' } };
const call = { id: 'a', type: 'function', function: { name: 'read', arguments: '{}' } };
const request: JsonObject = {
  model: 'anthropic/claude-sonnet-5',
  messages: [
    { role: 'system', content: long },
    { role: 'user', content: 'One' },
    { role: 'assistant', content: null, tool_calls: [call, { ...call, id: 'b' }] },
    { role: 'tool', tool_call_id: 'a', content: 'A' },
    { role: 'tool', tool_call_id: 'b', content: 'B' },
    { role: 'assistant', content: 'Both.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look' },
        { type: 'image_url', image_url: { url: 'u' } },
      ],
    },
  ],
};

describe('cache marks for Anthropic’s models behind a chat server', () => {
  it('are set on the instructions, on the last texts of the user, and on results', () => {
    const marked = listOf(markCache(request, false, dialect)['messages']).map(objectOf);
    assert.deepEqual(
      marked.map(({ content, ...message }) => [content, message['cache_control']]),
      [
        [[{ type: 'text', text: long, ...mark }], undefined],
        [[{ type: 'text', text: 'One', ...mark }], undefined],
        [null, undefined],
        ['A', undefined],
        ['B', mark.cache_control],
        ['Both.', undefined],
        [
          [
            { type: 'text', text: 'Look', ...mark },
            { type: 'image_url', image_url: { url: 'u' } },
          ],
          undefined,
        ],
      ],
    );
  });

  it('are set for these models only, if the server passes them on and the client set none', () => {
    const first = { ...request, messages: listOf(request['messages']).slice(0, 2) };
    const own = { ...request, messages: [{ role: 'user', content: 'x', ...mark }] };
    for (const [one, shared, of] of [
      [{ ...request, model: 'gpt-5' }, true, dialect],
      [request, true, plainDialect],
      [first, false, dialect],
      [own, true, dialect],
      [{ ...first, messages: [{ role: 'user', content: 'hi' }] }, true, dialect],
    ] as const)
      assert.equal(markCache(one, shared, of), one);
    assert.notEqual(markCache(first, true, dialect), first);
  });
});
