import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';

/**
 * Writes a bill of materials (CycloneDX 1.5, JSON) of what users get to stdout, made from package-lock.json, without the
 * network: each package with its version, licence and SHA-512, and what needs it. The libraries that are bundled into the
 * pages of the dashboard are among them, as the build lists them.   npm run --silent sbom > sbom.json
 *
 * `npm sbom --omit dev` leaves out packages that the development packages need as well, and all that is bundled.
 */

// Takes no arguments, and refuses any.
parseArgs();

interface Locked {
  version: string;
  license?: string;
  integrity?: string;
  dev?: boolean;
  optional?: boolean;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  workspaces?: string[];
}

const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  name: string;
  packages: Record<string, Locked>;
};
/** Workspaces are for work in a clone (its Node.js), and so is what they alone ask for. */
const workspaces = lock.packages['']?.workspaces ?? [];
const forWork = new Set(
  workspaces.flatMap((path) => {
    const { dependencies, optionalDependencies } = lock.packages[path] ?? {};
    const names = [
      path.slice(path.lastIndexOf('/') + 1),
      ...Object.keys({ ...dependencies, ...optionalDependencies }),
    ];
    return [path, ...names.map((name) => `node_modules/${name}`)];
  }),
);
const bundled = bundledPackages();
const shipped = new Map(
  Object.entries(lock.packages).filter(
    ([path, { dev }]) => path !== '' && ((dev !== true && !forWork.has(path)) || bundled.has(path)),
  ),
);
const { license, version } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as Locked;
const itself: Locked = { ...lock.packages[''], version, ...(license === undefined ? {} : { license }) };

const bom = {
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  metadata: { component: componentOf('', itself, 'application') },
  components: [...shipped].map(([path, locked]) => componentOf(path, locked, 'library')),
  dependencies: [['', itself] as const, ...shipped].map(([path, locked]) => ({
    ref: purlOf(path, locked),
    dependsOn: [...new Set([...neededBy(path, locked), ...(path === '' ? ofPages() : [])])],
  })),
};
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);

/** Paths in the lock of the packages in `dist/dashboard/app`, as the licenses say that the build put beside it. */
function bundledPackages(): ReadonlySet<string> {
  const list = new URL('../dist/dashboard/app/licenses.txt.gz', import.meta.url);
  if (!existsSync(list)) {
    throw new Error('The pages of the dashboard are not built: run `npm run build:dashboard` first');
  }
  const text = gunzipSync(readFileSync(list)).toString('utf8');
  return new Set(
    [...text.matchAll(/^## (\S+) - (\S+) \(/gm)].map(([, name = '', installed = '']) => {
      const places = [`dashboard/node_modules/${name}`, `node_modules/${name}`];
      const path = places.find((place) => lock.packages[place]?.version === installed);
      if (path !== undefined) return path;
      throw new Error(`${name} ${installed} is in the pages and not in package-lock.json: build them anew`);
    }),
  );
}

function componentOf(path: string, locked: Locked, type: 'application' | 'library') {
  const { integrity, license: id, optional } = locked;
  const purl = purlOf(path, locked);
  const digest = Buffer.from(integrity?.replace(/^sha512-/, '') ?? '', 'base64').toString('hex');
  return {
    type,
    'bom-ref': purl,
    name: nameOf(path),
    version: locked.version,
    purl,
    ...(type === 'application' ? {} : { scope: optional === true ? 'optional' : 'required' }),
    ...(id === undefined ? {} : { licenses: [id.includes(' ') ? { expression: id } : { license: { id } }] }),
    ...(digest === '' ? {} : { hashes: [{ alg: 'SHA-512', content: digest }] }),
  };
}

/** The packages that one asks for and gets, each found as Node.js finds it: from its own folder upwards. */
function neededBy(path: string, { dependencies, optionalDependencies, peerDependencies }: Locked): string[] {
  const wanted = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
  return wanted.flatMap((name) => {
    for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
      const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
      const found = shipped.get(place);
      if (found !== undefined) return [purlOf(place, found)];
      if (folder === '') return [];
    }
  });
}

/** What the pages of the dashboard ask for and have in them. */
function ofPages(): string[] {
  const wanted = lock.packages['dashboard']?.devDependencies;
  return neededBy(
    'dashboard',
    wanted === undefined ? { version: '' } : { version: '', dependencies: wanted },
  );
}

function nameOf(path: string): string {
  return path === '' ? lock.name : path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/** The package's URL, by which tools look up what is known of it. */
function purlOf(path: string, locked: Locked): string {
  return `pkg:npm/${nameOf(path).replace('@', '%40')}@${locked.version}`;
}
