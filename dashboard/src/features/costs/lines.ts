import type { UsageRow } from '../../../../src/ledger/schema.ts';
import { decimalsOf, sumOfMoney } from '../../lib/format/numbers.ts';

/** The amounts of a table of costs, in the order in which they are shown. */
export const moneyFields = [
  'cost_usd',
  'billed_usd',
  'plan_usd',
  'cache_savings_usd',
  'routing_savings_usd',
] as const;

export const countFields = ['requests', 'failed', 'input_tokens', 'output_tokens', 'unpriced'] as const;

export type MoneyField = (typeof moneyFields)[number];
export type CountField = (typeof countFields)[number];

export type Totals = Record<MoneyField, number | null> & Record<CountField, number>;

/** What all rows come to, to the last digit. */
export function totalsOf(rows: readonly UsageRow[]): Totals {
  const money = moneyFields.map((field) => [field, sumOfMoney(rows.map((row) => row[field]))] as const);
  const counts = countFields.map((field) => [field, rows.reduce((sum, row) => sum + row[field], 0)] as const);
  return Object.fromEntries([...money, ...counts]) as Totals;
}

/** How many decimals the amounts of a field have at most, so that none is cut. */
export function decimalsIn(rows: readonly UsageRow[], field: MoneyField): number {
  return Math.max(2, ...rows.map((row) => decimalsOf(row[field])));
}
