import type { SessionFolder } from '../workspace/session-folder.ts';

/** Which requests an agent's session is for. */
export interface ConversationOwner {
  /** Id of the agent. */
  agent: string;
  /** Id of the gateway key: sessions are never shared between keys. */
  key: string;
  /** The model that was set for the session; null for the agent's own choice. */
  model: string | null;
}

/** A session that a later request may continue. */
export interface Conversation<Process> extends ConversationOwner {
  /** Its id at the agent. */
  sessionId: string;
  folder: SessionFolder;
  /** The process that has it in memory; null once that is gone. */
  process: Process | null;
}

/** The sessions that can be gone on with, by what their next request is known by. */
export interface Conversations<Process> {
  /** Takes out the session that a request continues; null for none. */
  take(key: string, owner: ConversationOwner): Conversation<Process> | null;
  /** Keeps a session for the request that continues it. */
  keep(key: string, conversation: Conversation<Process>): void;
  /** Told that a process is gone. @param loadable whether another process of the agent can load its sessions */
  detach(process: Process, loadable: boolean): void;
  /** Sessions that a process has in memory. */
  countOf(process: Process): number;
  /** Forgets all sessions of an agent, or of all. */
  forget(agent: string | null): void;
}

/**
 * @param limit sessions that are kept; the one that was not used for the longest time makes room
 * @param dropped called with a session that will not be continued
 */
export function createConversations<Process>(
  limit: number,
  dropped: (conversation: Conversation<Process>) => void,
): Conversations<Process> {
  const conversations = new Map<string, Conversation<Process>>();
  const drop = (key: string, conversation: Conversation<Process>) => {
    conversations.delete(key);
    dropped(conversation);
  };
  return {
    take(key, { agent, key: owner, model }) {
      const existing = conversations.get(key);
      if (
        existing === undefined ||
        existing.agent !== agent ||
        existing.key !== owner ||
        existing.model !== model
      )
        return null;
      conversations.delete(key);
      return existing;
    },
    keep(key, conversation) {
      const earlier = conversations.get(key);
      if (earlier !== undefined) drop(key, earlier);
      conversations.set(key, conversation);
      const [oldest] = conversations;
      if (conversations.size > limit && oldest !== undefined) drop(...oldest);
    },
    detach(process, loadable) {
      for (const [key, conversation] of [...conversations]) {
        if (conversation.process !== process) continue;
        if (loadable) conversation.process = null;
        else drop(key, conversation);
      }
    },
    countOf: (process) => [...conversations.values()].filter((one) => one.process === process).length,
    forget(agent) {
      for (const [key, conversation] of [...conversations])
        if (agent === null || conversation.agent === agent) drop(key, conversation);
    },
  };
}
