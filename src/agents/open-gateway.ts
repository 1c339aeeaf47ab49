import { join } from 'node:path';
import { type Config, readVariable } from '../config.ts';
import { type Agents, openAgents } from './open.ts';
import type { RunningInput } from './running.ts';
import type { AgentSetup } from './setup.ts';

export interface GatewayAgentsInput extends Pick<RunningInput, 'locate' | 'onChange'> {
  config: Pick<Config, 'dataDir' | 'agents'>;
  /** The gateway's version. */
  version: string;
  /** Every agent that there is, enabled or not, as it is set up at this moment. */
  setups(): readonly AgentSetup[];
}

/** Sessions that can be gone on with. */
const SESSIONS = 256;

/** The agents of a gateway on this machine. */
export function openGatewayAgents({ onChange, config, locate, setups, version }: GatewayAgentsInput): Agents {
  return openAgents({
    setups,
    folder: join(config.dataDir, 'agents'),
    version,
    limits: { ...config.agents, sessions: SESSIONS },
    locate,
    variable: readVariable,
    onChange,
    now: Date.now,
    after(ms, run) {
      const timer = setTimeout(run, ms).unref();
      return () => clearTimeout(timer);
    },
  });
}
