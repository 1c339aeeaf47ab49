import type { Tool } from '../../tool.ts';
import { agentDeck } from './agent-deck.ts';
import { goose } from './goose.ts';
import { hermesAgent } from './hermes-agent.ts';
import { interpreter } from './interpreter.ts';
import { letta } from './letta.ts';
import { omp } from './omp.ts';
import { openclaw } from './openclaw.ts';
import { warp } from './warp.ts';

/** The agents that do more than write code, in the order in which they are listed. */
export const agentTools: readonly Tool[] = [
  hermesAgent,
  openclaw,
  goose,
  interpreter,
  warp,
  agentDeck,
  omp,
  letta,
];
