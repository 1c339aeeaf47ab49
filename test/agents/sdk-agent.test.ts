import assert from 'node:assert/strict';
import { join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import { askFake, fakeSetup, openFakeAgents, testTimers } from '../support/agents/agents.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { temporaryFolder } from '../support/machine/folder.ts';

describe('an agent made with the SDK of the protocol', () => {
  const program = resolve(import.meta.dirname, '../support/agents/sdk-agent.ts');
  const setup = fakeSetup([], {
    args: [program],
    permissions: ['execute'],
    model: { by: 'config_option' },
    defaultModel: 'large',
  });
  const agents = openFakeAgents(
    { folder: join(temporaryFolder({ after }), 'agents'), setups: setup },
    testTimers(),
  );
  after(() => agents.close());

  it('understands everything that the gateway sends it', async () => {
    const answer = await askFake(agents, { messages: [{ role: 'user', content: 'hello' }] });
    assert.equal(answer.error, null);
    assert.equal(answer.text, 'hello {"outcome":"selected","optionId":"yes"} from the terminal\n');
    assert.equal(answer.finish, 'stop');
  });

  it('ends its turn when the client leaves, and its session is closed', async () => {
    const left = await askFake(agents, {
      messages: [{ role: 'user', content: 'wait' }],
      onData: (soFar, abort) => {
        if (soFar.includes('waiting')) abort();
      },
    });
    assert.equal(left.text, 'waiting');
    await waitFor('an idle process', () => agents.status('fake').processes[0]?.state === 'idle');
    assert.equal(agents.status('fake').failures, 0);
  });
});
