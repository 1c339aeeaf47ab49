import { access, constants, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { expanded, type Machine, pathsOf } from '../machine.ts';

/** A program of a tool that was found. */
export interface Binary {
  /** The name by which it was looked for. */
  command: string;
  path: string;
  /** Started by a version manager, which needs the home folder to find the real program. */
  shim: boolean;
}

interface Place {
  folder: string;
  shim?: boolean;
}

/** Where programs are that PATH of a service or a desktop does not name. A star stands for every folder there. */
const places: Readonly<Record<'posix' | 'win32', readonly Place[]>> = {
  posix: [
    { folder: '~/.local/bin' },
    { folder: '~/.claude/local' },
    { folder: '~/.opencode/bin' },
    { folder: '~/bin' },
    { folder: '$npm_config_prefix/bin' },
    { folder: '$NPM_CONFIG_PREFIX/bin' },
    { folder: '~/.npm-global/bin' },
    { folder: '$NVM_BIN' },
    { folder: '$NVM_DIR/versions/node/*/bin' },
    { folder: '~/.nvm/versions/node/*/bin' },
    { folder: '$FNM_DIR/node-versions/*/installation/bin' },
    { folder: '~/.local/share/fnm/node-versions/*/installation/bin' },
    { folder: '$VOLTA_HOME/bin', shim: true },
    { folder: '~/.volta/bin', shim: true },
    { folder: '$ASDF_DATA_DIR/shims', shim: true },
    { folder: '~/.asdf/shims', shim: true },
    { folder: '$MISE_DATA_DIR/shims', shim: true },
    { folder: '~/.local/share/mise/shims', shim: true },
    { folder: '$PNPM_HOME' },
    { folder: '~/.local/share/pnpm' },
    { folder: '~/Library/pnpm' },
    { folder: '$BUN_INSTALL/bin' },
    { folder: '~/.bun/bin' },
    { folder: '~/.cargo/bin' },
    { folder: '/opt/homebrew/bin' },
    { folder: '/home/linuxbrew/.linuxbrew/bin' },
    { folder: '/usr/local/bin' },
    { folder: '/usr/bin' },
  ],
  win32: [
    { folder: '$APPDATA/npm' },
    { folder: '$npm_config_prefix' },
    { folder: '$NPM_CONFIG_PREFIX' },
    { folder: '$LOCALAPPDATA/pnpm' },
    { folder: '$LOCALAPPDATA/Volta/bin', shim: true },
    { folder: '$LOCALAPPDATA/Microsoft/WinGet/Links' },
    { folder: '$LOCALAPPDATA/mise/shims', shim: true },
    { folder: '~/scoop/shims', shim: true },
    { folder: '~/.local/bin' },
    { folder: '~/.bun/bin' },
    { folder: '~/.cargo/bin' },
    { folder: '$ProgramFiles/nodejs' },
  ],
};

/** The program of one of these names: along PATH, then where installers put it; or of one of these paths. Null when there is none. */
export async function findBinary(names: readonly string[], machine: Machine): Promise<Binary | null> {
  const { isAbsolute, join } = pathsOf(machine);
  const folders = await searchFolders(machine);
  for (const command of names) {
    if (isAbsolute(command)) {
      if (await isProgram(command, machine)) return { command, path: command, shim: false };
      continue;
    }
    for (const { folder, shim = false } of folders) {
      for (const ending of endings(machine)) {
        const path = join(folder, command + ending);
        if (await isProgram(path, machine)) return { command, path, shim };
      }
    }
  }
  return null;
}

/** A file of one of these names along PATH that is no program, because it may not be run. Null when there is none. */
export async function findUnusable(names: readonly string[], machine: Machine): Promise<string | null> {
  const { join } = pathsOf(machine);
  for (const { folder } of await searchFolders(machine)) {
    for (const path of names.map((name) => join(folder, name))) {
      const stats = await stat(path).catch(() => null);
      if (stats?.isFile() === true) return path;
    }
  }
  return null;
}

async function searchFolders(machine: Machine): Promise<Place[]> {
  const { delimiter, isAbsolute, normalize } = pathsOf(machine);
  const folders = (
    await Promise.all(places[family(machine)].map((place) => expandedPlaces(place, machine)))
  ).flat();
  const path = (machine.variables['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  const onPath = path.map((folder) => ({
    folder,
    shim: folders.some((place) => place.shim === true && normalize(place.folder) === normalize(folder)),
  }));
  return [...onPath, ...folders];
}

async function expandedPlaces({ folder, shim = false }: Place, machine: Machine): Promise<Place[]> {
  const { join } = pathsOf(machine);
  const path = expanded(folder, machine);
  if (path === null) return [];
  const [before, after] = path.split('*');
  if (before === undefined || after === undefined) return [{ folder: path, shim }];
  const versions = await readdir(before).catch(() => []);
  // The newest version first, as far as the names tell.
  const sorted = versions.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  return sorted.map((version) => ({ folder: join(before, version, after), shim }));
}

/** On Windows a program has an ending of PATHEXT; elsewhere it has none. */
function endings(machine: Machine): readonly string[] {
  if (family(machine) === 'posix') return [''];
  const listed = (machine.variables['PATHEXT'] ?? '').split(';').filter((ending) => ending.startsWith('.'));
  return (listed.length === 0 ? ['.COM', '.EXE', '.BAT', '.CMD'] : listed).flatMap((ending) => [
    ending.toLowerCase(),
    ending.toUpperCase(),
  ]);
}

function family({ platform }: Machine): 'posix' | 'win32' {
  return platform === 'win32' ? 'win32' : 'posix';
}

async function isProgram(path: string, machine: Machine): Promise<boolean> {
  try {
    if (!(await stat(path)).isFile()) return false;
    if (family(machine) === 'posix') await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** When the program and what it leads to last changed: another file, another version. Null when it is gone. */
export async function binaryStamp(path: string): Promise<string | null> {
  try {
    const real = await realpath(path);
    const { mtimeMs, size } = await stat(real);
    return `${real} ${mtimeMs} ${size}`;
  } catch {
    return null;
  }
}

/** The version in the npm package that a program belongs to, or null when it belongs to none. */
export async function packageVersion(path: string, machine: Machine): Promise<string | null> {
  const { dirname, join } = pathsOf(machine);
  let folder = dirname(await realpath(path).catch(() => path));
  for (let level = 0; level < 6 && folder.includes('node_modules'); level += 1) {
    try {
      const { bin, version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
      return bin !== undefined && typeof version === 'string' ? version : null;
    } catch {
      folder = dirname(folder);
    }
  }
  return null;
}
