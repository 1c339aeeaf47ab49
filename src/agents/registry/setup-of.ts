import type { AgentSetup } from '../setup.ts';
import type { RegisteredAgent } from './registered.ts';

/** How an agent that uses models of this gateway reaches it. */
export interface RouteAddress {
  /** `http://127.0.0.1:20128`. */
  baseUrl: string;
  /** The agent's own gateway key. */
  key: string;
}

/**
 * An agent as it is run.
 * @param address null where it uses its user's own login
 */
export function setupOf(
  { definition, enabled, forbidden, settings }: RegisteredAgent,
  address: RouteAddress | null,
): AgentSetup {
  const { route, ...facts } = definition;
  const { max_processes, model, permissions, show_tools, working_directory } = settings;
  const routed = address === null || model === null ? null : (route?.({ ...address, model }) ?? null);
  return {
    ...facts,
    enabled: enabled && forbidden === null,
    permissions,
    cwd: working_directory === null ? definition.cwd : { path: working_directory },
    // Variables that lead to its user's settings would lead away from the gateway.
    env: routed === null ? definition.env : [],
    defaultModel: routed === null ? model : (routed.model ?? null),
    routed,
    maxProcesses: max_processes,
    showTools: show_tools,
  };
}
