import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GatewayError } from '../../../lib/error.ts';
import { compactionItem, summaryIn } from './compaction.ts';
import { decodeRequest } from './decode.ts';

const userMessage = (text: string) => ({ type: 'message', role: 'user', content: text });

describe('a compaction item', () => {
  it('contains its summary, whatever characters it has', () => {
    for (const summary of ['So far: naïve 🙂\n- one', '', 'x'.repeat(100_000)])
      assert.equal(summaryIn(compactionItem('cmp_1', summary)), summary);
  });

  it('of another vendor has no readable summary', () => {
    for (const item of [
      { type: 'compaction', encrypted_content: 'gAAAAABsealed' },
      { type: 'compaction', encrypted_content: 7 },
      { type: 'compaction' },
      { type: 'reasoning', encrypted_content: compactionItem('cmp_1', 'x')['encrypted_content'] },
    ])
      assert.equal(summaryIn(item), null);
  });

  it('is read as text of the user, in its place', () => {
    const { messages, system } = decodeRequest({
      model: 'm',
      input: [userMessage('one'), compactionItem('cmp_1', 'They greeted.'), userMessage('two')],
    });
    assert.deepEqual(system, []);
    assert.equal(messages.length, 1);
    const texts = messages[0]?.parts.map((part) => (part.type === 'text' ? part.text : part.type)) ?? [];
    assert.equal(texts.length, 3);
    assert.match(texts[1] ?? '', /^Summary of the earlier conversation.*\n\nThey greeted\.$/s);
  });

  it('with damaged content is ignored', () => {
    for (const content of ['mgc1.', 'mgc1.%%%', 'mgc1.////', `mgc1.${'_'.repeat(999)}`]) {
      const input = [{ type: 'compaction', encrypted_content: content }];
      assert.doesNotThrow(() => {
        try {
          decodeRequest({ model: 'm', input });
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error;
        }
      });
    }
  });
});
