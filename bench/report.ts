import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import type { Row, SideName, Target } from './lane.ts';

/** One metric of one lane over all rounds. */
export interface Line {
  lane: string;
  metric: string;
  title: string;
  unit: string;
  digits: number;
  /** Medians over the rounds. */
  direct: number | null;
  peer: number;
  gateway: number;
  /** Gateway against pass-through, the median of the rounds' own ratios, and their extremes. */
  ratio: number;
  low: number;
  high: number;
  target: string | null;
  verdict: 'PASS' | 'MISS' | null;
  rounds: Partial<Record<SideName, number[]>>;
}

export interface Machine {
  cores: number;
  model: string;
  memoryBytes: number;
  platform: string;
  node: string;
  load: number[];
}

export function describeMachine(): Machine {
  return {
    cores: availableParallelism(),
    model: cpus()[0]?.model.trim() ?? 'unknown',
    memoryBytes: totalmem(),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    load: loadavg().map((value) => Number(value.toFixed(2))),
  };
}

/** Judges one row from its samples, one per round and side. */
export function lineOf(lane: string, row: Row, rounds: Partial<Record<SideName, number[]>>): Line {
  const { metric, title, unit, digits, target } = row;
  const peer = median(rounds.peer ?? []);
  const gateway = median(rounds.gateway ?? []);
  const ratios = (rounds.gateway ?? []).map((value, i) => value / (rounds.peer?.[i] ?? Number.NaN));
  const ratio = median(ratios);
  const reached = target === null ? null : reaches(target, ratio, gateway - peer);
  return {
    lane,
    metric,
    title,
    unit,
    digits,
    peer,
    gateway,
    ratio,
    direct: rounds.direct === undefined ? null : median(rounds.direct),
    low: Math.min(...ratios),
    high: Math.max(...ratios),
    target:
      target === null
        ? null
        : target.kind === 'ratio'
          ? `≤ ${target.max.toFixed(1)} ×`
          : `≤ +${target.max} ${unit}`,
    verdict: reached === null ? null : reached ? 'PASS' : 'MISS',
    rounds,
  };
}

/** Judged at the two decimals that the table shows. */
function reaches(target: Target, ratio: number, added: number): boolean {
  return target.kind === 'ratio' ? Number(ratio.toFixed(2)) <= target.max : added <= target.max;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** The lines as a Markdown table, one row a metric; `peer` is whom the gateway was measured against. */
export function renderTable(lines: readonly Line[], peer: string): string {
  const columns = ['', 'direct', peer, 'gateway', 'ratio', 'rounds', 'target', ''];
  const cells = lines.map((line) => {
    const show = (value: number | null) =>
      value === null ? '' : `${value.toFixed(line.digits)} ${line.unit}`;
    return [
      line.title,
      show(line.direct),
      show(line.peer),
      show(line.gateway),
      line.ratio.toFixed(2),
      `${line.low.toFixed(2)}–${line.high.toFixed(2)}`,
      line.target ?? '',
      line.verdict ?? '',
    ];
  });
  const widths = columns.map((name, i) => Math.max(name.length, ...cells.map((row) => row[i]?.length ?? 0)));
  const draw = (row: readonly string[]) =>
    `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [draw(columns), rule, ...cells.map(draw)].join('\n');
}
