import { readFileSync } from 'node:fs';

/** The version in package.json, which stands two folders up both in `src/cli` and in `dist/cli`. */
export function version(): string {
  const file: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  if (typeof file === 'object' && file !== null && 'version' in file && typeof file.version === 'string') {
    return file.version;
  }
  throw new Error('package.json names no version');
}
