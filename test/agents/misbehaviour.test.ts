import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Agents } from '../../src/agents/open.ts';
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

/** Agents of their own for one test, whose timers it lets run out by hand. */
function agentsFor(input: Omit<FakeAgentsInput, 'folder'>) {
  opened += 1;
  const timers = testTimers();
  const agents = openFakeAgents({ ...input, folder: join(root, String(opened)) }, timers);
  after(() => agents.close());
  return { agents, timers };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const gone = (agents: Agents) => waitFor('no process', () => agents.status('fake').processes.length === 0);

describe('an agent that hangs', () => {
  for (const method of ['initialize', 'session/new', 'authenticate'])
    it(`at ${method} is ended after its time to start`, async () => {
      const login = method === 'authenticate';
      const setup = fakeSetup(
        ['--at', `${method}=hang`, ...(login ? ['--auth', 'key'] : [])],
        login ? { authMethod: 'key' } : {},
      );
      const { agents, timers } = agentsFor({ setups: setup });
      const answer = askFake(agents);
      // One answer before it may call off a timer; the last one stays.
      let ended = false;
      void answer.then(() => {
        ended = true;
      });
      await waitFor('the end', () => {
        const [process] = agents.status('fake').processes;
        // The time that runs out is that of this step, not of one before.
        if (process && (method === 'initialize' || process.pid !== null)) timers.fire(setup.startTimeoutMs);
        return ended;
      });
      assert.equal((await answer).error?.code, 'upstream_timeout');
      await gone(agents);
    });

  it('in a turn is told to stop when the client leaves, and ended when it does not', async () => {
    const { agents, timers } = agentsFor({ setups: fakeSetup(['--ignore-cancel']) });
    let pid = 0;
    const answer = await askFake(agents, {
      messages: [steps({ say: 'begun' }, { hang: true })],
      onData(soFar, abort) {
        if (!soFar.includes('begun')) return;
        pid = agents.status('fake').processes[0]?.pid ?? 0;
        abort();
      },
    });
    assert.equal(answer.text, 'begun');
    assert.ok(isAlive(pid));
    assert.equal(timers.fire(10_000), 1, 'the time for stopping runs');
    await waitFor('the end of the process', () => !isAlive(pid));
    await waitFor('the failure', () => agents.status('fake').failures === 1);
    assert.match(agents.status('fake').error?.message ?? '', /continued after it was asked to stop/);
  });

  it('on SIGTERM is killed, with what it started', async () => {
    const { agents } = agentsFor({ setups: fakeSetup(['--stay']), times: { graceMs: 50 } });
    const answer = await askFake(agents, { messages: [steps({ child: true })] });
    const child = Number(answer.text);
    const pid = agents.status('fake').processes[0]?.pid ?? 0;
    assert.ok(isAlive(child) && isAlive(pid));
    await agents.stop('fake');
    await waitFor('the end of both', () => !isAlive(child) && !isAlive(pid));
    assert.equal((await askFake(agents)).error?.code, 'connection_unusable');
    agents.start('fake');
    assert.match((await askFake(agents)).text, /turn 1/);
  });
});

describe('an agent that ends by itself', () => {
  for (const method of ['initialize', 'session/new', 'session/prompt'])
    it(`at ${method} is a failure of the upstream`, async () => {
      const { agents } = agentsFor({ setups: fakeSetup(['--at', `${method}=crash`]) });
      const { error } = await askFake(agents);
      assert.equal(error?.code, 'agent_failed');
      assert.match(error?.message ?? '', /ended with exit code 7/);
      await gone(agents);
      const { error: last, failures, output } = agents.status('fake');
      assert.equal(failures, 1);
      assert.match(last?.message ?? '', /exit code 7/);
      if (method === 'session/prompt') assert.ok(output.includes(`crashing at ${method}`));
    });

  it('in the middle of an answer breaks it off, and leaves no child behind', async () => {
    const { agents } = agentsFor({ setups: fakeSetup() });
    const answer = await askFake(agents, { messages: [steps({ child: true }, { crash: 3 })] });
    assert.equal(answer.error?.code, 'agent_failed');
    assert.equal(answer.finish, null);
    const child = Number(answer.text);
    await waitFor('the end of the child', () => !isAlive(child));
  });

  it('is not installed: the error names its program', async () => {
    const { agents } = agentsFor({ setups: fakeSetup([], { binary: 'no-such-agent-program' }) });
    assert.match((await askFake(agents)).error?.message ?? '', /its program was not found/);
  });

  it('is started again after a pause that grows, and at once after a good turn', async () => {
    let now = 1_000_000;
    const { agents } = agentsFor({ setups: fakeSetup(), now: () => now });
    const crash = () => askFake(agents, { messages: [steps({ crash: 1 })] });
    for (const pause of [1000, 2000, 4000]) {
      assert.equal((await crash()).error?.code, 'agent_failed');
      await waitFor('the failure', () => agents.status('fake').pauseMs > 0);
      assert.equal(agents.status('fake').pauseMs, pause);
      const refused = await askFake(agents);
      assert.equal(refused.error?.code, 'agent_failed');
      assert.equal(refused.error?.retryAfter, pause / 1000);
      now += pause;
    }
    assert.equal((await askFake(agents)).error, null);
    await crash();
    await waitFor('the failure', () => agents.status('fake').pauseMs > 0);
    assert.equal(agents.status('fake').pauseMs, 1000);
    await agents.restart('fake');
    assert.equal((await askFake(agents)).error, null);
  });
});

describe('an agent that breaks the protocol', () => {
  it('by another version is refused', async () => {
    const { agents } = agentsFor({ setups: fakeSetup(['--protocol', '2']) });
    assert.match((await askFake(agents)).error?.message ?? '', /speaks version 2 .* the gateway version 1/);
    await gone(agents);
  });

  for (const method of ['initialize', 'session/new', 'session/prompt'])
    it(`by an answer to ${method} that cannot be read is refused`, async () => {
      const { agents } = agentsFor({ setups: fakeSetup(['--at', `${method}=nonsense`]) });
      const { error } = await askFake(agents);
      assert.equal(error?.code, 'agent_failed');
      assert.match(error?.message ?? '', method === 'session/new' ? /without an id/ : /cannot be read/);
    });

  it('by a line without end is cut off', async () => {
    const { agents } = agentsFor({ setups: fakeSetup(), connectionLimits: { messageBytes: 100_000 } });
    const { error } = await askFake(agents, { messages: [steps({ bigLine: 200_000 }, { hang: true })] });
    assert.match(error?.message ?? '', /a line is longer than 100000 bytes/);
    await gone(agents);
  });

  it('by closing its output and staying alive is ended', async () => {
    const { agents, timers } = agentsFor({ setups: fakeSetup() });
    const answer = askFake(agents, {
      messages: [steps({ say: 'a' }, { closeOutput: true }, { hang: true })],
    });
    await waitFor('the end of its output', () => timers.fire(1000) === 1);
    assert.match((await answer).error?.message ?? '', /it closed its output/);
  });

  it('by nothing but noise is cut off', async () => {
    const { agents } = agentsFor({ setups: fakeSetup(), connectionLimits: { strayBytes: 10_000 } });
    const noise = Array.from({ length: 20 }, () => ({ line: 'z'.repeat(1000) }));
    const { error } = await askFake(agents, { messages: [steps(...noise, { hang: true })] });
    assert.match(error?.message ?? '', /something other than messages/);
  });

  it('by an answer without end is cut off', async () => {
    const { agents } = agentsFor({ setups: fakeSetup(), connectionLimits: { turnBytes: 500_000 } });
    const answer = await askFake(agents, { messages: [steps({ flood: 2_000_000 })] });
    assert.match(answer.error?.message ?? '', /more than 500000 bytes/);
    assert.ok(answer.text.length <= 500_000);
    await gone(agents);
  });

  it('waits while the client does not read', async () => {
    const { agents } = agentsFor({ setups: fakeSetup() });
    let held = 0;
    let paused = false;
    const answer = askFake(agents, {
      messages: [steps({ flood: 3_000_000 })],
      onData(soFar, _, pause, resume) {
        held = soFar.length;
        if (paused) return;
        paused = true;
        pause();
        // A turn of the event loop and more: what was read already comes, and then nothing.
        setTimeout(resume, 200);
      },
    });
    await waitFor('the pause', () => paused);
    const atPause = held;
    assert.ok(atPause < 1_000_000, `${atPause} bytes came at once`);
    assert.equal((await answer).text.length, 3_000_000);
  });

  it('by an error names it, without what it was given in secret', async () => {
    const setup = fakeSetup([], { routed: { env: { MY_TOKEN: 'topsecretvalue' } } });
    const { agents } = agentsFor({ setups: setup });
    const { error } = await askFake(agents, {
      messages: [
        steps(
          { stderr: 'using topsecretvalue and sk-ant-abcdefgh1234' },
          { fail: { code: -32603, message: 'bad topsecretvalue' } },
        ),
      ],
    });
    assert.equal(error?.code, 'agent_failed');
    assert.match(error?.message ?? '', /answered "session\/prompt" with an error: bad \[redacted\]/);
    await waitFor('what it printed', () =>
      agents.status('fake').output.includes('using [redacted] and [redacted]'),
    );
  });
});

describe('an agent that wants a login', () => {
  it('is logged in by the method that is known for it', async () => {
    const { agents } = agentsFor({ setups: fakeSetup(['--auth', 'key'], { authMethod: 'key' }) });
    assert.match((await askFake(agents)).text, /turn 1/);
  });

  it('is reported when no method is known', async () => {
    const { agents } = agentsFor({ setups: fakeSetup(['--auth', 'key']) });
    assert.equal((await askFake(agents)).error?.code, 'login_required');
  });
});

describe('the model of an agent', () => {
  it('is set by method or by option, and must be one that it offers', async () => {
    const byMethod = fakeSetup(['--models', 'a,b'], { id: 'm', model: { by: 'set_model' } });
    const byOption = fakeSetup(['--options', 'a,b'], {
      id: 'o',
      model: { by: 'config_option' },
      defaultModel: 'b',
    });
    const byNothing = fakeSetup([], { id: 'n' });
    const byArgument = fakeSetup([], { id: 'g', model: { by: 'argument', args: ['--models', '{model}'] } });
    const { agents } = agentsFor({ setups: [byMethod, byOption, byNothing, byArgument] });
    assert.match((await askFake(agents, { model: 'm/b' })).text, /model b /);
    assert.match((await askFake(agents, { model: 'm/a' })).text, /model null /, 'it has that one already');
    assert.match((await askFake(agents, { model: 'o' })).text, /model b /);
    assert.match((await askFake(agents, { model: 'g/x' })).text, /turn 1/);
    const unknown = await askFake(agents, { model: 'm/c' });
    assert.equal(unknown.error?.code, 'model_not_found');
    assert.match(unknown.error?.message ?? '', /it offers a, b/);
    assert.equal((await askFake(agents, { model: 'n/a' })).error?.code, 'model_not_found');
    assert.equal((await askFake(agents, { model: 'nobody' })).error?.code, 'model_not_found');
  });
});
