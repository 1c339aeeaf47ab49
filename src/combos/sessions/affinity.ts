/** What is remembered of a target. */
export interface AffinityEntry {
  connectionId: string;
  model: string;
}

/** Where sessions were answered last. In memory, bounded; what is lost costs a prompt cache and nothing else. */
export interface Affinity {
  /** Null when nothing is known. */
  of(session: string): AffinityEntry | null;
  keep(session: string, entry: AffinityEntry): void;
  /**
   * Whether an entry is sent to other processes with the same sessions: it is new to this one, or was not used for long.
   */
  isNews(session: string, entry: AffinityEntry): boolean;
}

export interface AffinityInput {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Sessions that are remembered; the one not used for longest is forgotten first. */
  capacity?: number;
  /** How long an idle session is remembered, in milliseconds. No provider keeps a prompt longer than an hour. */
  idleMs?: number;
}

/** An entry that is used is sent again after this part of the time for which it is remembered. */
const REPEATED = 1 / 4;

export function createAffinity({ capacity = 10_000, idleMs = 3_600_000, now }: AffinityInput): Affinity {
  const sessions = new Map<string, { entry: AffinityEntry; at: number }>();
  return {
    of(session) {
      const existing = sessions.get(session);
      if (existing === undefined) return null;
      if (now() - existing.at <= idleMs) return existing.entry;
      sessions.delete(session);
      return null;
    },
    isNews(session, { connectionId, model }) {
      const existing = sessions.get(session);
      if (existing === undefined || now() - existing.at > idleMs * REPEATED) return true;
      return existing.entry.connectionId !== connectionId || existing.entry.model !== model;
    },
    keep(session, entry) {
      // A map gives its members in the order in which they were put in.
      sessions.delete(session);
      if (sessions.size >= capacity) {
        const oldest = sessions.keys().next();
        if (!oldest.done) sessions.delete(oldest.value);
      }
      sessions.set(session, { entry: entry, at: now() });
    },
  };
}
