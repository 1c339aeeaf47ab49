/**
 * What CESQL costs: compiling and evaluating the expressions of the Go SDK's own measurements, and choosing among 1,000
 * filters with the index and without, for the same events, in turns.
 *
 *     node bench/cesql.ts
 *
 * The figures of the Go SDK are no part of the run: they were measured once for the same expressions and the same event
 * (cloudevents/sdk-go, sql/v2 of 2026-06, `Evaluate` and `Parse`, Go 1.19.8, two virtual cores of an AMD EPYC).
 */
import { parseArgs } from 'node:util';
import { type CompiledExpression, compile, createFilterIndex } from '../src/events/cesql/cesql.ts';

// Takes no arguments, and refuses any.
parseArgs();

const ROUNDS = 15;
const ROUND_MS = 40;

interface Subject {
  text: string;
  /** Nanoseconds of the Go SDK. */
  goEvaluate: number;
  goParse: number;
}

const subjects: readonly Subject[] = [
  { text: "type = 'com.example.someevent'", goEvaluate: 75, goParse: 19_500 },
  { text: "source LIKE 'http://%'", goEvaluate: 221, goParse: 36_400 },
  { text: "id LIKE 'not%' AND source LIKE '%.ca'", goEvaluate: 347, goParse: 25_100 },
  { text: 'hop < ttl', goEvaluate: 859, goParse: 11_400 },
  {
    text: "(id = 'myId' AND type LIKE '%.success') OR (id = 'notmyId' AND source LIKE 'http://%' AND type LIKE '%.warning')",
    goEvaluate: 530,
    goParse: 54_800,
  },
];

const event = {
  specversion: '1.0',
  id: 'notmyId',
  type: 'example.event.warning',
  source: 'http://www.some-website.ca',
  hop: '5',
  ttl: '10',
};
function compiled(text: string): CompiledExpression {
  const result = compile(text);
  if (!result.ok) throw new Error(result.error.message);
  return result.expression;
}

/** Nanoseconds for one call of each of the works, done in turns: the median round. */
function nanoseconds(works: readonly ((turn: number) => unknown)[]): number[] {
  const rounds = works.map((): number[] => []);
  for (let round = -3; round < ROUNDS; round += 1) {
    works.forEach((work, index) => {
      const taken = roundOf(work);
      if (round >= 0) rounds[index]?.push(taken);
    });
  }
  return rounds.map((list) => list.sort((a, b) => a - b)[list.length >> 1] ?? Number.NaN);
}

/** CPU nanoseconds for one call. What the work returns is looked at, so that none of it is left out. */
function roundOf(work: (turn: number) => unknown): number {
  let calls = 0;
  let nothing = 0;
  const begun = process.cpuUsage();
  const until = performance.now() + ROUND_MS;
  while (performance.now() < until) {
    for (let turn = 0; turn < 64; turn += 1) if (work(turn) === undefined) nothing += 1;
    calls += 64;
  }
  const { system, user } = process.cpuUsage(begun);
  if (nothing > 0) throw new Error('nothing was computed');
  return ((system + user) * 1_000) / calls;
}

const ns = (value: number): string =>
  value < 10_000 ? `${Math.round(value)} ns` : `${(value / 1_000).toFixed(1)} µs`;
const row = (...cells: readonly (string | number)[]): void => {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
};

function compareExpressions(): void {
  row('expression', 'evaluate', 'with errors', 'Go SDK', 'ratio', 'compile', 'Go SDK');
  row('---', '---', '---', '---', '---', '---', '---');
  for (const { goEvaluate, goParse, text } of subjects) {
    const expression = compiled(text);
    const [match = 0, complete = 0, compiling = 0] = nanoseconds([
      () => expression.matches(event),
      () => expression.evaluate(event),
      () => compile(text),
    ]);
    row(
      `\`${text}\``,
      ns(match),
      ns(complete),
      ns(goEvaluate),
      `${(goEvaluate / match).toFixed(1)} ×`,
      ns(compiling),
      ns(goParse),
    );
  }
}

/** Filters as a configuration has them: most by type, some by source, some by neither. */
const mixes: Readonly<Record<string, (n: number) => string>> = {
  'by type': (n) => `type = 'com.example.type${n}'`,
  'by type, source and hops': (n) =>
    n % 10 < 6
      ? `type = 'com.example.type${n}' AND hop < ttl`
      : n % 10 < 9
        ? `source LIKE '/tenants/${n}/%' AND EXISTS subject`
        : `hop < ttl AND LENGTH(subject) > ${n % 7}`,
  'by parts of names, in common': (n) =>
    `source LIKE '%/orders/%' AND hop < ttl AND (type LIKE '%.type${n % 100}' OR LENGTH(subject) = ${n})`,
  'by nothing that can be looked up': (n) => `LENGTH(subject) + ${n} > 1000 OR LOWER(source) = '${n}'`,
};

function compareIndex(): void {
  const count = 1_000;
  const some = Array.from({ length: 64 }, (_, n) => ({
    ...event,
    type: `com.example.type${n * 15}`,
    source: `/tenants/${n * 15 + 7}/orders/9`,
    subject: 'x'.repeat(n),
  }));
  row(`${count} filters`, 'one by one', 'with the index', 'ratio', 'evaluated by look-up', 'shared parts');
  row('---', '---', '---', '---', '---', '---');
  for (const [name, textOf] of Object.entries(mixes)) {
    const filters = Array.from({ length: count }, (_, n) => ({ key: n, expression: compiled(textOf(n)) }));
    const index = createFilterIndex(filters);
    const oneByOne = (turn: number) =>
      filters.filter(({ expression }) => expression.matches(some[turn] ?? event)).map(({ key }) => key);
    some.forEach((each, turn) => {
      if (String(oneByOne(turn)) !== String(index.match(each))) throw new Error(`${name}: different choices`);
    });
    const [alone = 0, together = 0] = nanoseconds([oneByOne, (turn) => index.match(some[turn] ?? event)]);
    const { indexed, sharedParts } = index.statistics;
    row(name, ns(alone), ns(together), `${(alone / together).toFixed(1)} ×`, indexed, sharedParts);
  }
}

compareExpressions();
process.stdout.write('\n');
compareIndex();
