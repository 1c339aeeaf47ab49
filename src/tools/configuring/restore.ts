import { GatewayError } from '../../lib/error.ts';
import { formats } from '../files/formats.ts';
import { type Path, pathText, resolvePath } from '../files/path.ts';
import { FileEditError, isObject, type Json } from '../files/value.ts';
import type { BackupFile, BackupManifest } from '../schema.ts';
import type { Tool } from '../tool.ts';
import {
  digest,
  listBackups,
  pruneBackups,
  type SavedFile,
  saveBackup,
  savedState,
  sinceRestore,
  valueDigest,
} from './backups.ts';
import type { ToolChange, ToolPlace } from './configure.ts';
import { unifiedDiff } from './diff.ts';
import { checkHomeOwner } from './home-owner.ts';
import { decoded } from './plan.ts';
import { redacted, secretsIn } from './secrets.ts';
import { type FileState, putState, readState, removeEmptyFolders } from './write-file.ts';

export interface RestoreInput {
  tool: Tool;
  /** A backup whose files are put back byte for byte, whatever came into them since; null: see `restoreTool`. */
  backupId: string | null;
  dryRun?: boolean;
}

export interface RestoreResult extends Omit<ToolChange, 'environment' | 'steps'> {
  /** Entries that were left, because they are no longer what the gateway wrote. */
  kept: string[];
}

interface Restoration {
  path: string;
  format: BackupFile['format'];
  before: FileState;
  after: FileState;
  /** Folders that were made for the file. */
  folders: readonly string[];
  kept: string[];
}

/**
 * Undoes what the gateway wrote into a tool's files since they were last restored. A file that was not touched
 * since becomes what it was, byte for byte. From one that has changed only the gateway's entries are taken, and what
 * stood in their places is put back.
 * @throws GatewayError `not_found` when there is nothing to undo or no such backup
 */
export async function restoreTool(place: ToolPlace, input: RestoreInput): Promise<RestoreResult> {
  const { backupId, dryRun = false, tool } = input;
  const backups = await listBackups(place.dataDir, tool.id);
  const files =
    backupId === null
      ? await undone(place.dataDir, sinceRestore(backups), tool)
      : await exactly(place.dataDir, backups, backupId);
  const changing = files.filter(({ after, before }) => !sameState(before, after));
  const result = resultOf(tool, files, changing);
  if (dryRun || changing.length === 0) return result;
  await checkHomeOwner(place.machine);
  const backup = await saveBackup(place.dataDir, {
    tool: tool.id,
    action: 'restore',
    gateway: null,
    files: changing.map(savedFile),
    now: place.now(),
  });
  for (const { after, path } of changing) await putState(path, after);
  await removeEmptyFolders(changing.flatMap(({ after, folders }) => (after.bytes === null ? folders : [])));
  await pruneBackups(place.dataDir, tool.id);
  return { ...result, backup_id: backup.id };
}

/** The changes of all backups, from the last to the first, taken back. */
async function undone(
  dataDir: string,
  backups: readonly BackupManifest[],
  tool: Tool,
): Promise<Restoration[]> {
  const paths = [...new Set(backups.flatMap(({ files }) => files.map(({ path }) => path)))];
  if (paths.length === 0)
    throw new GatewayError(
      'not_found',
      `The gateway has changed nothing of ${tool.name}: there is nothing to restore`,
    );
  return Promise.all(
    paths.map(async (path) => {
      const changes = backups.flatMap((backup) =>
        backup.files.filter((file) => file.path === path).map((file) => ({ backup, file })),
      );
      const [first] = changes;
      const last = changes.at(-1);
      if (first === undefined || last === undefined) throw new Error('a path without a change');
      const before = await readState(path);
      const original = await savedState(dataDir, first.backup, first.file);
      const untouched = before.bytes !== null && digest(before.bytes) === last.file.written;
      const shared = { path, format: first.file.format, before, folders: first.file.folders };
      if (untouched) return { ...shared, after: original, kept: [] };
      if (before.bytes === null) return { ...shared, after: before, kept: [] };
      const { kept, text } = withoutOurs(
        decoded(before.bytes, path),
        changes.map(({ file }) => file),
        path,
      );
      return { ...shared, after: { bytes: Buffer.from(text), mode: before.mode }, kept };
    }),
  );
}

function withoutOurs(
  text: string,
  changes: readonly BackupFile[],
  path: string,
): { text: string; kept: string[] } {
  const keptEntries: string[] = [];
  let current = text;
  try {
    for (const { entries, format, made } of [...changes].reverse()) {
      const editor = formats[format];
      const currentValue = (entry: Path): Json | undefined => {
        const read = editor.read(current);
        if (!read.ok) throw new FileEditError(`${read.problem} (line ${read.line}, column ${read.column})`);
        return resolvePath(read.value, entry).existing;
      };
      for (const entry of entries.toReversed()) {
        const value = currentValue(entry.path);
        const ours = entry.written === null ? value === undefined : isWritten(value, entry.written);
        if (!ours) {
          const goesWithGroup = entry.loose && made.some((group) => isInside(entry.path, group));
          if (value !== undefined && !goesWithGroup) keptEntries.push(pathText(entry.path));
        } else if (entry.before === undefined) current = editor.remove(current, entry.path);
        else current = editor.set(current, entry.path, entry.before as Json);
      }
      const loose = entries.filter((entry) => entry.loose).map((entry) => entry.path);
      for (const group of made)
        if (isEmptyGroup(currentValue(group), group, loose)) current = editor.remove(current, group);
    }
  } catch (error) {
    if (!(error instanceof FileEditError)) throw error;
    throw new GatewayError('invalid_request', `${path} was left as it is: ${error.message}`, {
      cause: error,
    });
  }
  return { text: current, kept: [...new Set(keptEntries)] };
}

function isWritten(value: Json | undefined, written: string): boolean {
  return value !== undefined && valueDigest(value) === written;
}

function isInside(path: Path, group: Path): boolean {
  return path.length > group.length && pathText(path.slice(0, group.length)) === pathText(group);
}

/** Loose entries do not count, nor does the member by which an item of a list is found. */
function isEmptyGroup(value: Json | undefined, path: Path, loose: readonly Path[]): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (!isObject(value)) return false;
  const step = path.at(-1);
  const identity = typeof step === 'object' ? step.key : null;
  const goes = loose.map(pathText);
  return Object.keys(value).every((key) => key === identity || goes.includes(pathText([...path, key])));
}

async function exactly(
  dataDir: string,
  backups: readonly BackupManifest[],
  backupId: string,
): Promise<Restoration[]> {
  const backup = backups.find(({ id }) => id === backupId);
  if (backup === undefined)
    throw new GatewayError('not_found', `There is no backup ${backupId} of this tool`);
  return Promise.all(
    backup.files.map(async (file) => ({
      path: file.path,
      format: file.format,
      before: await readState(file.path),
      after: await savedState(dataDir, backup, file),
      folders: file.folders,
      kept: [],
    })),
  );
}

function savedFile({ after, before, format, path }: Restoration): SavedFile {
  const written = after.bytes === null ? null : digest(after.bytes);
  return { path, format, before, written, folders: [], entries: [], made: [] };
}

function sameState(a: FileState, b: FileState): boolean {
  if (a.bytes === null || b.bytes === null) return a.bytes === b.bytes;
  return a.bytes.equals(b.bytes) && a.mode === b.mode;
}

function resultOf(
  tool: Tool,
  files: readonly Restoration[],
  changing: readonly Restoration[],
): RestoreResult {
  return {
    ok: true,
    tool: tool.id,
    path: files[0]?.path ?? null,
    changed: changing.length > 0,
    diff: changing.map(diffOf).join(''),
    backup_id: null,
    files: files.map((file) => ({ path: file.path, changed: changing.includes(file) })),
    kept: files.flatMap(({ kept }) => kept),
  };
}

function diffOf({ after, before, format, path }: Restoration): string {
  const [from, to] = [before, after].map(({ bytes }) => (bytes === null ? null : bytes.toString('utf8')));
  const secrets = [from, to].flatMap((text) => {
    const read = formats[format].read(text ?? '');
    return read.ok ? secretsIn(read.value) : [];
  });
  return redacted(unifiedDiff(path, from ?? null, to ?? null), secrets);
}
