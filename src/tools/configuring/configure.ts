import { isDeepStrictEqual } from 'node:util';
import { GatewayError } from '../../lib/error.ts';
import { formats } from '../files/formats.ts';
import { pathText, resolvePath } from '../files/path.ts';
import type { Machine } from '../machine.ts';
import type { BackupManifest } from '../schema.ts';
import type { Tool } from '../tool.ts';
import {
  digest,
  dropBackup,
  pruneBackups,
  type SavedFile,
  saveBackup,
  valueDigest,
  writeManifest,
} from './backups.ts';
import { keepsKeyInFile } from './current-key.ts';
import { checkHomeOwner } from './home-owner.ts';
import { decoded, type PlannedFile, planTool, type Target, type ToolPlan } from './plan.ts';
import { isMasked } from './secrets.ts';
import { putState, readState, removeEmptyFolders, writeFileWhole } from './write-file.ts';

/** Where the use cases of tools work. */
export interface ToolPlace {
  machine: Machine;
  dataDir: string;
  /** Epoch milliseconds. */
  now: () => number;
}

/** What a change of a tool's configuration did, or would do. */
export interface ToolChange {
  ok: true;
  tool: string;
  /** The tool's main configuration file; null for tools without any. */
  path: string | null;
  changed: boolean;
  /** Unified, without secrets. */
  diff: string;
  backup_id: string | null;
  files: { path: string; changed: boolean }[];
  /** Variables that the tool needs besides; null stands for the gateway key. */
  environment: Readonly<Record<string, string | null>>;
  /** What its user still has to do by hand. */
  steps: readonly string[];
}

export interface ConfigureInput extends Target {
  tool: Tool;
  /** Shows what would be written, and writes nothing. */
  dryRun?: boolean;
}

/**
 * Points a tool at the gateway. Its files are kept in a backup before they change, and read back afterwards; when
 * anything fails they are as before.
 * @throws GatewayError `invalid_request` for a file that cannot be changed safely, a missing model or key, a masked key,
 * a tool that cannot be pointed elsewhere
 */
export async function configureTool(place: ToolPlace, input: ConfigureInput): Promise<ToolChange> {
  const { dryRun = false, tool, ...target } = input;
  checkTarget(tool, target);
  const plan = await planTool(tool, target, place.machine);
  const changing = plan.files.filter(({ changed }) => changed);
  if (dryRun || changing.length === 0) return changeOf(plan, null);
  await checkHomeOwner(place.machine);
  const backup = await saveBackup(place.dataDir, {
    tool: tool.id,
    action: 'configure',
    gateway: target.root,
    files: changing.map(savedFile),
    now: place.now(),
  });
  await writeAll(place, changing, backup);
  await pruneBackups(place.dataDir, tool.id);
  return changeOf(plan, backup.id);
}

function checkTarget(tool: Tool, { apiKey, model }: Target): void {
  const { limitation, name, recipe } = tool;
  if (recipe.files.length === 0 && recipe.environment === undefined && recipe.steps === undefined)
    throw new GatewayError(
      'invalid_request',
      `${name} cannot be pointed at a gateway${limitation === undefined ? '' : `: ${limitation}`}`,
    );
  if (model === null && recipe.model === 'required')
    throw new GatewayError('invalid_request', `${name} needs a model: name one that the gateway serves`, {
      param: 'model',
    });
  if (apiKey !== null && (isMasked(apiKey) || /\s/.test(apiKey) || apiKey === ''))
    throw new GatewayError(
      'invalid_request',
      'The key is incomplete: give it as it was shown when it was created',
      {
        param: 'api_key',
      },
    );
  if (apiKey === null && keepsKeyInFile(tool))
    throw new GatewayError(
      'invalid_request',
      `${name} keeps its key in its configuration: give a gateway key`,
      { param: 'api_key' },
    );
}

function savedFile({ before, entries, format, made, path, text }: PlannedFile): SavedFile {
  return {
    path,
    format,
    before,
    written: digest(text),
    folders: [],
    entries: entries.map(({ after, before: former, loose, path: entry }) => ({
      loose,
      path: [...entry],
      ...(former === undefined ? {} : { before: former as never }),
      written: after === undefined ? null : valueDigest(after),
    })),
    made: made.map((one) => [...one]),
  };
}

/** Writes one file after the other; when one fails, those before it are put back. */
async function writeAll(
  place: ToolPlace,
  files: readonly PlannedFile[],
  backup: BackupManifest,
): Promise<void> {
  const folders = new Map<string, string[]>();
  const written: PlannedFile[] = [];
  try {
    for (const file of files) {
      await checkUnchanged(file);
      written.push(file);
      folders.set(file.path, await writeFileWhole(file.path, Buffer.from(file.text), file.mode));
      await readBack(file);
    }
  } catch (error) {
    for (const { before, path } of written) await putState(path, before);
    await removeEmptyFolders([...folders.values()].flat());
    await dropBackup(place.dataDir, backup);
    throw error;
  }
  const withFolders = backup.files.map((file) => ({ ...file, folders: folders.get(file.path) ?? [] }));
  await writeManifest(place.dataDir, { ...backup, files: withFolders });
}

/** @throws GatewayError when the file was changed since it was read */
async function checkUnchanged({ before, path }: PlannedFile): Promise<void> {
  const { bytes } = await readState(path);
  const same = bytes === null || before.bytes === null ? bytes === before.bytes : bytes.equals(before.bytes);
  if (!same)
    throw new GatewayError('conflict', `${path} was changed by another program just now: repeat the command`);
}

/** @throws GatewayError when the file does not say what was written */
async function readBack({ entries, format, path }: PlannedFile): Promise<void> {
  const { bytes } = await readState(path);
  const read = formats[format].read(decoded(bytes, path));
  const wrong = entries.find(
    (entry) => !read.ok || !isDeepStrictEqual(resolvePath(read.value, entry.path).existing, entry.after),
  );
  if (wrong === undefined) return;
  throw new GatewayError(
    'internal_error',
    `${path} does not hold ${pathText(wrong.path)} as it was written, and was put back`,
  );
}

function changeOf({ environment, files, steps, tool }: ToolPlan, backupId: string | null): ToolChange {
  return {
    ok: true,
    tool: tool.id,
    path: files[0]?.path ?? null,
    changed: files.some(({ changed }) => changed),
    diff: files.map(({ diff }) => diff).join(''),
    backup_id: backupId,
    files: files.map(({ changed, path }) => ({ path, changed })),
    environment,
    steps,
  };
}
