import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { embedEncryptedReasoning } from '../encrypted-reasoning/embed.ts';
import { plainDialect } from '../model/dialect.ts';
import { relayedHistory } from './relayed.ts';

const rules = { format: 'anthropic-messages', model: 'claude', dialect: plainDialect, refused: [] } as const;

function requestWith(signature: string): Buffer {
  const thought = { type: 'thinking', thinking: 'hm', signature };
  const answer = { role: 'assistant', content: [thought, { type: 'text', text: 'yes' }] };
  return Buffer.from(
    JSON.stringify({ model: 'claude', messages: [answer, { role: 'user', content: 'go on' }] }),
  );
}

function inPieces(bytes: Buffer, length: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += length) pieces.push(bytes.subarray(at, at + length));
  return pieces;
}

describe('the earlier turns of a relayed request', () => {
  const carried = embedEncryptedReasoning({ format: 'openai-responses', kind: 'encrypted', value: 'abc' });

  it('lose the encrypted reasoning of other vendors, however the bytes are split', () => {
    const request = requestWith(carried);
    for (const length of [1, 2, 3, 7, 31, 64, 100, request.length]) {
      const { body, dropped } = relayedHistory(inPieces(request, length), rules);
      assert.ok(!Buffer.concat(body).includes('thinking'), `in pieces of ${length}`);
      assert.deepEqual(dropped, ['reasoning']);
    }
  });

  it('stay the same bytes if their own vendor encrypted them', () => {
    const pieces = inPieces(requestWith('EqQBCkYIBRgC'), 7);
    assert.equal(relayedHistory(pieces, rules).body, pieces);
  });
});
