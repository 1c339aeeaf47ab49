import { spawnSync } from 'node:child_process';
import { chownSync, globSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { accepts, freePort, type PrivateBroker, startBroker } from './server-process.ts';

/** Debian keeps the programs of each version in a folder of their own, which is not in the PATH. */
const [program] = globSync('/usr/lib/postgresql/*/bin/postgres').sort().reverse();

export const hasPostgres = program !== undefined;
if (!hasPostgres && process.env['TESTS_NEED_BROKERS'] === '1') throw new Error('Not installed: postgresql');

/** PostgreSQL refuses to run as root. */
const asPostgres =
  process.getuid?.() === 0 ? ['--reuid', 'postgres', '--regid', 'postgres', '--clear-groups'] : [];

/** A PostgreSQL server with a port of its own. @param folder keeps its data */
export async function startPostgres(folder: string): Promise<PrivateBroker> {
  const port = await freePort();
  const data = join(folder, 'data');
  mkdirSync(folder, { recursive: true });
  if (asPostgres.length > 0) chownSync(folder, idOf('-u'), idOf('-g'));
  const init = [
    join(dirname(program ?? ''), 'initdb'),
    '-D',
    data,
    '-A',
    'trust',
    '-U',
    'postgres',
    '--no-sync',
  ];
  const { status, stderr } = spawnSync('setpriv', [...asPostgres, ...init], {
    encoding: 'utf8',
    cwd: folder,
  });
  if (status !== 0) throw new Error(`initdb failed: ${stderr}`);
  const args = ['-D', data, '-p', String(port), '-k', folder, '-c', 'listen_addresses=127.0.0.1'];
  return startBroker(`postgres://postgres@127.0.0.1:${port}/postgres`, port, {
    command: 'setpriv',
    // The signal is forgotten when the user changes.
    args: [...asPostgres, '--pdeathsig', 'KILL', program ?? '', ...args],
    ready: async (output) => /database system is ready to accept connections/.test(output) && accepts(port),
  });
}

const idOf = (flag: '-u' | '-g'): number =>
  Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
