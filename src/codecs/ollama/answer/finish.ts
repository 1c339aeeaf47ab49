import type { EndReason } from '../../model/stream-part.ts';

/** Ollama's own words (`DoneReason`: stop, length, load, unload), and those that servers like it pass on. */
const reasons: ReadonlyMap<string, EndReason> = new Map(
  Object.entries<EndReason>({
    '': 'stop',
    stop: 'stop',
    tool_calls: 'stop',
    length: 'length',
    content_filter: 'policy',
  }),
);

export function meaningOf(raw: string): EndReason {
  return reasons.get(raw) ?? 'other';
}
