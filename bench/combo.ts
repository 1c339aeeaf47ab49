/**
 * Measures what it costs to find the targets of a combo, for every strategy:
 *   node bench/combo.ts [--targets N] [--rounds N]
 * Each number is the best of the rounds, of the mean over a thousand plans: noise only ever adds. It is CPU time, all
 * threads together, so that other work on the machine counts little.
 */

import { parseArgs } from 'node:util';
import { keyIndexOf } from '../src/access/keys/key-index.ts';
import { createCatalog } from '../src/catalog/catalog.ts';
import { type ComboRecord, defaultOptions } from '../src/combos/combo-schema.ts';
import { createRouting } from '../src/combos/routing/routing.ts';
import { strategyName } from '../src/combos/schema.ts';
import { createAccounts } from '../src/health/accounts.ts';
import { buildSnapshot } from '../src/snapshot.ts';
import { connectionWith } from '../test/support/routing/connection.ts';

const flags = parseArgs({
  options: { targets: { type: 'string', default: '200' }, rounds: { type: 'string', default: '20' } },
}).values;
const targets = Number(flags.targets);
const rounds = Number(flags.rounds);
const PLANS = 1_000;
const LIMIT_US = 50;

/** One connection for each target, with half of them at a provider whose prices are known. */
function connectionAt(index: number) {
  return connectionWith({
    id: `con_${index}`,
    provider: index % 2 === 0 ? 'openai' : 'openai-compatible',
    name: `c${index}`,
    authType: 'none',
    baseUrl: 'http://127.0.0.1:9',
    createdAt: index,
    credential: null,
  });
}

const connections = Array.from({ length: targets }, (_, index) => connectionAt(index));
const combos = strategyName.options.map(
  (strategy): ComboRecord => ({
    id: `combo_${strategy}`,
    name: strategy,
    strategy,
    options: defaultOptions,
    active: false,
    targets: connections.map(({ name }, index) => ({ target: `${name}/gpt-4o`, weight: 1 + (index % 7) })),
    createdAt: 0,
    updatedAt: 0,
  }),
);
const { routes } = buildSnapshot({
  keys: keyIndexOf([]),
  connections,
  combos,
  aliases: [],
  catalog: createCatalog({ overrides: {} }),
  revision: 1,
});
const accounts = createAccounts({ now: Date.now, onChange() {} });
const routing = createRouting({ healthView: accounts, random: Math.random, now: Date.now });
const principal = { keyId: 'key', name: 'bench', models: null };

/** Microseconds of CPU time for one plan. */
function sample(requested: string, headers: Record<string, string>): number {
  const body = [
    Buffer.from(JSON.stringify({ model: requested, messages: [{ role: 'user', content: 'x'.repeat(900) }] })),
  ];
  const began = process.cpuUsage();
  for (let index = 0; index < PLANS; index += 1)
    routing.plan(routes, { requested, format: 'openai-chat', principal, headers, body });
  const { system, user } = process.cpuUsage(began);
  return (system + user) / PLANS;
}

const lines = strategyName.options.map((strategy) => {
  const best = (headers: Record<string, string>) =>
    Math.min(...Array.from({ length: rounds }, () => sample(strategy, headers)));
  const [named, guessed] = [best({ 'x-session-id': 'one' }), best({})];
  return { strategy, named, guessed };
});
console.log(`A combo of ${targets} targets, best of ${rounds} × ${PLANS} plans, in microseconds of CPU:\n`);
console.log('| strategy | session by header | session by words |\n|---|---|---|');
for (const { guessed, named, strategy } of lines)
  console.log(`| ${strategy} | ${named.toFixed(1)} | ${guessed.toFixed(1)} |`);
if (targets <= 200 && lines.some(({ guessed, named }) => Math.max(guessed, named) > LIMIT_US))
  process.exitCode = 1;
