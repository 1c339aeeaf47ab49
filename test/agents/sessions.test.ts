import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import {
  askFake,
  type FakeAgentsInput,
  fakeSetup,
  openFakeAgents,
  steps,
  testTimers,
} from '../support/agents/agents.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { temporaryFolder } from '../support/machine/folder.ts';

const root = temporaryFolder({ after });
let opened = 0;

function agentsFor(input: Omit<FakeAgentsInput, 'folder'>) {
  opened += 1;
  const timers = testTimers();
  const folder = join(root, String(opened));
  const agents = openFakeAgents({ ...input, folder }, timers);
  after(() => agents.close());
  return { agents, timers, folder };
}

const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });
const system = (content: string) => ({ role: 'system', content });

describe('a conversation with an agent', () => {
  it('continues in its session, which receives only the new turn', async () => {
    const { agents } = agentsFor({ setups: fakeSetup() });
    const first = await askFake(agents, { messages: [system('be kind'), user('one')] });
    assert.match(first.text, /turn 1 .*<<<instructions>\nbe kind\n<\/instructions>\none>>/s);
    // Clients trim what they send back.
    const messages = [system('be kind'), user('one'), assistant(`${first.text} \n`), user('two')];
    const second = await askFake(agents, { messages });
    assert.equal(second.text, 'turn 2 model null prompt <<two>>');
    const third = await askFake(agents, { messages: [...messages, assistant(second.text), user('three')] });
    assert.equal(third.text, 'turn 3 model null prompt <<three>>');
    assert.equal(agents.status('fake').processes.length, 1);
  });

  it('starts a new session with the whole history when the client’s history differs', async () => {
    const { agents } = agentsFor({ setups: fakeSetup() });
    const first = await askFake(agents, { messages: [user('one')] });
    const other = await askFake(agents, {
      messages: [user('one'), assistant('I never said this'), user('two')],
    });
    assert.match(
      other.text,
      /^turn 1 .*\[user]\none\n\n\[assistant]\nI never said this\n<\/conversation_so_far>\ntwo>>$/s,
    );
    const going = await askFake(agents, { messages: [user('one'), assistant(first.text), user('two')] });
    assert.match(going.text, /^turn 2 /);
    const again = await askFake(agents, {
      messages: [user('one'), assistant(first.text), user('two, differently')],
    });
    assert.match(again.text, /^turn 1 /, 'its session has heard another second turn already');
  });

  it('is recognized by the name of its session, whatever happened to the answers', async () => {
    const { agents } = agentsFor({ setups: fakeSetup() });
    const session = 'header:abc';
    await askFake(agents, { session, messages: [system('today is monday'), user('one')] });
    const messages = [system('today is tuesday'), user('one'), assistant('shortened'), user('two')];
    const other = await askFake(agents, { session: 'header:other', messages });
    assert.match(other.text, /^turn 1 /);
    const second = await askFake(agents, { session, messages });
    assert.equal(second.text, 'turn 2 model null prompt <<two>>');
  });

  it('is never that of another key or another model', async () => {
    const setup = fakeSetup([], { model: { by: 'set_model' } });
    const { agents } = agentsFor({ setups: setup });
    const first = await askFake(agents, { session: 'header:s', messages: [user('one')] });
    const messages = [user('one'), assistant(first.text), user('two')];
    const stranger = await askFake(agents, { session: 'header:s', messages, owner: 'key2' });
    assert.match(stranger.text, /^turn 1 /);
    assert.equal(agents.status('fake').processes.length, 2, 'nor does it share a process');
    const model = await askFake(agents, { session: 'header:s', messages, model: 'fake/large' });
    assert.match(model.text, /^turn 1 model large /);
    const own = await askFake(agents, { session: 'header:s', messages });
    assert.match(own.text, /^turn 2 /);
  });

  it('is loaded by another process if the agent can, and sent again if it cannot', async () => {
    for (const [args, expected] of [
      [['--load'], /^turn 101 model null prompt <<two>>$/],
      [[], /^turn 1 .*conversation_so_far.*two>>$/s],
    ] as const) {
      const { agents, timers } = agentsFor({ setups: fakeSetup(args) });
      const first = await askFake(agents, { messages: [user('one')] });
      assert.equal(timers.fire(300_000), 1, 'its process is ended when it is idle');
      await waitFor('its end', () => agents.status('fake').processes.length === 0);
      assert.equal(agents.status('fake').failures, 0);
      const second = await askFake(agents, { messages: [user('one'), assistant(first.text), user('two')] });
      assert.match(second.text, expected);
    }
  });

  it('has a folder of its own, which nobody else may read and which goes with it', async () => {
    const { agents, folder } = agentsFor({
      setups: fakeSetup([], { home: 'session' }),
      limits: { sessions: 1 },
    });
    const where = async (text: string) => {
      const answer = await askFake(agents, {
        messages: [user(text), steps({ cwd: true }, { environment: ['HOME'] })],
      });
      const [cwd, home] = answer.text.split('[');
      return { cwd: JSON.parse(cwd ?? '').session as string, home: JSON.parse(`[${home}`)[0] as string };
    };
    const first = await where('a');
    assert.ok(first.cwd.startsWith(folder), first.cwd);
    assert.ok(first.home.startsWith(folder), first.home);
    assert.notEqual(first.cwd, first.home);
    if (process.platform !== 'win32') assert.equal(statSync(first.cwd).mode & 0o777, 0o700);
    const second = await where('b');
    assert.notEqual(first.cwd, second.cwd);
    assert.notEqual(first.home, second.home);
    await waitFor('the end of the first folder', () => !existsSync(first.cwd));
    await agents.close();
    await waitFor('the end of all folders', () => readdirSync(join(folder, 'fake')).length === 0);
  });

  it('gets the files that point its agent at this gateway', async () => {
    const setup = fakeSetup([], {
      routed: { files: { '.fake/config.json': '{"a":1}' }, env: { FAKE_URL: 'http://here' } },
    });
    const { agents } = agentsFor({ setups: setup });
    const answer = await askFake(agents, { messages: [steps({ environment: ['HOME', 'FAKE_URL'] })] });
    const [home, url] = JSON.parse(answer.text) as string[];
    assert.equal(url, 'http://here');
    assert.ok(existsSync(join(home ?? '', '.fake/config.json')));
  });
});

describe('the processes of agents', () => {
  const hanging = (agents: ReturnType<typeof agentsFor>['agents'], owner = 'key1', model = 'fake') => {
    const left = new AbortController();
    const begun = Promise.withResolvers<void>();
    const done = askFake(agents, {
      owner,
      model,
      signal: left.signal,
      messages: [steps({ say: 'begun' }, { hang: true })],
      onData: (soFar) => {
        if (soFar.includes('begun')) begun.resolve();
      },
    });
    return { begun: begun.promise, done, leave: () => left.abort() };
  };

  it('are limited; further requests wait, and some are refused', async () => {
    const { agents, timers } = agentsFor({
      setups: fakeSetup([], { maxProcesses: 2 }),
      limits: { waiting: 2 },
    });
    const busy = [hanging(agents), hanging(agents)];
    await Promise.all(busy.map(({ begun }) => begun));
    assert.equal(agents.status('fake').processes.length, 2);
    const waiting = askFake(agents, { messages: [user('patient')] });
    const impatient = askFake(agents, { messages: [user('impatient')] });
    await waitFor('two that wait', () => agents.status('fake').waiting === 2);
    const refused = await askFake(agents);
    assert.equal(refused.error?.code, 'agent_busy');
    assert.equal(refused.error?.status, 429);
    assert.ok((refused.error?.retryAfter ?? 0) > 0);
    assert.match(refused.error?.message ?? '', /the queue is full/);
    busy[0]?.leave();
    assert.match((await waiting).text, /patient/);
    assert.match((await impatient).text, /impatient/);
    const late = hanging(agents);
    await late.begun;
    const expired = askFake(agents);
    await waitFor('one that waits', () => agents.status('fake').waiting === 1);
    assert.equal(timers.fire(60_000), 1);
    assert.match((await expired).error?.message ?? '', /none was free within 60 s/);
    busy[1]?.leave();
    late.leave();
  });

  it('of all agents together are limited: an idle one makes room', async () => {
    const { agents } = agentsFor({
      setups: [fakeSetup(), fakeSetup([], { id: 'other' })],
      limits: { processes: 1 },
    });
    await askFake(agents);
    assert.equal(agents.status('fake').processes.length, 1);
    assert.equal((await askFake(agents, { model: 'other' })).error, null);
    assert.equal(agents.status('fake').processes.length, 0);
    assert.equal(agents.status('other').processes.length, 1);
    // That of another key is no use to this one.
    assert.equal((await askFake(agents, { model: 'other', owner: 'key2' })).error, null);
    assert.equal(agents.status('other').processes.length, 1);
  });

  it('answer one request at a time: the next message of a busy conversation does not wait for it', async () => {
    const { agents } = agentsFor({ setups: fakeSetup() });
    const first = await askFake(agents, { messages: [user('one')] });
    const messages = [user('one'), assistant(first.text)];
    const busy = hanging(agents);
    await busy.begun;
    assert.equal(agents.status('fake').processes.length, 1);
    const second = await askFake(agents, { messages: [...messages, user('two')] });
    assert.match(second.text, /^turn 1 .*conversation_so_far/s);
    assert.equal(agents.status('fake').processes.length, 2);
    busy.leave();
    await waitFor('an idle process', () =>
      agents.status('fake').processes.every(({ state }) => state === 'idle'),
    );
    assert.match((await askFake(agents, { messages: [...messages, user('later')] })).text, /^turn 2 /);
  });

  it('end with the gateway, also those that are starting', async () => {
    const { agents } = agentsFor({
      setups: fakeSetup(['--at', 'initialize=hang', '--stay']),
      times: { graceMs: 50 },
    });
    const answer = askFake(agents);
    await waitFor('a start', () => agents.status('fake').processes.length === 1);
    await agents.close();
    assert.notEqual((await answer).error, null);
    assert.equal(agents.status('fake').processes.length, 0);
    assert.equal((await askFake(agents)).error?.code, 'shutting_down');
  });

  it('are tested by a question of the gateway’s own', async () => {
    const { agents } = agentsFor({ setups: fakeSetup() });
    const test = await agents.test('fake');
    assert.match(test.answer, /^turn 1 model null prompt <<Answer with the single word/);
    assert.equal(test.agent, 'fake 1.2.3');
    assert.ok(test.answeredMs >= test.startedMs);
    await assert.rejects(agents.test('nobody'), { code: 'model_not_found' });
  });
});
