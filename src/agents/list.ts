import { auggie } from './catalogue/auggie.ts';
import { claude } from './catalogue/claude.ts';
import { cline } from './catalogue/cline.ts';
import { codex } from './catalogue/codex.ts';
import { copilot } from './catalogue/copilot.ts';
import { cursor } from './catalogue/cursor.ts';
import { droid } from './catalogue/droid.ts';
import { gemini } from './catalogue/gemini.ts';
import { goose } from './catalogue/goose.ts';
import { hermes } from './catalogue/hermes.ts';
import { kilo } from './catalogue/kilo.ts';
import { kimi } from './catalogue/kimi.ts';
import { kiro } from './catalogue/kiro.ts';
import { openclaw } from './catalogue/openclaw.ts';
import { opencode } from './catalogue/opencode.ts';
import { qwen } from './catalogue/qwen.ts';
import { vibe } from './catalogue/vibe.ts';
import type { AgentDefinition } from './definition.ts';

/** The agents that the gateway can start: first those that were tested, then those from documentation alone. */
export const builtInAgents: readonly AgentDefinition[] = [
  claude,
  codex,
  gemini,
  qwen,
  opencode,
  kilo,
  cline,
  copilot,
  droid,
  goose,
  openclaw,
  cursor,
  hermes,
  kiro,
  kimi,
  vibe,
  auggie,
];

/** An agent that cannot be started as a backend, though its users may look for it. */
export interface UnusableAgent {
  id: string;
  name: string;
  reason: string;
}

/** Programs of agents that do not speak ACP. */
export const unusableAgents: readonly UnusableAgent[] = [
  { id: 'aider', name: 'Aider', reason: 'It has no ACP server: it runs in a terminal only.' },
  {
    id: 'forge',
    name: 'Forge',
    reason: 'No documented command makes it speak ACP.',
  },
  { id: 'interpreter', name: 'Open Interpreter', reason: 'No documented command makes it speak ACP.' },
  {
    id: 'warp',
    name: 'Warp',
    reason: 'It is a terminal, and runs other agents; it is none that can be started.',
  },
  { id: 'amazon-q', name: 'Amazon Q', reason: 'It has become Kiro CLI: use the agent kiro.' },
];
