import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Command } from '../command.ts';
import { type DemoDataResult, markerFile, writeDemoData } from '../demo-data/write.ts';
import { failure, usageError } from '../terminal/failure.ts';

const DAYS = 30;
const REQUESTS_A_DAY = 1_000;
const MOST_DAYS = 366;
const MOST_REQUESTS = 5_000_000;

export const demoDataCommand: Command = {
  arguments: [{ name: 'dir', summary: 'a new folder, or one that this command made', required: true }],
  flags: [
    { name: 'days', value: 'N', kind: 'count', summary: `how far it goes back (default ${DAYS})` },
    {
      name: 'requests',
      value: 'N',
      kind: 'count',
      summary: `how many requests, about (default ${REQUESTS_A_DAY} a day)`,
    },
    { name: 'seed', value: 'N', kind: 'count', summary: 'seed of the made-up traffic (default 1)' },
    { name: 'replace', summary: 'remove existing demo data first' },
  ],
  needs: 'nothing',
  about:
    'Makes a data directory to explore: users, connections, keys, combos, budgets, and the requests of a small team. Nothing in it leads to a real provider, and your own data directory is not touched. The same seed makes the same traffic; passwords and keys are new each time.',
  examples: [
    { command: 'gateway demo-data /tmp/modelgate-demo', does: 'a month of traffic' },
    {
      command: 'gateway demo-data /tmp/modelgate-demo --replace --requests 100000',
      does: 'much traffic, in place of the last',
    },
  ],
  run: async (options, context) => {
    const { io, now } = context;
    const dataDir = resolve(options.argument('dir') ?? '');
    const days = options.count('days') ?? DAYS;
    const requests = options.count('requests') ?? days * REQUESTS_A_DAY;
    if (days < 1 || days > MOST_DAYS) throw usageError(`--days takes 1 to ${MOST_DAYS}`);
    if (requests < 1 || requests > MOST_REQUESTS) throw usageError(`--requests takes 1 to ${MOST_REQUESTS}`);
    const { findGateway } = await import('../gateway/client.ts');
    if ((await findGateway(dataDir)) !== null)
      throw failure(
        1,
        'conflict',
        `A gateway runs on ${dataDir}: stop it first, with \`gateway stop --data-dir ${dataDir}\``,
      );
    await emptied(dataDir, options.on('replace'));
    const summary: DemoDataResult = await writeDemoData({
      dataDir,
      days,
      requests,
      seed: options.count('seed') ?? 1,
      end: now(),
      progress: (written) => io.note(`${written} requests written`),
    });
    io.result({ data_dir: dataDir, ...summary }, () =>
      [
        `${summary.requests} requests of ${days} days are in ${dataDir}.`,
        'Look around:',
        `  gateway --data-dir ${dataDir}`,
        `Log in as ${summary.users.join(', ')} with the password ${summary.password}`,
      ].join('\n'),
    );
    return 0;
  },
};

/** Makes the folder, or empties it. @throws a failure where it holds anything but demo data */
async function emptied(dataDir: string, replace: boolean): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const members = await readdir(dataDir);
  if (members.length === 0) return chmod(dataDir, 0o700);
  if (!members.includes(markerFile))
    throw failure(1, 'conflict', `${dataDir} is not empty and is not demo data: name a new folder`);
  if (!replace)
    throw failure(1, 'conflict', `${dataDir} contains demo data already: --replace creates it again`);
  for (const member of members) await rm(join(dataDir, member), { recursive: true });
}
