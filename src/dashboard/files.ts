import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

/** A file of the built dashboard, as it is sent. */
export interface SiteFile {
  type: string;
  /** Whether the name changes with the content, so that browsers may keep it for ever. */
  hashed: boolean;
  /** Strong, for all encodings. */
  etag: string;
  /** Bytes by content coding. */
  br: Buffer;
  gzip: Buffer;
}

/** What `npm run build:dashboard` leaves beside the files: path → media type and digest. */
export interface SiteManifest {
  files: Readonly<Record<string, { type: string; etag: string }>>;
}

/** The built dashboard, of which each file is read when it is first asked for and kept compressed. */
export interface SiteFiles {
  /** Null where the dashboard was not built, or there is no such file. */
  read(path: string): Promise<SiteFile | null>;
  /** Whether there is a built dashboard; null while nobody has looked, which each `read` does. */
  isBuilt(): boolean | null;
}

/** Where the build puts it: beside the compiled code, or in `dist/` of a clone that runs from its sources. */
export function siteFolder(): string {
  const fromSources = import.meta.url.endsWith('.ts');
  return fileURLToPath(new URL(fromSources ? '../../dist/dashboard/app/' : './app/', import.meta.url));
}

/** All that the manifest names is some hundred files of a few megabytes, so memory is bounded by the build. */
export function openSiteFiles(folder: string): SiteFiles {
  let manifest: Promise<SiteManifest | null> | null = null;
  let builtAt: number | null = null;
  const fileCache = new Map<string, Promise<SiteFile | null>>();
  let built: boolean | null = null;

  const loadManifest = async (): Promise<SiteManifest | null> => {
    manifest ??= readManifest(folder);
    const current = await manifest;
    if (current === null) manifest = null;
    built = current !== null;
    return current;
  };
  /** Forgets everything where the pages were built anew since, as somebody who works on them does. */
  const forgetFormer = async (): Promise<void> => {
    const changedAt = await stat(join(folder, 'manifest.json')).then(
      ({ mtimeMs }) => mtimeMs,
      () => null,
    );
    if (changedAt === builtAt) return;
    builtAt = changedAt;
    manifest = null;
    fileCache.clear();
  };
  return {
    isBuilt: () => built,
    async read(path) {
      if (path === 'index.html') await forgetFormer();
      const files = (await loadManifest())?.files ?? {};
      const row = Object.hasOwn(files, path) ? files[path] : undefined;
      if (row === undefined) return null;
      let file = fileCache.get(path);
      if (file === undefined) {
        file = readSiteFile(folder, path, row);
        fileCache.set(path, file);
        // A file that could not be read now may be readable later.
        file.catch(() => fileCache.delete(path));
      }
      return file;
    },
  };
}

async function readManifest(folder: string): Promise<SiteManifest | null> {
  try {
    return JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as SiteManifest;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

async function readSiteFile(
  folder: string,
  path: string,
  { etag, type }: { type: string; etag: string },
): Promise<SiteFile> {
  const [br, gzip] = await Promise.all([
    readFile(join(folder, `${path}.br`)),
    readFile(join(folder, `${path}.gz`)),
  ]);
  return { type, etag, hashed: path.startsWith('assets/'), br, gzip };
}

/** The content without coding, for clients that take none. */
export function plainBytes({ gzip }: SiteFile): Buffer {
  return gunzipSync(gzip);
}
