import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { initialized, openedSession } from './schema.ts';

describe('what agents answer', () => {
  it('is read even from agents that declare few capabilities', () => {
    // Qwen Code 0.24.4 and Droid 0.215.0: no session can be closed.
    const answer = {
      protocolVersion: 1,
      agentInfo: { name: 'qwen-code', title: 'Qwen Code', version: '0.24.4' },
      authMethods: [{ id: 'openai', name: 'Use OpenAI API key' }],
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: true, embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {} },
        mcpCapabilities: { sse: true, http: true },
      },
    };
    assert.equal(initialized.parse(answer).agentInfo?.name, 'qwen-code');
    assert.deepEqual(
      openedSession.parse({ sessionId: 's', configOptions: [{ id: 'model', category: 'model' }] })
        .configOptions,
      [{ id: 'model', category: 'model' }],
    );
  });
});
