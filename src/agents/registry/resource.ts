import type { Action, Caller, Outcome, Resource, Row } from '../../http/resource.ts';
import { GatewayError } from '../../lib/error.ts';
import { builtInAgents } from '../list.ts';
import { type AgentChangeInput, addAgent, changeAgent, removeAgent } from './change.ts';
import type { AgentRegistry } from './open.ts';
import { agentChange, agentRecord, newAgentInput } from './schema.ts';

/** How an agent is just now. Times in milliseconds since the epoch. */
export interface AgentRuntime {
  processes: readonly unknown[];
  /** Requests that wait for one. */
  waiting: number;
  /** How often one ended by itself, or could not be started. */
  failures: number;
  error: { message: string; at: number } | null;
  /** The last lines that its processes printed, without secrets. */
  output: readonly string[];
}

/** What a test of an agent came to. */
export interface AgentTestResult {
  answer: string;
  /** The agent's name and version, as it says itself. */
  agent: string | null;
  /** Milliseconds until its session was open, and until the answer was complete. */
  startedMs: number;
  answeredMs: number;
}

export interface AgentControl {
  status(id: string): AgentRuntime;
  /** Asks an agent for one word. @throws GatewayError */
  test(id: string): Promise<AgentTestResult>;
}

export interface AgentsResourceInput extends AgentChangeInput {
  registry: Pick<AgentRegistry, 'rows' | 'refresh'>;
  /** Has what was changed take effect for requests. */
  reload(): Promise<unknown>;
  /** The processes of agents. */
  running: AgentControl;
  /** Whether a caller may have programs run. */
  mayRun(caller: Caller): boolean;
}

const TESTS_PER_MINUTE = 6;
const REFRESHES_PER_MINUTE = 6;

/** The ACP agents of the gateway's machine. */
export function agentsResource(input: AgentsResourceInput): Resource {
  const { registry, reload, running } = input;
  const list = async (): Promise<Row[]> =>
    (await registry.rows()).map((row) => {
      const { error, failures, output, processes, waiting } = running.status(row.id);
      return {
        ...row,
        processes: processes.length,
        waiting,
        failures,
        last_error: error === null ? null : { message: error.message, at: new Date(error.at).toISOString() },
        output: [...output],
      };
    });
  const find = async (id: string): Promise<Row | null> => (await list()).find((row) => row.id === id) ?? null;
  const requireRow = async (id: string): Promise<Row> => {
    const row = await find(id);
    if (row !== null) return row;
    throw new GatewayError('not_found', `There is no agent "${id.slice(0, 60)}"`);
  };
  /** @throws GatewayError `loopback_only` */
  const onThisMachine = (caller: Caller): void => {
    if (input.mayRun(caller)) return;
    throw new GatewayError(
      'loopback_only',
      'This runs programs on the gateway\'s machine, so it is done there only, unless "tools.remote_detection" is set in config.json',
    );
  };
  const change = async (id: string, changes: Parameters<typeof changeAgent>[2]): Promise<Row> => {
    await changeAgent(input, id, changes);
    await reload();
    return requireRow(id);
  };
  const switchTo = (enabled: boolean): Action => ({
    summary: enabled
      ? 'Allows model requests to start its program on the machine of the gateway.'
      : 'Refuses requests to it, and ends its processes.',
    permission: 'agents:update',
    possible: (row) => row['enabled'] !== enabled,
    preview: async (row) => done(row, enabled ? 'would be enabled' : 'would be disabled'),
    async run({ id }) {
      const row = await change(id, { enabled });
      const { problem } = row;
      const note = enabled && typeof problem === 'string' ? `. ${problem}` : '';
      return done(row, `${enabled ? 'is enabled' : 'is disabled'}${note}`);
    },
  });
  return {
    name: 'acp_agents',
    title: 'ACP agents',
    summary: 'Coding agents that the gateway starts on its machine, and that answer as the models `acp/ID`.',
    record: agentRecord,
    read: 'agents:read',
    guarded: { output: 'agents:operate' },
    list,
    find,
    create: {
      permission: 'agents:create',
      perMinute: 30,
      input: newAgentInput,
      async run(body, caller) {
        const id = await addAgent(input, newAgentInput.parse(body), caller.via !== 'local');
        await reload();
        return { row: await requireRow(id) };
      },
    },
    update: {
      permission: 'agents:update',
      input: agentChange,
      run: (row, body) => change(row.id, agentChange.parse(body)),
    },
    remove: {
      permission: 'agents:delete',
      possible: (row) => row['built_in'] === false,
      async run(row) {
        await removeAgent(input, row.id);
        await reload();
      },
    },
    actions: {
      enable: switchTo(true),
      disable: switchTo(false),
      refresh: {
        summary: 'Looks for the programs of all agents again and asks each for its version.',
        permission: 'agents:operate',
        perMinute: REFRESHES_PER_MINUTE,
        beside: true,
        // Whichever is named, all are looked for.
        implied: () => builtInAgents[0]?.id ?? '',
        preview: async (row) => done(row, 'would be looked for, with all others'),
        async run({ id }, _, caller) {
          onThisMachine(caller);
          await registry.refresh();
          await reload();
          const { installed, version } = await requireRow(id);
          const versionText = typeof version === 'string' ? `version ${version}` : 'no version is known';
          return {
            success: true,
            message: installed === true ? `It is installed: ${versionText}` : 'It is not installed',
          };
        },
      },
      test: testAction(running, onThisMachine),
    },
    // How it is doing is no change of it.
    revisionOf: ({ id, updated_at }) => JSON.stringify([id, updated_at]),
  };
}

function done(row: Row, what: string): Outcome {
  return { success: true, message: `The agent "${row.id}" ${what}` };
}

function testAction({ test }: AgentControl, onThisMachine: (caller: Caller) => void): Action {
  return {
    summary: 'Starts the agent if needed, sends a one-word prompt, and returns the answer.',
    permission: 'agents:operate',
    perMinute: TESTS_PER_MINUTE,
    beside: true,
    preview: async (row) => done(row, 'would be asked for one word'),
    async run({ id }, _, caller) {
      onThisMachine(caller);
      const { agent, answer, answeredMs, startedMs } = await test(id);
      return {
        success: true,
        message: `It answered: ${answer}`,
        result: { answer, agent, started_ms: startedMs, answered_ms: answeredMs },
      };
    },
  };
}
