import type { Config } from '../../config.ts';
import { countEncrypted } from '../../responses/encrypted-responses.ts';
import { readRunFile } from '../../run-file.ts';
import { databasePath } from '../../store/database.ts';
import {
  type Check,
  type CheckName,
  checkConfig,
  checkDatabase,
  checkLiveness,
  checkMemory,
  checkNames,
  checkNative,
  checkPort,
  checkRuntime,
  checkStorage,
  databaseState,
  messageOf,
  type PortHolders,
} from '../checks.ts';
import type { Command, Options } from '../command.ts';
import type { Context } from '../context.ts';
import { connections } from '../setup/connect.ts';
import { checkReport, summaryOf } from '../terminal/check-report.ts';

export const doctorCommand: Command = {
  arguments: [],
  flags: [
    { name: 'no-liveness', summary: 'do not ask the gateway whether it is alive' },
    { name: 'host', value: 'HOST', summary: 'host of the gateway (env GATEWAY_HOST, default 127.0.0.1)' },
    { name: 'liveness-url', value: 'URL', summary: 'probe this address instead of the gateway’s /healthz' },
  ],
  needs: 'nothing',
  about:
    'Changes nothing. Exit 1 when a check fails; warnings do not count. After the eight checks come the ACP agents that are enabled and cannot answer.',
  examples: [
    { command: 'gateway doctor', does: 'eight checks' },
    {
      command: 'gateway doctor --no-liveness --json',
      does: '{"checks":[{"name","status","message"}],"summary":{…}}',
    },
  ],
  run: async (options, context) => {
    const results: Check[] = [];
    const find = findings(options, context);
    for (const name of checkNames) results.push({ name, ...(await guarded(find[name])) });
    const checks = [...results, ...(await agentChecks(context))];
    const summary = summaryOf(checks);
    context.io.result({ checks, summary }, () => checkReport(checks, context.io));
    return summary.fail === 0 ? 0 : 1;
  },
};

type Finding = Omit<Check, 'name'>;
type Find = () => Promise<Finding>;

function findings(options: Options, context: Context): Readonly<Record<CheckName, Find>> {
  /** Checks that depend on the configuration say so when it is invalid; the check named Config has the reason. */
  const configured =
    (check: (config: Config) => Promise<Finding>): Find =>
    async () => {
      const config = await context.config().catch(() => null);
      return config === null ? unknown('the configuration is invalid') : check(config);
    };
  return {
    Config: async () => checkConfig(await context.config()),
    Database: configured(async ({ database, dataDir }) => {
      if (database !== null) return checkServer(database);
      const path = databasePath(dataDir);
      return checkDatabase(path, await databaseState(path));
    }),
    'Storage/encryption': configured((config) => storage(config, context)),
    'Port availability': configured(async (config) =>
      checkPort(config, await holders(config, context), options.text('host') !== undefined),
    ),
    'Node runtime': async () => checkRuntime(process.versions.node),
    'Native binary': checkNative,
    Memory: async () => checkMemory(),
    'Server liveness': configured((config) => liveness(config, options, context)),
  };
}

/** The gateway of this data directory: as it answers, and as it said when it started. */
async function holders({ dataDir }: Config, context: Context): Promise<PortHolders> {
  const started = readRunFile(dataDir);
  return {
    running: await context.findGateway(),
    started: started !== null && isAlive(started.pid) ? started : null,
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // A process of another user may not be signaled, but exists.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The ACP agents that are enabled and cannot answer, each with what mends it. */
async function agentChecks(context: Context): Promise<(Finding & { name: string })[]> {
  const config = await context.config().catch(() => null);
  // Opening a database of another version would change it.
  if (config === null || !(await mayOpen(config))) return [];
  const { agentRows } = await import('../resources/agents.ts');
  const rows = await agentRows(context, { probe: false });
  return rows.flatMap(({ enabled, id, problem }) =>
    enabled && problem !== null ? [{ name: `Agent ${id}`, status: 'warn', message: problem }] : [],
  );
}

/** Whether opening the database leaves it as it is. */
async function mayOpen({ database, dataDir }: Config): Promise<boolean> {
  if (database === null) return (await databaseState(databasePath(dataDir))).state === 'current';
  return lookAt(database).then(
    ({ pending }) => pending.length === 0,
    () => false,
  );
}

/** Loaded only where there is a server to look at. */
async function lookAt(database: string) {
  return (await import('../../store/postgres/inspect.ts')).inspectPostgres(database);
}

async function checkServer(database: string): Promise<Finding> {
  const { empty, pending, place } = await lookAt(database);
  if (empty)
    return { status: 'warn', message: `${place} is empty: \`gateway serve\` or \`gateway setup\` fills it` };
  if (pending.length === 0) return { status: 'ok', message: `${place} answers and is up to date` };
  return {
    status: 'warn',
    message: `${place} will be brought up to date at the next start: ${pending.join(', ')}`,
  };
}

/** A check that cannot be carried out at all has failed. */
async function guarded(find: Find): Promise<Finding> {
  try {
    return await find();
  } catch (error) {
    return { status: 'fail', message: messageOf(error) };
  }
}

function unknown(reason: string): Finding {
  return { status: 'warn', message: `not checked: ${reason}` };
}

async function storage(config: Config, context: Context): Promise<Finding> {
  const { database, dataDir } = config;
  const { state } =
    database === null
      ? await databaseState(databasePath(dataDir))
      : { state: (await mayOpen(config)) ? 'current' : 'behind' };
  // Opening a database of another version would change it.
  if (state === 'behind' || state === 'unusable') return unknown('see the check named Database');
  const { responses, source } = await context.sealingKey();
  if (state === 'missing')
    return checkStorage({
      source,
      dataDir,
      sealed: [],
      unreadable: [],
      responses: { total: 0, unreadable: 0 },
    });
  const keyed = (await (await connections(context)).listOpen()).filter(({ authType }) => authType !== 'none');
  return checkStorage({
    source,
    dataDir,
    sealed: keyed.map(({ name }) => name),
    unreadable: keyed.filter(({ credential }) => credential === null).map(({ name }) => name),
    responses: await countEncrypted(await context.store(), responses.name),
  });
}

async function liveness(config: Config, options: Options, context: Context): Promise<Finding> {
  if (options.on('no-liveness')) return { status: 'ok', message: 'not checked (--no-liveness)' };
  const url = options.text('liveness-url');
  if (url !== undefined) return checkLiveness(url, true);
  const running = await context.findGateway();
  if (running !== null && options.text('host') === undefined) {
    return {
      status: 'ok',
      message: `${running.url} answers (pid ${running.pid}, version ${running.version})`,
    };
  }
  if (config.port === 0) return { status: 'warn', message: 'no gateway runs on this data directory' };
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  return checkLiveness(`http://${host}:${config.port}/healthz`, options.text('host') !== undefined);
}
