import type { ToolKind } from '../schema.ts';

/** What a client sees of an agent's turn, in order. */
export type AgentEvent =
  | { type: 'text'; text: string }
  | { type: 'thought'; text: string }
  /** A tool of the agent's own: `state` as the agent last reported it. */
  | { type: 'tool'; title: string; kind: ToolKind; state: 'begun' | 'done' | 'failed' }
  | { type: 'plan'; entries: readonly { content: string; status: string }[] }
  /** The gateway refused what the agent asked for. */
  | { type: 'refused'; title: string; kind: ToolKind };

/** How an agent's turn ended. */
export interface TurnEnd {
  reason: 'end_turn' | 'max_tokens' | 'max_turn_requests' | 'refusal' | 'cancelled';
  /** What the agent says that it used; null where it says nothing. */
  usage: TurnUsage | null;
}

/** Tokens of one turn. */
export interface TurnUsage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  reasoning: number;
}
