import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Message, Role, TaskState } from '@a2a-js/sdk';
import {
  type AgentExecutionEvent,
  DefaultExecutionEventBus,
  RequestContext,
  ResultManager,
  ServerCallContext,
} from '@a2a-js/sdk/server';
import { GatewayError } from '../lib/error.ts';
import { createExecutor } from './executor.ts';
import type { ChatMessage, Identity, Skill, SkillInput } from './skill.ts';
import { createTasks, textIn } from './tasks.ts';

const withKey: Identity = { owner: 'key key_1', key: 'sk-1', caller: null };

function opened(run: Skill['run'], identity = withKey) {
  const faults: unknown[] = [];
  const inputs: SkillInput[] = [];
  const tasks = createTasks();
  const skill: Skill = {
    needs: 'key',
    run(input) {
      inputs.push(input);
      return run(input);
    },
  };
  const executor = createExecutor({
    tasks,
    skills: {
      'ask-a-model': skill,
      explain: { ...skill, needs: 'caller' },
      report: { ...skill, needs: 'caller' },
    },
    identityOf: () => identity,
    onTask: (fault) => faults.push(fault),
  });
  /** Sends a message, and keeps what comes of it as the protocol's handler does. */
  const send = async (
    text: string,
    { contextId = 'c1', metadata }: { contextId?: string; metadata?: object } = {},
  ) => {
    const taskId = `t${inputs.length}-${faults.length}`;
    const message: Message = {
      messageId: taskId,
      contextId,
      taskId,
      role: Role.ROLE_USER,
      parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }],
      metadata,
      extensions: [],
      referenceTaskIds: [],
    };
    const context = new ServerCallContext({ user: { isAuthenticated: true, userName: identity.owner } });
    const results = new ResultManager(tasks, context);
    results.setContext(message);
    const bus = new DefaultExecutionEventBus();
    const events: AgentExecutionEvent[] = [];
    bus.on('event', (event) => events.push(event));
    const request = new RequestContext({ message } as never, taskId, contextId, context);
    const done = executor.execute(request, bus);
    return {
      taskId,
      done: done.then(async () => {
        for (const event of events) await results.processEvent(event);
        return { task: await tasks.load(taskId, context), events };
      }),
    };
  };
  return { executor, faults, inputs, send, tasks };
}

async function* saying(...texts: string[]) {
  for (const text of texts) yield { kind: 'text', text } as const;
}

const stateOf = (task: { status?: { state: TaskState } | undefined } | undefined) => task?.status?.state;

describe('a task of the A2A server', () => {
  it('has the answer in one artifact, whatever pieces it came in', async () => {
    const { faults, send } = opened(() => saying('a', 'b', 'c'));
    const { events, task } = await (await send('hello')).done;
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['task', 'statusUpdate', 'artifactUpdate', 'artifactUpdate', 'artifactUpdate', 'statusUpdate'],
    );
    assert.equal(stateOf(task), TaskState.TASK_STATE_COMPLETED);
    assert.deepEqual([task?.artifacts.length, task?.artifacts[0]?.parts.length], [1, 1]);
    assert.equal(textIn(task?.artifacts[0]), 'abc');
    assert.deepEqual(faults, [null]);
  });

  it('continues the conversation of its context, and of no other', async () => {
    const { inputs, send } = opened(() => saying('fine'));
    await (await send('how are you?')).done;
    await (await send('and now?')).done;
    await (await send('who?', { contextId: 'c2' })).done;
    const messages: ChatMessage[] = [
      { role: 'user', text: 'how are you?' },
      { role: 'assistant', text: 'fine' },
    ];
    assert.deepEqual(
      inputs.map(({ history }) => history),
      [[], messages, []],
    );
  });

  it('ends when it is canceled', async () => {
    const begun = Promise.withResolvers<void>();
    const { executor, faults, send } = opened(async function* ({ signal }) {
      yield* saying('a');
      begun.resolve();
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const { done, taskId } = await send('hello');
    await begun.promise;
    await executor.cancelTask(taskId, new DefaultExecutionEventBus());
    assert.equal(stateOf((await done).task), TaskState.TASK_STATE_CANCELED);
    assert.deepEqual(faults, [null]);
  });

  it('fails with a message that reveals nothing internal', async () => {
    const secret = new TypeError('planted in /a/secret/place');
    for (const [thrown, text, fault] of [
      [
        new GatewayError('model_not_found', 'There is no model x'),
        'model_not_found: There is no model x',
        null,
      ],
      [secret, 'internal_error: the log of the gateway has the cause', secret],
    ] as const) {
      const { faults, send } = opened(() => {
        throw thrown;
      });
      const { task } = await (await send('hello')).done;
      assert.equal(stateOf(task), TaskState.TASK_STATE_FAILED);
      assert.equal(textIn(task?.status?.message), text);
      assert.deepEqual(faults, [fault]);
    }
  });

  it('runs the skill that it names, or the default skill of the login', async () => {
    const { inputs, send } = opened(() => saying('fine'));
    for (const [metadata, refusal] of [
      [{ skill: 'report' }, /^forbidden: The skill report needs a login/],
      [{ skill: 'other' }, /^invalid_request: metadata.skill/],
    ] as const) {
      const { task } = await (await send('hello', { metadata })).done;
      assert.match(textIn(task?.status?.message), refusal);
    }
    assert.deepEqual(inputs, []);
    const { task } = await (await send('   ')).done;
    assert.match(textIn(task?.status?.message), /has no text/);
  });

  it('is refused beyond sixty-four at once', async () => {
    const end = Promise.withResolvers<void>();
    const { executor, inputs, send } = opened(async function* () {
      await end.promise;
      yield* saying('fine');
    });
    const many = [];
    for (let count = 0; count < 64; count += 1) many.push(await send(`${count}`));
    assert.equal(inputs.length, 64);
    const { task } = await (await send('one more')).done;
    assert.match(textIn(task?.status?.message), /^rate_limit_exceeded/);
    executor.cancelAll();
    end.resolve();
    await Promise.all(many.map(({ done }) => done));
  });
});

describe('the stored tasks', () => {
  it('are visible to their owner alone, and bounded in number', async () => {
    const tasks = createTasks();
    const as = (userName: string) => new ServerCallContext({ user: { isAuthenticated: true, userName } });
    const task = (id: string) => ({
      id,
      contextId: 'c',
      status: { state: TaskState.TASK_STATE_COMPLETED, message: undefined, timestamp: undefined },
      artifacts: [],
      history: [],
      metadata: undefined,
    });
    for (let count = 0; count < 60; count += 1) await tasks.save(task(`a${count}`), as('a'));
    await tasks.save(task('b0'), as('b'));
    assert.equal(await tasks.load('a0', as('a')), undefined);
    assert.equal((await tasks.load('a59', as('a')))?.id, 'a59');
    assert.equal(await tasks.load('a59', as('b')), undefined);
    const query = {
      tenant: '',
      contextId: '',
      status: 0,
      pageToken: '',
      statusTimestampAfter: undefined,
      pageSize: 20,
    };
    const first = await tasks.list(query, as('a'));
    assert.deepEqual([first.totalSize, first.tasks[0]?.id, first.nextPageToken], [50, 'a59', '20']);
    const last = await tasks.list({ ...query, pageToken: '40' }, as('a'));
    assert.deepEqual([last.tasks.length, last.tasks.at(-1)?.id, last.nextPageToken], [10, 'a10', '']);
    assert.equal((await tasks.list(query, as('b'))).totalSize, 1);
  });
});
