import type { AgentDefinition, AgentSettings } from './definition.ts';
import type { ToolKind } from './schema.ts';

/** An agent as the owner of this gateway has set it up: a definition and what was decided about it. */
export interface AgentSetup extends Omit<AgentDefinition, 'permissions' | 'route'> {
  /** Only enabled agents are started. */
  enabled: boolean;
  /** What it may do without a person who is asked: the definition's own, unless the owner chose others. */
  permissions: readonly ToolKind[];
  /** The model that its sessions use where a request names none (`acp/<id>`); null leaves that to the agent. */
  defaultModel: string | null;
  /** What points it at this gateway; null where it uses its user's own account. */
  routed: AgentSettings | null;
  /** Processes of it at a time. */
  maxProcesses: number;
  /** What a client sees of the agent's tool calls and plans: lines of reasoning, lines of text, or nothing. */
  showTools: 'reasoning' | 'text' | 'none';
}

/** What holds for an agent about which nothing was decided. */
export const defaultSetup = {
  enabled: false,
  defaultModel: null,
  routed: null,
  maxProcesses: 4,
  showTools: 'reasoning',
} as const satisfies Partial<AgentSetup>;
