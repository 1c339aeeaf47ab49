import { GatewayError } from '../lib/error.ts';
import { allStatuses, type ToolStatus } from './all-statuses.ts';
import { baseUrlFor, ownRoot } from './configuring/base-url.ts';
import { createByHand } from './configuring/by-hand.ts';
import type { ToolChange, ToolPlace } from './configuring/configure.ts';
import { currentKey, keepsKeyInFile } from './configuring/current-key.ts';
import type { RestoreResult } from './configuring/restore.ts';
import { addCustomTool, removeCustomTool, shownTools, toolById } from './custom/store.ts';
import { createDetector, isInstalled } from './detection/detect.ts';
import { forVersion } from './detection/version.ts';
import type { Proof } from './doctor/proof.ts';
import { mendingCommand } from './drift/drift.ts';
import { isObject } from './files/value.ts';
import { launchRecipeOf } from './launching/launch.ts';
import type { Detection, ToolRow, ToolSettings, ToolSettingsInput } from './schema.ts';
import { batchStatus, readToolConfig } from './status.ts';
import { keyVariable, type Tool } from './tool.ts';

export interface ToolServiceInput {
  place: ToolPlace;
  /** Address at which this machine reaches the gateway. */
  root(): string;
  /** Names under which the gateway may be spoken to. */
  names: ReadonlySet<string>;
  keys: {
    /** Whether a text is that of a gateway key. */
    isGatewayKey(text: string): Promise<boolean>;
    /** Whether a text is that of the key with this id; null when there is no such key. */
    matcher(id: string): Promise<((text: string) => boolean) | null>;
  };
  /** The key with which the owner of this machine asks for models; null when there is none. */
  ownerKey(): string | null;
}

/** The tools of the machine that the gateway runs on, for callers of its management API. */
export interface ToolService {
  /** Every tool with where it points. No program is run. */
  rows(): Promise<ToolRow[]>;
  row(id: string): Promise<ToolRow | null>;
  /** Asks the programs as well; those who ask at once share the answer. @param refresh forgets what is remembered */
  statuses(refresh: boolean): Promise<ToolStatus[]>;
  /** A tool as it is installed; null when there is none of this id. */
  installed(id: string): Promise<Tool | null>;
  /** The tool whose configuration can be written. @throws GatewayError `not_found` */
  withSettings(id: string): Promise<Tool>;
  /** How a tool is set up. */
  settings(tool: Tool): Promise<ToolSettings>;
  /** Points a tool at this gateway. @throws GatewayError as `configureTool`, and for what is not of this gateway */
  configure(tool: Tool, input: ToolSettingsInput): Promise<ToolChange>;
  /** Takes what the gateway wrote, or puts a backup back. Nothing to take is no failure. */
  restore(tool: Tool, input: { backupId: string | null; dryRun: boolean }): Promise<RestoreResult>;
  /** Sends a real request as a tool does. Null when there is no such tool. */
  prove(id: string, input: ProveInput): Promise<Proof | null>;
  /** Keeps a tool that its user describes. @throws GatewayError as `addCustomTool` */
  add(described: unknown): Promise<ToolRow>;
  /** Forgets such a tool. @throws GatewayError as `removeCustomTool` */
  remove(id: string): Promise<void>;
}

export interface ProveInput {
  apiKey: string | null;
  model: string | null;
  /** Whether the tool's program may be run, to see its version. */
  runsProgram: boolean;
}

export function createToolService(input: ToolServiceInput): ToolService {
  const { place, root } = input;
  const detector = createDetector(place.machine);
  const byHand = createByHand();
  let asking: Promise<ToolStatus[]> | null = null;
  const asInstalled = async (tool: Tool) => forVersion(tool, await detector.knownVersion(tool));
  const shown = async (tool: Tool) => rowOf(await asInstalled(tool), place, { root: root(), byHand });
  return {
    async rows() {
      return Promise.all((await shownTools(place.dataDir)).map(shown));
    },
    async row(id) {
      const tool = await toolById(place.dataDir, id);
      return tool === null ? null : shown(tool);
    },
    async statuses(refresh) {
      if (refresh) detector.refresh();
      asking ??= shownTools(place.dataDir)
        .then((tools) => allStatuses(place, { tools, detector, gateways: [root()] }))
        .finally(() => {
          asking = null;
        });
      return asking;
    },
    async installed(id) {
      const tool = await toolById(place.dataDir, id);
      return tool === null ? null : asInstalled(tool);
    },
    async withSettings(id) {
      const tool = await toolById(place.dataDir, id);
      if (tool === null) throw new GatewayError('not_found', `There is no tool "${id.slice(0, 60)}"`);
      if (tool.recipe.files.length > 0) return tool;
      throw new GatewayError(
        'not_found',
        `${tool.name} has no configuration file that the gateway could write`,
      );
    },
    settings: async (tool) => settingsOf(await asInstalled(tool), place, root()),
    async configure(entry, { base_url, dry_run = false, model = null, ...keys }) {
      const address = base_url === undefined ? root() : ownRoot(base_url, root(), input.names);
      const tool = await asInstalled(entry);
      const apiKey = await keyFor(tool, keys, input);
      const { configureTool } = await import('./configuring/configure.ts');
      return withoutSystemErrors(tool, () =>
        configureTool(place, { tool, root: address, apiKey, model, dryRun: dry_run }),
      );
    },
    async restore(tool, { backupId, dryRun }) {
      const { restoreTool } = await import('./configuring/restore.ts');
      return withoutSystemErrors(tool, () => restoreTool(place, { tool, backupId, dryRun })).catch(
        (error) => {
          if (backupId === null && error instanceof GatewayError && error.code === 'not_found')
            return unchanged(tool);
          throw error;
        },
      );
    },
    async prove(id, { apiKey, model, runsProgram }) {
      const entry = await toolById(place.dataDir, id);
      if (entry === null) return null;
      const tool = await asInstalled(entry);
      const installed = await isInstalled(tool, place.machine);
      const seen: Detection = { installed, runnable: installed };
      const detection = runsProgram ? await detector.detect(tool) : seen;
      const { prove } = await import('./doctor/proof.ts');
      return prove({
        place,
        tool,
        detection,
        root: root(),
        apiKey,
        ownerKey: input.ownerKey,
        model,
      });
    },
    async add(described) {
      return shown(await addCustomTool(place, described, { replace: false }));
    },
    remove: (id) => removeCustomTool(place.dataDir, id),
  };
}

interface RowInput {
  root: string;
  byHand: ReturnType<typeof createByHand>;
}

async function rowOf(tool: Tool, place: ToolPlace, { byHand, root }: RowInput): Promise<ToolRow> {
  const { binaries: _, evidence: __, formerRecipes: ___, recipe, ...entry } = tool;
  const [installed, config] = await Promise.all([
    isInstalled(tool, place.machine),
    readToolConfig(place, tool, [root]),
  ]);
  const { status } = batchStatus(tool.id, { installed, runnable: installed }, config).config;
  const { drifted, endpoint, model, paths } = config;
  return {
    ...entry,
    api: recipe.api,
    model_required: recipe.model === 'required',
    installed,
    status,
    endpoint,
    model,
    paths,
    drifted,
    mend: mendingCommand(tool.id, config),
    by_hand: byHand(tool, paths),
    base_url_has_version: baseUrlFor(recipe.api, root).endsWith('/v1'),
    settings_href: recipe.files.length === 0 ? null : `/api/cli-tools/${tool.id}-settings`,
    launchable: launchRecipeOf(tool) !== null,
  };
}

async function settingsOf(tool: Tool, place: ToolPlace, root: string): Promise<ToolSettings> {
  const config = await readToolConfig(place, tool, [root]);
  const { drifted, endpoint, entries, error, lastConfiguredAt, model, paths, status } = config;
  const inFile = keepsKeyInFile(tool);
  return {
    tool: tool.id,
    name: tool.name,
    status,
    path: paths[0] ?? null,
    paths,
    endpoint,
    model,
    config: entries,
    drifted,
    mend: mendingCommand(tool.id, config),
    last_configured_at: lastConfiguredAt,
    model_required: tool.recipe.model === 'required',
    key_in_file: inFile,
    key_variable: inFile ? null : keyVariable,
    ...(error === null ? {} : { error }),
  };
}

/** The key to write: the given one, or the one that the tool has already. */
async function keyFor(
  tool: Tool,
  { api_key, key_id }: Pick<ToolSettingsInput, 'api_key' | 'key_id'>,
  { keys, place }: ToolServiceInput,
): Promise<string | null> {
  if (api_key !== undefined && key_id !== undefined)
    throw wrongKey('key_id', 'Give api_key or key_id, not both');
  if (api_key !== undefined) {
    if (await keys.isGatewayKey(api_key)) return api_key;
    throw wrongKey(
      'api_key',
      'This is not a key of this gateway: give the whole key, as it was shown when it was created',
    );
  }
  const matches = key_id === undefined ? keys.isGatewayKey : await keys.matcher(key_id);
  if (matches === null) throw wrongKey('key_id', 'There is no key with this id');
  if (!keepsKeyInFile(tool)) return null;
  const current = await currentKey(tool, place.machine).catch(() => null);
  if (current !== null && (await matches(current))) return current;
  if (key_id === undefined) return null;
  throw wrongKey(
    'key_id',
    `${tool.name} keeps its key in its file, and the gateway keeps no text of a key: give it as api_key`,
  );
}

function wrongKey(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}

/** What the system refuses, in one sentence without a path of the gateway's own. */
async function withoutSystemErrors<T>(tool: Tool, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const code = isObject(error) && !(error instanceof GatewayError) ? error['code'] : undefined;
    if (typeof code !== 'string' || !/^E[A-Z0-9]+$/.test(code)) throw error;
    throw new GatewayError(
      'conflict',
      `The configuration of ${tool.name} cannot be read or written (${code}): look at its owner and permissions`,
      { cause: error },
    );
  }
}

function unchanged(tool: Tool): RestoreResult {
  return {
    ok: true,
    tool: tool.id,
    path: null,
    changed: false,
    diff: '',
    backup_id: null,
    files: [],
    kept: [],
  };
}
