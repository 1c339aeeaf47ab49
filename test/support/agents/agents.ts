import type { IncomingHttpHeaders } from 'node:http';
import { resolve } from 'node:path';
import { type Agents, openAgents } from '../../../src/agents/open.ts';
import type { PoolLimits } from '../../../src/agents/pool/pool.ts';
import { connectionLimits } from '../../../src/agents/running.ts';
import type { ConnectionLimits, ConnectionTimes } from '../../../src/agents/session/connection.ts';
import { type AgentSetup, defaultSetup } from '../../../src/agents/setup.ts';
import type { GatewayError } from '../../../src/lib/error.ts';
import { splitFrames } from '../../../src/lib/streams/sse.ts';

const program = resolve(import.meta.dirname, 'fake-agent.ts');

/** The scripted agent, started with these arguments. */
export function fakeSetup(args: readonly string[] = [], changes: Partial<AgentSetup> = {}): AgentSetup {
  return {
    ...defaultSetup,
    id: 'fake',
    name: 'Fake',
    description: 'A scripted agent',
    docs: 'https://example.com',
    binary: process.execPath,
    args: [program, ...args],
    env: [],
    home: 'user',
    cwd: 'session',
    version: null,
    model: { by: 'none' },
    permissions: [],
    capabilities: { fs: true, terminal: true },
    startTimeoutMs: 60_000,
    enabled: true,
    ...changes,
  };
}

export interface FakeAgentsInput {
  folder: string;
  setups: AgentSetup | readonly AgentSetup[];
  limits?: Partial<PoolLimits>;
  connectionLimits?: Partial<ConnectionLimits>;
  times?: Partial<ConnectionTimes>;
  variables?: Readonly<Record<string, string>>;
  now?: () => number;
}

/** Timers that a test lets run out by hand, and those that run by themselves. */
export interface TestTimers {
  after(ms: number, run: () => void): () => void;
  /** Runs what waits for this many milliseconds, and says how many there were. */
  fire(ms: number): number;
}

export function testTimers(): TestTimers {
  const waiting = new Set<{ ms: number; run: () => void }>();
  return {
    after(ms, run) {
      const timer = { ms, run };
      waiting.add(timer);
      return () => waiting.delete(timer);
    },
    fire(ms) {
      const due = [...waiting].filter((timer) => timer.ms === ms);
      for (const timer of due) {
        waiting.delete(timer);
        timer.run();
      }
      return due.length;
    },
  };
}

export function openFakeAgents(input: FakeAgentsInput, timers: TestTimers): Agents {
  const { setups } = input;
  const all = Array.isArray(setups) ? (setups as readonly AgentSetup[]) : [setups as AgentSetup];
  const variables: Readonly<Record<string, string | undefined>> = { ...process.env, ...input.variables };
  return openAgents({
    setups: () => all,
    folder: input.folder,
    version: '0.0.0',
    limits: { processes: 8, waiting: 4, waitMs: 60_000, idleMs: 300_000, sessions: 16, ...input.limits },
    connectionLimits: { ...connectionLimits, ...input.connectionLimits },
    connectionTimes: { graceMs: 2_000, cancelMs: 10_000, ...input.times },
    locate: async ({ binary }) => binary,
    variable: (name) => variables[name],
    onChange: () => {},
    now: input.now ?? Date.now,
    after: timers.after,
  });
}

/** What the reader of an answer was told. */
export interface FakeAnswer {
  status: number | null;
  text: string;
  reasoning: string;
  finish: string | null;
  usage: Record<string, unknown> | null;
  error: GatewayError | null;
  dropped: readonly string[];
}

export interface AskInput {
  model?: string;
  messages?: readonly object[];
  owner?: string;
  session?: string | null;
  request?: object;
  /** Told of each piece of the answer; may leave. */
  onData?(soFar: string, abort: () => void, pause: () => void, resume: () => void): void;
  /** Ends the question early. */
  signal?: AbortSignal;
}

/** Steps for the scripted agent, as a user's message. */
export function steps(...all: readonly object[]): { role: 'user'; content: string } {
  return { role: 'user', content: JSON.stringify(all) };
}

/** Asks an agent with a streamed request of the chat format. */
export function askFake(agents: Agents, input: AskInput = {}): Promise<FakeAnswer> {
  const {
    messages = [{ role: 'user', content: 'hello' }],
    model = 'fake',
    owner = 'key1',
    session = null,
  } = input;
  const body = Buffer.from(
    JSON.stringify({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
      ...input.request,
    }),
  );
  const { promise, resolve: settle } = Promise.withResolvers<FakeAnswer>();
  const answer: FakeAnswer = {
    status: null,
    text: '',
    reasoning: '',
    finish: null,
    usage: null,
    error: null,
    dropped: [],
  };
  let raw = '';
  try {
    const asked = agents.ask({ model, owner, session, body });
    answer.dropped = [...asked.dropped, ...(asked.outputLimitField === null ? [] : [asked.outputLimitField])];
    asked.dispatch(
      { path: '/', method: 'POST' },
      {
        onRequestStart(controller) {
          input.signal?.addEventListener('abort', () => {
            controller.abort(new Error('left'));
            settle(read(answer, raw));
          });
        },
        onResponseStart(_, status, _headers: IncomingHttpHeaders) {
          answer.status = status;
        },
        onResponseData(controller, chunk) {
          raw += chunk.toString();
          input.onData?.(
            raw,
            () => {
              controller.abort(new Error('left'));
              settle(read(answer, raw));
            },
            () => controller.pause(),
            () => controller.resume(),
          );
        },
        onResponseEnd: () => settle(read(answer, raw)),
        onResponseError(_, error) {
          answer.error = error as GatewayError;
          settle(read(answer, raw));
        },
      },
    );
  } catch (error) {
    answer.error = error as GatewayError;
    settle(answer);
  }
  return promise;
}

interface Chunk {
  choices?: { delta?: { content?: string; reasoning_content?: string }; finish_reason?: string | null }[];
  usage?: Record<string, unknown> | null;
}

function read(answer: FakeAnswer, raw: string): FakeAnswer {
  for (const { data } of splitFrames(Buffer.from(raw)).frames) {
    if (data === '[DONE]') continue;
    const { choices = [], usage } = JSON.parse(data) as Chunk;
    for (const { delta, finish_reason: finish } of choices) {
      answer.text += delta?.content ?? '';
      answer.reasoning += delta?.reasoning_content ?? '';
      answer.finish ??= finish ?? null;
    }
    if (usage) answer.usage = usage;
  }
  return answer;
}
