import { opencode } from './catalogue/opencode.ts';
import type { AgentDefinition } from './definition.ts';

/** The agents that the gateway knows how to start. */
export const builtInAgents: readonly AgentDefinition[] = [opencode];
