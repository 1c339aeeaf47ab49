import {
  type Artifact,
  type Message,
  type Part,
  Role,
  type Task,
  TaskState,
  type TaskStatus,
} from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { GatewayError } from '../lib/error.ts';
import { newId } from '../lib/id.ts';
import { chooseSkill } from './choose-skill.ts';
import type { Identity, Skill, SkillId, SkillOutput } from './skill.ts';
import { type Tasks, textIn } from './tasks.ts';

export interface ExecutorInput {
  skills: Readonly<Record<SkillId, Skill>>;
  tasks: Tasks;
  /** Who a request is from. */
  identityOf(context: RequestContext): Identity;
  /** Told of each task that ended. @param fault what was the gateway's own fault; null for none */
  onTask(fault: unknown): void;
}

export interface Executor extends AgentExecutor {
  /** Ends all tasks that are under way. */
  cancelAll(): void;
}

/** Tasks at the same time; a client that leaves does not end its task. */
const MAX_RUNNING = 64;
/** How long a task may take. */
const MAX_TASK_MS = 10 * 60_000;

/** Turns each message into a task: the answer comes as an artifact, in pieces while it is made. */
export function createExecutor({ onTask, identityOf, skills, tasks }: ExecutorInput): Executor {
  const running = new Map<string, AbortController>();

  const carryOut = async (request: RequestContext, bus: ExecutionEventBus, signal: AbortSignal) => {
    const { contextId, taskId, userMessage } = request;
    const identity = identityOf(request);
    const text = textIn(userMessage);
    const metadata = userMessage.metadata ?? {};
    const skill = chooseSkill(skills, { identity, metadata, text });
    if (text.trim() === '') throw new GatewayError('invalid_request', 'The message has no text');
    const history = tasks.conversation(identity.owner, contextId);
    let pieces = 0;
    for await (const output of skill.run({ text, metadata, identity, history, signal })) {
      const update = { taskId, contextId, artifact: artifactOf(taskId, output), metadata: undefined };
      bus.publish(AgentEvent.artifactUpdate({ ...update, append: pieces > 0, lastChunk: false }));
      pieces += 1;
    }
  };
  return {
    async execute(request, bus) {
      const { contextId, taskId, userMessage } = request;
      if (running.has(taskId)) {
        bus.publish(
          AgentEvent.message(agentMessage(request, 'This task is still under way: wait for its end')),
        );
        return;
      }
      const publish = (state: TaskState, text: string | null) => {
        const status = statusOf(state, text === null ? undefined : agentMessage(request, text));
        bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
      };
      const canceled = new AbortController();
      bus.publish(AgentEvent.task(taskOf(request, userMessage)));
      try {
        if (running.size >= MAX_RUNNING)
          throw new GatewayError('rate_limit_exceeded', 'Too many tasks are under way: try again later');
        running.set(taskId, canceled);
        const signal = AbortSignal.any([canceled.signal, AbortSignal.timeout(MAX_TASK_MS)]);
        publish(TaskState.TASK_STATE_WORKING, null);
        await carryOut(request, bus, signal);
        onTask(null);
        publish(TaskState.TASK_STATE_COMPLETED, null);
      } catch (error) {
        if (canceled.signal.aborted) {
          onTask(null);
          publish(TaskState.TASK_STATE_CANCELED, null);
        } else {
          const isGatewayError = error instanceof GatewayError && error.code !== 'internal_error';
          onTask(isGatewayError ? null : error);
          const message = isGatewayError
            ? `${error.code}: ${error.message}`
            : 'internal_error: the log of the gateway has the cause';
          publish(TaskState.TASK_STATE_FAILED, message);
        }
      } finally {
        if (running.get(taskId) === canceled) running.delete(taskId);
      }
    },
    async cancelTask(taskId) {
      running.get(taskId)?.abort();
    },
    cancelAll() {
      for (const controller of running.values()) controller.abort();
    },
  };
}

function taskOf({ contextId, taskId }: RequestContext, message: Message): Task {
  return {
    id: taskId,
    contextId,
    status: statusOf(TaskState.TASK_STATE_SUBMITTED, undefined),
    artifacts: [],
    history: [message],
    metadata: undefined,
  };
}

function statusOf(state: TaskState, message: Message | undefined): TaskStatus {
  return { state, message, timestamp: new Date().toISOString() };
}

function agentMessage({ contextId, taskId }: RequestContext, text: string): Message {
  return {
    messageId: newId('msg'),
    contextId,
    taskId,
    role: Role.ROLE_AGENT,
    parts: [textPart(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function artifactOf(taskId: string, output: SkillOutput): Artifact {
  return {
    artifactId: `${taskId}-answer`,
    name: 'answer',
    description: '',
    parts: [partOf(output)],
    metadata: undefined,
    extensions: [],
  };
}

function partOf(output: SkillOutput): Part {
  switch (output.kind) {
    case 'text':
      return textPart(output.text);
    case 'data':
      return {
        content: { $case: 'data', value: output.data },
        metadata: undefined,
        filename: '',
        mediaType: 'application/json',
      };
  }
}

function textPart(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' };
}
