import type { EventDatabase } from '../database/event-database.ts';
import type { LetterCalls, LetterCount, LetterRow, NewLetter } from './letter-calls.ts';

/** A dead letter as its storage has it. */
export interface StoredLetter extends Omit<LetterRow, 'seq'> {
  /** Names it in its storage. */
  readonly name: string;
}

/** A storage of dead letters. Everything rejects while it does not work. */
export interface LetterStore {
  /** Keeps a letter in place of one of the same trigger and event. @throws NoSpace, or ChannelFull, when the disk is full */
  add(letter: NewLetter): Promise<ReturnType<LetterCalls['addLetter']>>;
  /** The letter's copy is in its channel. */
  markCopied(letter: Parameters<LetterCalls['markCopied']>[0]): Promise<void>;
  /** Whether the event of a message is a dead letter already. */
  has(message: Parameters<LetterCalls['hasLetter']>[0]): Promise<boolean>;
  /** The oldest first, beginning behind the one that is named; null: at the oldest. */
  list(page: {
    readonly trigger: string | null;
    readonly after: string | null;
    readonly limit: number;
  }): Promise<readonly StoredLetter[]>;
  get(name: string): Promise<StoredLetter | null>;
  /** @returns how many of them there were */
  remove(names: readonly string[]): Promise<number>;
  counts(): Promise<readonly LetterCount[]>;
}

/** Dead letters in a database of events. */
export function databaseLetters(database: () => Pick<EventDatabase, 'ask'>): LetterStore {
  return {
    add: (letter) => database().ask('addLetter', letter),
    async markCopied(letter) {
      await database().ask('markCopied', letter);
    },
    has: (message) => database().ask('hasLetter', message),
    async list({ after, limit, trigger }) {
      const rows = await database().ask('listLetters', { trigger, after: Number(after ?? 0), limit });
      return rows.map(storedOf);
    },
    async get(name) {
      const seq = seqOf(name);
      const row = seq === null ? null : await database().ask('getLetter', { seq });
      return row === null ? null : storedOf(row);
    },
    remove: (names) =>
      database().ask('removeLetters', { seqs: names.map(seqOf).filter((seq) => seq !== null) }),
    counts: () => database().ask('countLetters', {}),
  };
}

const storedOf = ({ seq, ...letter }: LetterRow): StoredLetter => ({ ...letter, name: String(seq) });

const seqOf = (name: string): number | null => (/^\d{1,15}$/.test(name) ? Number(name) : null);
