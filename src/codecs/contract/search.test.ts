import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripEncryptedReasoning } from '../../../test/support/formats/strip-reasoning.ts';
import { translated, translating } from '../../../test/support/formats/translating.ts';
import { type JsonObject, listOf, objectOf } from '../json/values.ts';
import { plainDialect } from '../model/dialect.ts';
import type { StreamPart } from '../model/stream-part.ts';
import type { WireFormat } from '../wire-format.ts';

const translatedTo = (from: WireFormat, to: WireFormat, body: JsonObject) =>
  translated({ model: 'm', ...body }, translating(from), translating(to));

/** A whole answer of one format in another, by way of the streams that both stand for. */
function answered(from: WireFormat, to: WireFormat, answer: JsonObject): JsonObject {
  const [source, target] = [translating(from), translating(to)];
  const reader = source.conversation.reader();
  const { frames } = source.stream.split(Buffer.from(source.stream.encodeFramesOf(answer)));
  const parts: StreamPart[] = [...frames.flatMap((frame) => reader.push(frame)), ...reader.end()];
  const context = { id: 'req_1', model: 'm', startedAt: 0, includeUsage: true, request: {} };
  const writer = target.conversation.writer(context);
  const stream = target.stream.encode(parts.flatMap((part) => writer.push(part)));
  return target.stream.assemble(target.stream.split(Buffer.from(stream)).frames) ?? assert.fail(stream);
}

const page = { url: 'https://a.test', title: 'A' };
const call = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'sun' } };
const result = (encrypted_content: string) => ({
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: [{ type: 'web_search_result', ...page, encrypted_content, page_age: null }],
});
const text = { type: 'text', text: 'Sun.' };
const message = (content: object[]) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content,
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
});
const item = (action: object, more: object = {}) => ({
  id: 'ws_1',
  type: 'web_search_call',
  status: 'completed',
  action,
  ...more,
});
const response = (...output: object[]) => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'm',
  output,
  usage: null,
});
const sun = { type: 'search', query: 'sun', queries: ['sun'], sources: [{ type: 'url', url: page.url }] };
const partsOf = (answer: JsonObject, list: string) =>
  listOf(answer[list])
    .map(objectOf)
    .map(({ id: _, tool_use_id: __, ...rest }) => rest);

describe('a web search of a provider in an answer', () => {
  it('is an item for clients of responses, whichever provider made it', () => {
    const { id: _, ...expected } = item(sun);
    const claude = answered('anthropic-messages', 'openai-responses', message([call, result('s'), text]));
    assert.deepEqual(partsOf(claude, 'output')[0], expected);
    const grounding = {
      webSearchQueries: ['sun'],
      groundingChunks: [{ web: { uri: page.url, title: 'A' } }],
    };
    const content = { role: 'model', parts: [{ text: 'Sun.' }] };
    const google = { candidates: [{ content, finishReason: 'STOP', groundingMetadata: grounding }] };
    assert.deepEqual(partsOf(answered('gemini', 'openai-responses', google), 'output').at(-1), expected);
  });

  it('is a call and its result for clients of Claude’s format, without invented page content', () => {
    const answer = answered('openai-responses', 'anthropic-messages', response(item(sun)));
    const [searchCall, searchResult] = listOf(answer['content']).map(objectOf);
    assert.deepEqual(searchCall, { ...call, id: searchCall?.['id'] });
    assert.match(String(searchCall?.['id']), /^srvtoolu_[a-zA-Z0-9_]+$/);
    assert.deepEqual(searchResult, {
      type: 'web_search_tool_result',
      tool_use_id: searchCall?.['id'],
      content: [
        { type: 'web_search_result', url: page.url, title: page.url, encrypted_content: '', page_age: null },
      ],
    });
  });

  it('with several queries is one call each for clients of Claude’s format, with all results in the last one', () => {
    const several = { ...sun, query: 'sun; moon', queries: ['sun', 'moon'] };
    const answer = answered('openai-responses', 'anthropic-messages', response(item(several), item(sun)));
    const content = listOf(answer['content']).map(objectOf);
    const calls = content.filter(({ type }) => type === 'server_tool_use');
    assert.deepEqual(
      calls.map(({ input }) => objectOf(input)['query']),
      ['sun', 'moon', 'sun'],
    );
    assert.equal(new Set(calls.map(({ id }) => id)).size, 3);
    const results = content.filter(({ type }) => type === 'web_search_tool_result');
    assert.deepEqual(
      results.map(({ tool_use_id }) => tool_use_id),
      calls.map(({ id }) => id),
    );
    assert.deepEqual(
      results.map((one) => listOf(one['content']).length),
      [0, 1, 1],
    );
    assert.deepEqual(
      content.map(({ type }) => type === 'server_tool_use'),
      [true, false, true, false, true, false],
    );
    const failed = answered(
      'openai-responses',
      'anthropic-messages',
      response(item(several, { status: 'failed' })),
    );
    for (const one of listOf(failed['content'])
      .map(objectOf)
      .filter(({ type }) => type !== 'server_tool_use'))
      assert.equal(objectOf(one['content'])['error_code'], 'unavailable');
  });

  it('has the URL of a page that was opened, and an error if it failed', () => {
    const opened = item({ type: 'open_page', url: page.url });
    const failed = item({ type: 'search', query: 'sun' }, { status: 'failed' });
    const answer = answered('openai-responses', 'anthropic-messages', response(opened, failed));
    const [searchCall, searchResult, , error] = listOf(answer['content']).map(objectOf);
    assert.deepEqual(searchCall?.['input'], { query: page.url });
    assert.equal(objectOf(listOf(searchResult?.['content'])[0])['url'], page.url);
    assert.equal(objectOf(error?.['content'])['error_code'], 'unavailable');
  });

  it('is grounding metadata for clients of Gemini', () => {
    const answer = answered('openai-responses', 'gemini', response(item(sun)));
    const [candidate] = listOf(answer['candidates']).map(objectOf);
    assert.deepEqual(candidate?.['groundingMetadata'], {
      webSearchQueries: ['sun'],
      groundingChunks: [{ web: { uri: page.url } }],
      groundingSupports: [],
    });
  });

  it('is included even if its result is missing', () => {
    const answer = answered('anthropic-messages', 'openai-responses', message([call]));
    assert.deepEqual(objectOf(partsOf(answer, 'output')[0])['action'], { ...sun, sources: [] });
  });
});

describe('a web search of an earlier turn', () => {
  const history = { messages: [{ role: 'assistant', content: [call, result('sealed'), text] }] };

  it('is an item in a responses request', () => {
    const { body, dropped } = translatedTo('anthropic-messages', 'openai-responses', history);
    assert.deepEqual(listOf(body['input'])[0], {
      id: 'ws_1',
      type: 'web_search_call',
      status: 'completed',
      action: sun,
    });
    assert.deepEqual(dropped, []);
  });

  it('is text in a request that cannot express it, and reported', () => {
    for (const to of ['openai-chat', 'gemini', 'ollama', 'openai-completions'] as const) {
      const { body, dropped } = translatedTo('anthropic-messages', to, history);
      assert.match(JSON.stringify(body), /sun.*https:\/\/a\.test/, to);
      assert.doesNotMatch(JSON.stringify(body), /encrypted/, to);
      assert.deepEqual(dropped, ['server_tool_use', 'web_search_tool_result'], to);
    }
    const { body, dropped } = translatedTo('openai-responses', 'anthropic-messages', { input: [item(sun)] });
    assert.match(JSON.stringify(body['messages']), /sun.*https:\/\/a\.test/);
    assert.deepEqual(dropped, ['web_search_call']);
  });

  it('returns to the provider that made it through a client of another format', () => {
    const answer = answered('openai-responses', 'anthropic-messages', response(item(sun)));
    const messages = [{ role: 'assistant', content: answer['content'] }];
    const { body } = translatedTo('anthropic-messages', 'openai-responses', { messages });
    assert.deepEqual(objectOf(listOf(body['input'])[0])['action'], sun);
  });

  it('keeps its position among other blocks, and its own blocks in its own format', () => {
    const { decodeRequest, encodeRequest } = translating('anthropic-messages').conversation;
    const other = { ...call, id: 'srvtoolu_2' };
    const content = [text, call, result('s'), other];
    const read = decodeRequest({ model: 'm', messages: [{ role: 'assistant', content }] });
    assert.deepEqual(
      read.messages[0]?.parts.map(({ type }) => type),
      ['text', 'search', 'search'],
    );
    const { messages } = encodeRequest(read, plainDialect);
    assert.deepEqual(objectOf(listOf(messages).at(-1))['content'], content);
  });

  it('is text for Anthropic if another provider found the pages, which Anthropic refuses', () => {
    const citations = [{ type: 'web_search_result_location', url: page.url, encrypted_index: '' }];
    const request = {
      messages: [{ role: 'assistant', content: [call, result(''), { ...text, citations }] }],
    };
    const error = 'messages.1.content.1: Invalid `encrypted_content` in `search_result` block';
    const left = stripEncryptedReasoning('anthropic-messages', request, error);
    assert.equal(left?.name, 'web_search_tool_result');
    const content = listOf(objectOf(listOf(left?.request['messages'])[0])['content']).map(objectOf);
    assert.deepEqual(
      content.map(({ type }) => type),
      ['text', 'text', 'text'],
    );
    assert.deepEqual(content[2], text);
    assert.equal(stripEncryptedReasoning('anthropic-messages', left?.request ?? {}, error), null, 'once');
  });
});
