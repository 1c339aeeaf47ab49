import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { translating } from '../../../test/support/formats/translating.ts';
import { GatewayError } from '../../lib/error.ts';
import { adapt } from '../adapt/adapt.ts';
import { emptyConversation, type FilePart, type Part } from '../model/conversation.ts';
import { plainDialect } from '../model/dialect.ts';
import type { WireFormat } from '../wire-format.ts';
import { isTextFile, textOfFile } from './text-file.ts';

const file = (mediaType: string, text: string, name?: string): FilePart => ({
  type: 'file',
  source: { kind: 'data', mediaType, base64: Buffer.from(text).toString('base64') },
  ...(name === undefined ? {} : { name }),
});

function encoded(to: WireFormat, parts: Part[]): string {
  const conversation = { ...emptyConversation('m'), messages: [{ role: 'user' as const, parts }] };
  const [from, target] = [translating('anthropic-messages'), translating(to)];
  const route = { from, to: target, dialect: plainDialect, owner: null, model: 'm' };
  const adapted = adapt(conversation, route);
  assert.deepEqual(adapted.dropped, []);
  return JSON.stringify(target.conversation.encodeRequest(adapted.conversation, plainDialect));
}

describe('a document', () => {
  it('is text with its name in formats without documents, if it is text', () => {
    const result: Part = {
      type: 'tool-result',
      callId: 'c',
      isError: false,
      kind: 'function',
      parts: [file('application/json', '{"a":"Zoë"}', 'a.json')],
    };
    const call: Part = { type: 'tool-call', id: 'c', name: 'f', input: '{}', kind: 'function' };
    assert.match(encoded('ollama', [file('text/markdown', '# Zoë', 'a.md')]), /"a\.md:\\n\\n# Zoë"/);
    assert.match(encoded('ollama', [call, result]), /a\.json:\\n\\n/);
    assert.match(encoded('openai-completions', [file('text/csv; charset=utf-8', 'a,b')]), /User:\\na,b/);
    assert.match(encoded('openai-chat', [file('text/plain', 'Zoë')]), /"content":"Zoë"/);
    assert.match(
      encoded('anthropic-messages', [file('application/json', '{}')]),
      /"type":"text","media_type":"text\/plain","data":"\{\}"/,
    );
  });

  it('is refused by the client’s name for it in formats without documents, if it is not text', () => {
    for (const part of [
      file('application/pdf', '%PDF'),
      file('', 'x'),
      { type: 'file' as const, source: { kind: 'url' as const, url: 'https://a.test/a.txt' } },
    ])
      assert.throws(
        () => encoded('ollama', [part]),
        (error) => error instanceof GatewayError && error.param === 'document',
      );
  });

  it('is text if its media type says so', () => {
    for (const type of ['text/x-python', 'application/xml', 'application/ld+json', 'APPLICATION/YAML'])
      assert.ok(isTextFile(file(type, 'a')), type);
    for (const type of [
      'application/pdf',
      'application/vnd.ms-excel',
      'image/svg+xml',
      'application/jsonx',
      '',
    ])
      assert.equal(isTextFile(file(type, 'a')), false, type);
    assert.equal(textOfFile({ type: 'file', source: { kind: 'text', text: 'a' }, name: 'n' }), 'n:\n\na');
    assert.equal(textOfFile(file('application/pdf', 'a')), null);
  });
});
