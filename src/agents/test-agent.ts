import { GatewayError } from '../lib/error.ts';
import type { Pool } from './pool/pool.ts';
import type { RunningInput } from './running.ts';
import type { AgentSetup } from './setup.ts';

/** What a test of an agent came to. */
export interface AgentTest {
  /** What it answered, cut to a few hundred characters. */
  answer: string;
  /** The agent's name and version, as it says itself. */
  agent: string | null;
  /** Milliseconds until the session was open, and until the answer was complete. */
  startedMs: number;
  answeredMs: number;
}

const QUESTION = 'Answer with the single word "ready". Use no tools.';
/** How long the whole test may take beside the start of the agent, in milliseconds. */
const ANSWER_MS = 120_000;
const MAX_ANSWER = 300;

/** Asks an agent for one word, in a session that is not continued. @throws GatewayError */
export async function testAgent(
  pool: Pool,
  setup: AgentSetup,
  { after, now }: Pick<RunningInput, 'now' | 'after'>,
): Promise<AgentTest> {
  const begun = now();
  const aborter = new AbortController();
  const callOff = after(setup.startTimeoutMs + ANSWER_MS, () => aborter.abort());
  try {
    const lease = await pool.lease({
      setup,
      // No gateway key has this id: its session is not shared.
      owner: 'test',
      model: setup.defaultModel,
      continues: null,
      signal: aborter.signal,
    });
    const startedMs = now() - begun;
    let answer = '';
    try {
      await lease.connection.prompt(lease.session, [{ type: 'text', text: QUESTION }], {
        signal: aborter.signal,
        onEvent: (event) => {
          if (event.type === 'text' && answer.length < MAX_ANSWER) answer += event.text;
        },
      });
    } finally {
      lease.drop();
    }
    const { agentInfo } = lease.connection.agent;
    return {
      answer: answer.trim().slice(0, MAX_ANSWER),
      agent: agentInfo ? [agentInfo.name, agentInfo.version].filter(Boolean).join(' ') : null,
      startedMs,
      answeredMs: now() - begun,
    };
  } catch (error) {
    if (!aborter.signal.aborted) throw error;
    throw new GatewayError('upstream_timeout', `The agent ${setup.name} did not answer the test in time`);
  } finally {
    callOff();
  }
}
