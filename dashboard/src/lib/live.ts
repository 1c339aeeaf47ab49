import { createContext, use, useEffect, useSyncExternalStore } from 'react';
import type { ApiClient } from './api/client.ts';

export type Topic = 'requests' | 'services' | 'logs';

/** How the stream of events is. `paused`: the role may watch nothing, or nobody listens. */
export type LiveState = 'connecting' | 'open' | 'lost' | 'paused';

/** What happens in the gateway while the page is open: one stream for the whole window. */
export interface Live {
  state(): LiveState;
  subscribeState(listener: () => void): () => void;
  /** Hears the events of a topic. */
  listen(topic: Topic, listener: (event: unknown) => void): () => void;
  start(topics: readonly Topic[]): void;
  stop(): void;
}

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 30_000;

export function createLive(api: Pick<ApiClient, 'open'>): Live {
  const stateListeners = new Set<() => void>();
  const listeners = new Map<Topic, Set<(event: unknown) => void>>();
  let state: LiveState = 'paused';
  let ending: AbortController | null = null;

  const become = (next: LiveState) => {
    if (state === next) return;
    state = next;
    for (const listener of stateListeners) listener();
  };
  const run = async (topics: readonly Topic[], signal: AbortSignal): Promise<void> => {
    let lastId: string | null = null;
    let wait = FIRST_RETRY_MS;
    become('connecting');
    while (!signal.aborted) {
      try {
        const response = await api.open('live', {
          query: { topics: topics.join(',') },
          signal,
          headers: { accept: '*/*', ...(lastId === null ? {} : { 'last-event-id': lastId }) },
        });
        become('open');
        wait = FIRST_RETRY_MS;
        for await (const { data, event, id } of serverEvents(response)) {
          lastId = id ?? lastId;
          for (const listener of listeners.get(event as Topic) ?? []) listener(JSON.parse(data));
        }
      } catch {
        // It is opened again below, and the state says that it is not there.
      }
      if (signal.aborted) return;
      become('lost');
      await pause(wait, signal);
      wait = Math.min(wait * 2, LONGEST_RETRY_MS);
    }
  };
  return {
    state: () => state,
    subscribeState(listener) {
      stateListeners.add(listener);
      return () => stateListeners.delete(listener);
    },
    listen(topic, listener) {
      const set = listeners.get(topic) ?? new Set();
      listeners.set(topic, set);
      set.add(listener);
      return () => set.delete(listener);
    },
    start(topics) {
      ending?.abort();
      ending = null;
      if (topics.length === 0) return become('paused');
      ending = new AbortController();
      void run(topics, ending.signal);
    },
    stop() {
      ending?.abort();
      ending = null;
      become('paused');
    },
  };
}

interface ServerEvent {
  event: string;
  id: string | null;
  data: string;
}

/** The server-sent events of a response, as they come. */
export async function* serverEvents(response: Response): AsyncGenerator<ServerEvent> {
  if (response.body === null) return;
  let rest = '';
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const frames = rest.split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) {
        const found = eventOf(frame);
        if (found !== null) yield found;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function eventOf(frame: string): ServerEvent | null {
  let event = 'message';
  let id: string | null = null;
  const data: string[] = [];
  for (const line of frame.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const value = line.slice(colon + 1).replace(/^ /, '');
    const field = line.slice(0, colon);
    if (field === 'event') event = value;
    else if (field === 'id') id = value;
    else if (field === 'data') data.push(value);
  }
  return data.length === 0 ? null : { event, id, data: data.join('\n') };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

export const LiveContext = createContext<Live | null>(null);

function useLive(): Live {
  const live = use(LiveContext);
  if (live === null) throw new Error('LiveContext is missing');
  return live;
}

export function useLiveState(): LiveState {
  const live = useLive();
  return useSyncExternalStore(live.subscribeState, live.state);
}

/** Calls `listener` for each event of a topic. Its identity must be stable (`useCallback`). */
export function useLiveEvents<Event>(topic: Topic, listener: (event: Event) => void): void {
  const live = useLive();
  useEffect(() => live.listen(topic, (event) => listener(event as Event)), [live, topic, listener]);
}
