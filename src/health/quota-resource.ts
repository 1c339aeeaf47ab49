import type { Resource, Row } from '../http/resource.ts';
import { ready } from './account.ts';
import type { Accounts } from './accounts.ts';
import { rowOfCondition } from './condition-row.ts';
import { quotaRow } from './schema.ts';

export interface QuotaInput {
  connections(): Promise<readonly { id: string; name: string; provider: string }[]>;
  accounts: Pick<Accounts, 'headroom' | 'limitsOf' | 'conditionsOf'>;
  balances: BalanceSource;
}

/** What providers tell of the money that accounts have left. */
export interface BalanceSource {
  of(connectionId: string): AccountBalances | null;
  /** Whether the provider reports it at all. */
  tells(connectionId: string): boolean;
  /** Asks now. Null where the provider reports nothing. */
  refresh(connectionId: string): Promise<AccountBalances | null>;
}

interface AccountBalances {
  balances: readonly { currency: string; remaining: number; limit: number | null }[];
  /** Milliseconds since the epoch. */
  observedAt: number;
  error: string | null;
}

/** What is left of the limits of each account. */
export function quotaResource({ accounts, balances, connections }: QuotaInput): Resource {
  const rowOf = ({ id, name, provider }: { id: string; name: string; provider: string }): Row => {
    const limits = accounts.limitsOf(id);
    const own = accounts.conditionsOf(id).find(({ model }) => model === null);
    return {
      id,
      connection: name,
      provider,
      condition: rowOfCondition(own?.condition ?? ready),
      headroom: accounts.headroom(id),
      source: limits.length === 0 ? null : 'headers',
      observed_at: limits.length === 0 ? null : iso(Math.max(...limits.map((limit) => limit.observedAt))),
      balance: rowOfBalance(balances.of(id)),
      limits: limits.map((limit) => ({
        name: limit.name,
        model: limit.model,
        limit: limit.limit,
        remaining: limit.remaining,
        left: limit.left,
        resets_at: limit.resetAt === null ? null : iso(limit.resetAt),
        observed_at: iso(limit.observedAt),
      })),
    };
  };
  return {
    name: 'quota',
    title: 'Quota',
    summary:
      'The remaining quota of each connection, from the headers of its last answers, and its balance, if the provider reports one.',
    record: quotaRow,
    read: 'quota:read',
    list: async () => (await connections()).map(rowOf),
    async find(idOrName) {
      const all = await connections();
      const connection = all.find(({ id }) => id === idOrName) ?? all.find(({ name }) => name === idOrName);
      return connection === undefined ? null : rowOf(connection);
    },
    actions: {
      refresh: {
        summary: 'Asks the provider for the remaining balance.',
        permission: 'connections:operate',
        perMinute: 30,
        possible: ({ id }) => balances.tells(id),
        preview: async ({ connection }) => ({
          success: true,
          message: `The provider of ${String(connection)} would be asked`,
        }),
        async run({ connection, id }) {
          const balance = await balances.refresh(id);
          const error = balance === null ? 'The provider does not tell' : balance.error;
          return { success: error === null, message: error ?? `The provider of ${String(connection)} told` };
        },
      },
    },
  };
}

function rowOfBalance(balance: AccountBalances | null) {
  if (balance === null) return null;
  const { balances, error, observedAt } = balance;
  return { amounts: [...balances], observed_at: iso(observedAt), error };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
