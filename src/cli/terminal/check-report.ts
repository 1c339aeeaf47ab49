import type { Io } from './io.ts';
import { count } from './text.ts';

export interface ReportedCheck {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  message: string;
}

export type CheckSummary = Readonly<Record<ReportedCheck['status'], number>>;

const styleOf = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

/** How many checks ended in which way. */
export function summaryOf(checks: readonly ReportedCheck[]): CheckSummary {
  const counted = (status: ReportedCheck['status']) =>
    checks.filter((check) => check.status === status).length;
  return { ok: counted('ok'), warn: counted('warn'), fail: counted('fail') };
}

/** Checks as lines for people, with their sum behind them. */
export function checkReport(checks: readonly ReportedCheck[], io: Pick<Io, 'paint'>): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.map(
    ({ message, name, status }) =>
      `${io.paint(styleOf[status], status.padEnd(4))}  ${name.padEnd(width)}  ${message}`,
  );
  const { fail, ok, warn } = summaryOf(checks);
  return [...lines, '', `Summary: ${ok} ok, ${count(warn, 'warning')}, ${count(fail, 'failure')}`].join('\n');
}
