import type { OnClose } from '../../lib/closers.ts';
import type { Schedule } from '../../lib/time/schedule.ts';
import { findProvider } from '../../providers/index.ts';
import type { OpenConnection } from '../schema.ts';
import type { AskOptions } from '../testing/ask.ts';
import { type Balance, fetchBalance } from './balance.ts';

/** The balances that a provider reported for an account. */
export interface AccountBalances {
  balances: readonly Balance[];
  /** When, in milliseconds since the epoch. */
  observedAt: number;
  /** Why it could not be asked since; null when it could. */
  error: string | null;
}

/** The balances of the accounts in use, in memory. */
export interface Balances {
  /** Null where nothing was reported yet. */
  of(connectionId: string): AccountBalances | null;
  /** Whether the provider reports it at all. */
  tells(connectionId: string): boolean;
  /** Asks for one now; null where the provider reports none. Never rejects. */
  refresh(connectionId: string): Promise<AccountBalances | null>;
  /** Asks for those of all. Never rejects. */
  refreshAll(): Promise<void>;
}

export interface BalancesInput extends Pick<AskOptions, 'listening' | 'tokens'> {
  /** Those in use. */
  inUse(): readonly OpenConnection[];
  /** Milliseconds since the epoch. */
  now(): number;
}

const TIMEOUT_MS = 10_000;
/** Money is used up slowly, and providers count such questions. */
const EVERY_MS = 900_000;

function createBalances({ inUse, now, ...asking }: BalancesInput): Balances {
  const balancesByConnection = new Map<string, AccountBalances>();
  const ask = async (connection: OpenConnection): Promise<AccountBalances | null> => {
    const provider = findProvider(connection.provider);
    if (provider?.balance === undefined || connection.credential === null) return null;
    const { id } = connection;
    const before = balancesByConnection.get(id) ?? { balances: [], observedAt: now(), error: null };
    try {
      const balances = await fetchBalance(connection, provider, { ...asking, timeoutMs: TIMEOUT_MS });
      balancesByConnection.set(id, { balances: balances ?? [], observedAt: now(), error: null });
    } catch (error) {
      balancesByConnection.set(id, { ...before, error: (error as Error).message });
    }
    return balancesByConnection.get(id) ?? null;
  };
  const find = (id: string) => inUse().find((connection) => connection.id === id);
  return {
    of: (id) => balancesByConnection.get(id) ?? null,
    tells(id) {
      const connection = find(id);
      return connection !== undefined && findProvider(connection.provider)?.balance !== undefined;
    },
    async refresh(id) {
      const connection = find(id);
      return connection === undefined ? null : ask(connection);
    },
    async refreshAll() {
      const current = inUse();
      const ids = new Set(current.map(({ id }) => id));
      for (const id of balancesByConnection.keys()) if (!ids.has(id)) balancesByConnection.delete(id);
      for (const connection of current) await ask(connection);
    },
  };
}

export interface OpenBalancesInput extends BalancesInput {
  schedule: Schedule;
  onClose: OnClose;
}

/** The balances of a running gateway, asked for again and again. */
export function openBalances({ onClose, schedule, ...input }: OpenBalancesInput): Balances {
  const balances = createBalances(input);
  onClose('balances', schedule.every({ name: 'balances', everyMs: EVERY_MS, run: balances.refreshAll }));
  return balances;
}
