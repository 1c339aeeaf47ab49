import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Dispatcher } from 'undici';
import type { ConversationKeys } from './answer/conversation-key.ts';
import type { AgentQuestion } from './answer/question.ts';
import { dispatchTurn } from './answer/upstream.ts';
import { createPool, type LeaseRequest, type Pool, type PoolLimits } from './pool/pool.ts';
import { agentEnvironment, secretsIn } from './process/environment.ts';
import { peerLimits } from './protocol/peer.ts';
import {
  type AgentConnection,
  type ConnectionLimits,
  type ConnectionTimes,
  connectAgent,
  connectionTimes,
} from './session/connection.ts';
import type { AgentSetup } from './setup.ts';
import { makeSessionFolder, type SessionFolder } from './workspace/session-folder.ts';

export const connectionLimits: ConnectionLimits = {
  ...peerLimits,
  turnBytes: 256 * 1024 * 1024,
  idleBytes: 16 * 1024 * 1024,
};

export interface RunningInput {
  /** `DATA_DIR/agents`. */
  folder: string;
  /** The gateway's version. */
  version: string;
  limits: PoolLimits;
  connectionLimits?: ConnectionLimits;
  connectionTimes?: ConnectionTimes;
  /** Where an agent's program is. @throws GatewayError `connection_unusable` where it is not installed */
  locate(setup: AgentSetup): Promise<string>;
  /** A variable of the gateway's own environment. */
  variable(name: string): string | undefined;
  /** Told when the processes of an agent have changed. */
  onChange(agent: string): void;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back after so many milliseconds. @returns what calls it off */
  after(ms: number, run: () => void): () => void;
}

/** One request for an agent, read and ready. */
export interface AgentTurnRequest extends Omit<LeaseRequest, 'continues' | 'signal'> {
  /** The model as the target names it. */
  target: string;
  question: AgentQuestion;
  keys: ConversationKeys;
}

/** The agents' processes, and what asks them. Loaded when the first agent is asked. */
export interface RunningAgents {
  pool: Pool;
  dispatch(request: AgentTurnRequest, handler: Dispatcher.DispatchHandler): void;
}

export async function openRunningAgents(input: RunningInput): Promise<RunningAgents> {
  // Nobody remembers the sessions of an earlier process of the gateway.
  await rm(input.folder, { recursive: true, force: true });
  const pool = createPool({
    limits: input.limits,
    makeFolder: (setup) => makeSessionFolder(input.folder, setup),
    connect: (...args) => connect(input, ...args),
    onChange: input.onChange,
    now: input.now,
    after: input.after,
  });
  return {
    pool,
    dispatch({ keys, question, target, ...request }, handler) {
      dispatchTurn(
        {
          setup: request.setup,
          model: target,
          question,
          keys,
          lease: (signal) => pool.lease({ ...request, continues: keys.continues, signal }),
          now: input.now,
        },
        handler,
      );
    },
  };
}

async function connect(
  input: RunningInput,
  setup: AgentSetup,
  folder: SessionFolder,
  model: string | null,
  signal: AbortSignal,
): Promise<AgentConnection> {
  const env = agentEnvironment({
    variable: input.variable,
    pass: setup.env,
    home: folder.home,
    always: setup.variables ?? {},
    routed: setup.routed,
  });
  const modelArguments = setup.model.by === 'argument' && model !== null ? setup.model.args : [];
  return connectAgent(
    {
      setup,
      command: await input.locate(setup),
      args: [
        ...setup.args,
        ...modelArguments.map((arg) => arg.replaceAll('{model}', model ?? '')),
        ...(setup.routed?.args ?? []),
      ],
      env,
      // Sessions come and go while the process stays where it is.
      cwd: setup.cwd === 'session' ? join(input.folder, setup.id) : folder.work,
      secrets: secretsIn(env),
      version: input.version,
      times: input.connectionTimes ?? connectionTimes,
      limits: input.connectionLimits ?? connectionLimits,
      after: input.after,
    },
    signal,
  );
}
