import { plan, textChunk, toolCall } from '../protocol/schema.ts';
import type { ToolKind } from '../schema.ts';
import type { AgentEvent } from './event.ts';

const MAX_TITLE = 200;
/** Tool calls that are remembered in one turn. */
const MAX_TOOLS = 10_000;

/** Reads the updates of one turn. */
export interface UpdateReader {
  /** The event of an update; null for updates that do not concern clients, and for those that cannot be read. */
  read(update: { sessionUpdate: string } & Record<string, unknown>): AgentEvent | null;
  /** The title and kind of a tool call that was announced. */
  tool(id: string): { title: string; kind: ToolKind } | null;
}

export function createUpdateReader(): UpdateReader {
  const tools = new Map<string, { title: string; kind: ToolKind; state: 'begun' | 'done' | 'failed' }>();
  let lastPlan = '';
  return {
    tool: (id) => tools.get(id) ?? null,
    read(update) {
      switch (update.sessionUpdate) {
        case 'agent_message_chunk': {
          const chunk = textChunk.safeParse(update);
          return chunk.success ? { type: 'text', text: chunk.data.content.text } : null;
        }
        case 'agent_thought_chunk': {
          const chunk = textChunk.safeParse(update);
          return chunk.success ? { type: 'thought', text: chunk.data.content.text } : null;
        }
        case 'tool_call':
        case 'tool_call_update': {
          const parsed = toolCall.safeParse(update);
          if (!parsed.success) return null;
          const { kind, status, title, toolCallId } = parsed.data;
          const existing = tools.get(toolCallId);
          const state =
            status === 'completed' ? 'done' : status === 'failed' ? 'failed' : (existing?.state ?? 'begun');
          const tool = {
            title: oneLine(title ?? existing?.title ?? 'a tool'),
            kind: kind ?? existing?.kind ?? 'other',
            state,
          } as const;
          if (existing !== undefined || tools.size < MAX_TOOLS) tools.set(toolCallId, tool);
          // Its progress is reported when it begins and when it is over.
          return existing?.state === state ? null : { type: 'tool', ...tool };
        }
        case 'plan': {
          const parsed = plan.safeParse(update);
          if (!parsed.success) return null;
          const entries = parsed.data.entries.map(({ content, status }) => ({
            content: oneLine(content),
            status: status ?? 'pending',
          }));
          const text = JSON.stringify(entries);
          if (text === lastPlan) return null;
          lastPlan = text;
          return { type: 'plan', entries };
        }
        default:
          return null;
      }
    },
  };
}

/** A title in one line, without control characters. */
export function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE)}…` : line;
}
