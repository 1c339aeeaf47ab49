import { hashKey } from '../access/keys/keys.ts';
import { hasKey, type keyStore } from '../access/store.ts';
import { type Config, readVariable } from '../config.ts';
import type { Listening } from '../http/outbound/outbound.ts';
import { describe, type Log } from '../lib/log.ts';
import type { Schedule } from '../lib/time/schedule.ts';
import { readRunFile } from '../run-file.ts';
import type { Store } from '../store/database.ts';
import type { ToolStatus } from '../tools/all-statuses.ts';
import { rootAt } from '../tools/configuring/base-url.ts';
import { createDriftWatch } from '../tools/drift/watch.ts';
import { machineOf, machineVariables } from '../tools/machine.ts';
import type { ToolService, ToolServiceInput } from '../tools/service.ts';
import type { CliTools, DriftedTool, ManagementContext } from './context.ts';

export interface CliToolsInput extends Pick<ManagementContext, 'hosts' | 'now'> {
  config: Config;
  store: Pick<Store, 'db'>;
  keys: Pick<ReturnType<typeof keyStore>, 'find'>;
  listening: Listening;
  schedule: Schedule;
  log: Log;
  /** Told of what was found whenever all programs are asked. */
  onStatuses(statuses: readonly ToolStatus[]): void;
}

/** How often the files of tools that were set up are looked at. */
const LOOK_MS = 15_000;

/** The coding tools of the machine and the user that the gateway runs as. */
export function openCliTools(input: CliToolsInput): CliTools {
  const { config, hosts, keys, listening, log, now, schedule, store } = input;
  const variables = Object.fromEntries(machineVariables.map((name) => [name, readVariable(name)]));
  const place = { machine: machineOf(variables), dataDir: config.dataDir, now };
  const root = () => {
    const { host, port } = listening() ?? config;
    return rootAt(host, port);
  };
  const service = toolServiceOnUse({
    place,
    names: hosts,
    root,
    keys: {
      isGatewayKey: (text) => hasKey(store, text),
      async matcher(id) {
        const key = await keys.find(id);
        return key === null ? null : (text) => key.hash === hashKey(text);
      },
    },
    ownerKey: () => readRunFile(config.dataDir)?.key ?? null,
  });
  const drifted = new Map<string, DriftedTool>();
  const look = createDriftWatch({
    place,
    root,
    tool: service.installed,
    onChange({ category, id, name }, drift) {
      if (drift === null) drifted.delete(id);
      else drifted.set(id, { id, name, category, ...drift });
      if (drift === null) log.info({ tool: id }, 'the configuration of a coding tool is correct again');
      else
        log.warn(
          { tool: id, entries: drift.entries, mend: drift.mend },
          'the configuration of a coding tool has changed since it was set up',
        );
    },
  });
  schedule.every({
    name: 'files of coding tools',
    everyMs: LOOK_MS,
    run: look,
    onError: (error) => log.error({ error: describe(error) }, 'the files of coding tools cannot be checked'),
  });
  return {
    service: {
      ...service,
      async statuses(refresh) {
        const statuses = await service.statuses(refresh);
        input.onStatuses(statuses);
        return statuses;
      },
    },
    drifted: () => [...drifted.values()],
    remoteDetection: config.remoteDetection,
  };
}

/** The service, made at the first call: it brings every tool of the catalogue and the parsers of all their files. */
function toolServiceOnUse(input: ToolServiceInput): ToolService {
  let made: Promise<ToolService> | null = null;
  const service = () => {
    made ??= import('../tools/service.ts').then(({ createToolService }) => createToolService(input));
    return made;
  };
  return {
    rows: async () => (await service()).rows(),
    row: async (id) => (await service()).row(id),
    statuses: async (refresh) => (await service()).statuses(refresh),
    installed: async (id) => (await service()).installed(id),
    withSettings: async (id) => (await service()).withSettings(id),
    settings: async (tool) => (await service()).settings(tool),
    configure: async (tool, settings) => (await service()).configure(tool, settings),
    restore: async (tool, options) => (await service()).restore(tool, options),
    prove: async (id, options) => (await service()).prove(id, options),
    add: async (described) => (await service()).add(described),
    remove: async (id) => (await service()).remove(id),
  };
}
