import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { parseAllDocuments } from 'yaml';

export const root = join(import.meta.dirname, '../..');
export const kubernetesFolder = join(root, 'deploy/kubernetes');

/** One document of a manifest. */
export interface Manifest {
  /** Relative to `deploy/kubernetes`. */
  readonly file: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Every document below `deploy/kubernetes`. @throws for a file that is no YAML, or has a key twice */
export function manifests(): Manifest[] {
  return globSync('**/*.yaml', { cwd: kubernetesFolder })
    .sort()
    .flatMap((file) =>
      parseAllDocuments(readFileSync(join(kubernetesFolder, file), 'utf8')).map((document) => {
        for (const error of document.errors) throw error;
        const body = document.toJS() as Record<string, unknown>;
        return { file, apiVersion: String(body['apiVersion']), kind: String(body['kind']), body };
      }),
    );
}

/** What says which resources there are belongs to Kustomize, not to the Kubernetes API. */
export const isKustomization = ({ apiVersion }: Manifest): boolean =>
  apiVersion.startsWith('kustomize.config.k8s.io/');

/** The module of `kubernetes-types` with the kinds of an API version: `apps/v1`, `core/v1`, `networking/v1`. */
function moduleOf(apiVersion: string): string {
  const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['core', apiVersion];
  return `kubernetes-types/${group.replace(/\.k8s\.io$/, '')}/${version}`;
}

/**
 * Checks objects against the types that are made from the OpenAPI description of Kubernetes: an unknown field, a missing one and
 * a value of a wrong type are errors of the compiler.
 * @returns the compiler's complaints, empty where there are none
 */
export function complaintsAbout(checked: readonly Manifest[]): string {
  // Within the repository, so that the compiler finds the types.
  const folder = join(root, `node_modules/.cache/manifests-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    const lines = checked.map(({ apiVersion, body, kind, file }, index) => {
      const type = `import('${moduleOf(apiVersion)}').${kind}`;
      return `// ${file}\nexport const m${index}: ${type} = ${JSON.stringify(body)};\n`;
    });
    const source = join(folder, 'manifests.ts');
    writeFileSync(source, lines.join('\n'));
    const compiler = join(
      dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
      'bin/tsc',
    );
    const flags =
      '--noEmit --strict --ignoreConfig --target es2024 --module esnext --moduleResolution bundler';
    const { stderr, stdout } = spawnSync(
      process.execPath,
      [compiler, ...flags.split(' '), '--types', '', source],
      { encoding: 'utf8', cwd: folder },
    );
    return `${stdout}${stderr}`.replaceAll(relative(folder, source), '');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
