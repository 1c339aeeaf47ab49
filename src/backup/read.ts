import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { GatewayError } from '../lib/error.ts';
import { type Manifest, manifest as manifestSchema } from './schema.ts';
import { type TarMember, tarMembers } from './tar.ts';

const MAX_MANIFEST_BYTES = 65_536;

/** The manifest of a backup. @throws GatewayError when the file cannot be read as one */
export function readManifest(path: string): Promise<Manifest> {
  return reading(path, firstMember);
}

/**
 * Reads all of a backup and compares it with its manifest.
 * @param folder where its members are written to; null for nowhere
 * @param progress called with how much of the file is read, from 0 to 1
 * @throws GatewayError that says what is wrong with it
 */
export function unpackBackup(
  path: string,
  folder: string | null,
  progress: (done: number) => void = () => {},
): Promise<Manifest> {
  return reading(path, async (members, read) => {
    const manifest = await firstMember(members);
    const due = new Map<string, Manifest['members'][number]>(
      manifest.members.map((member) => [member.name, member]),
    );
    if (!due.has('modelgate.db')) throw new Error('it has no database');
    for await (const member of members) {
      const expected = due.get(member.name);
      if (expected === undefined)
        throw new Error(`its member ${JSON.stringify(member.name)} is not in its manifest, or there twice`);
      due.delete(member.name);
      if (member.bytes !== expected.bytes)
        throw new Error(`its member ${expected.name} has another size than its manifest says`);
      const digest = await copied(member, folder === null ? null : join(folder, expected.name), () =>
        progress(read()),
      );
      if (digest !== expected.sha256)
        throw new Error(`its member ${expected.name} is damaged: its SHA-256 is not that of its manifest`);
    }
    const [missing] = due.keys();
    if (missing !== undefined) throw new Error(`its member ${missing} is missing`);
    return manifest;
  });
}

type Members = AsyncGenerator<TarMember>;

/** @param read is given what it reads, and a function that returns how much of the file was read, from 0 to 1 */
async function reading<T>(
  path: string,
  read: (members: Members, done: () => number) => Promise<T>,
): Promise<T> {
  try {
    return await readingOpen(await open(path), read);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new GatewayError('not_found', `There is no file ${path}`);
    const reason = error instanceof Error ? error.message : String(error);
    throw new GatewayError('invalid_request', `${path} cannot be used as a backup: ${reason}`, {
      cause: error,
    });
  }
}

/** Closes `handle` when it has been read, or reading it failed. */
async function readingOpen<T>(
  handle: FileHandle,
  read: (members: Members, done: () => number) => Promise<T>,
): Promise<T> {
  const file = handle.createReadStream();
  const unzipped = createGunzip();
  // Either stream may fail first. The failure is passed on to the reader of `unzipped`.
  pipeline(file, unzipped, () => {});
  try {
    const { size } = await handle.stat();
    return await read(tarMembers(unzipped), () => file.bytesRead / Math.max(1, size));
  } finally {
    file.destroy();
    unzipped.destroy();
    await handle.close();
  }
}

async function firstMember(members: Members): Promise<Manifest> {
  const { done, value } = await members.next();
  if (done === true || value.name !== 'manifest.json' || value.bytes > MAX_MANIFEST_BYTES)
    throw new Error('it does not begin with a manifest');
  const pieces: Buffer[] = [];
  for await (const piece of value.content) pieces.push(piece);
  const parsed = manifestSchema.safeParse(JSON.parse(Buffer.concat(pieces).toString('utf8')));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`its manifest is wrong: ${issue?.path.join('.')} ${issue?.message}`);
}

/** Reads a member, into a file where one is named. Returns its SHA-256. */
async function copied({ content }: TarMember, to: string | null, onPiece: () => void): Promise<string> {
  const digest = createHash('sha256');
  const file = to === null ? null : await open(to, 'wx', 0o600);
  try {
    for await (const piece of content) {
      digest.update(piece);
      await file?.writeFile(piece);
      onPiece();
    }
    await file?.sync();
  } finally {
    await file?.close();
  }
  return digest.digest('hex');
}
