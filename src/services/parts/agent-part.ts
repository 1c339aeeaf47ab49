import type { Agents } from '../../agents/open.ts';
import { iso, type Part, type PartStatus, type Probe } from '../part.ts';
import type { Check } from '../schema.ts';

/** An enabled agent. */
export interface EnabledAgent {
  id: string;
  name: string;
  description: string;
  /** Of its program; null where that is not known. */
  version: string | null;
  /** Why it answers no requests; null when it does. */
  problem: string | null;
}

export interface AgentPartInput {
  agent: EnabledAgent;
  agents: Pick<Agents, 'status' | 'start' | 'stop' | 'restart' | 'test'>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** An ACP agent on this machine. It runs while it is asked, and is ready without a process. */
export function agentPart({ agent, agents, now }: AgentPartInput): Part {
  const { description, id, name, version } = agent;
  const status = () => agents.status(id);
  return {
    key: `agent-${id}`,
    id: `agent-${id}`,
    name,
    kind: 'acp_agent',
    critical: false,
    description: `${description}. It answers as the model acp/${id}.`,
    dependsOn: ['data-plane'],
    version,
    domain: 'agents',
    status: () => statusOf(agent, status()),
    checks: () => [installed(agent, now()), processes(status(), now())],
    endpoints: () => [],
    lifeCycle: {
      confirm: false,
      restarts: true,
      openRequests: () => status().processes.filter(({ state }) => state === 'busy').length,
      async start() {
        agents.start(id);
      },
      async stop(_, again) {
        const interrupted = status().processes.filter(({ state }) => state === 'busy').length;
        await (again ? agents.restart(id) : agents.stop(id));
        return { interrupted };
      },
    },
    probe: () => probed(agent, agents),
  };
}

type Status = ReturnType<Agents['status']>;

function statusOf({ problem }: EnabledAgent, { error, pauseMs, processes, stopped }: Status): PartStatus {
  const base = {
    desired: stopped ? 'stopped' : 'running',
    changedAt: null,
    startedAt: processes[0]?.startedAt ?? null,
    error: error === null ? null : { code: 'agent_failed', ...error },
  } as const;
  if (stopped)
    return {
      ...base,
      state: 'stopped',
      reason: { code: 'stopped_by_operator', message: 'Stopped through the management API' },
    };
  if (problem !== null)
    return { ...base, state: 'failed', reason: { code: 'agent_unusable', message: problem } };
  if (pauseMs > 0)
    return {
      ...base,
      state: 'failed',
      reason: { code: 'agent_failed', message: error?.message ?? 'It failed' },
    };
  return { ...base, state: 'running', reason: null };
}

function installed({ problem, version }: EnabledAgent, now: number): Check {
  return {
    name: 'installed',
    status: problem === null ? 'pass' : 'fail',
    observed_at: iso(now),
    output: problem ?? (version === null ? 'Its program is there' : `Version ${version}`),
  };
}

function processes({ error, failures, pauseMs, processes: running, waiting }: Status, now: number): Check {
  const busy = running.filter(({ state }) => state === 'busy').length;
  const counts = `${running.length} running, ${busy} of them busy; ${waiting} requests wait; ${failures} failures`;
  const [failed, crowded] = [pauseMs > 0, waiting > 0];
  return {
    name: 'processes',
    status: failed ? 'fail' : crowded ? 'warn' : 'pass',
    observed_at: iso(now),
    output: failed && error !== null ? `${error.message}; ${counts}` : counts,
  };
}

/** Asks the agent for one word. */
async function probed({ id, name }: EnabledAgent, agents: AgentPartInput['agents']): Promise<Probe> {
  try {
    const { agent, answer, answeredMs, startedMs } = await agents.test(id);
    return {
      valid: true,
      message: `${name} answered in ${(answeredMs / 1000).toFixed(1)} s`,
      result: { agent, answer, started_ms: startedMs, answered_ms: answeredMs },
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { valid: false, message, result: { agent: null, answer: null } };
  }
}
