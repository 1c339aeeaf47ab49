import { readdir, readFile } from 'node:fs/promises';
import { expanded, type Machine, pathsOf } from '../machine.ts';

/** VS Code, or an editor made from it. */
interface Editor {
  /** Where it keeps its extensions. */
  extensions: string;
  /** Folders with its `settings.json`; the first of which all variables are set counts. */
  settings: readonly string[];
}

export interface Extension {
  /** Its folder. */
  path: string;
  /** Null when its package does not say. */
  version: string | null;
  editor: Editor;
}

/** The first is VS Code itself. Those that end in `-server` are at the far end of a remote session. */
function editorsOf({ platform }: Machine): readonly Editor[] {
  const desktop = (folder: string, name: string): Editor => ({
    extensions: `~/${folder}/extensions`,
    settings: {
      darwin: [`~/Library/Application Support/${name}/User`],
      win32: [`$APPDATA/${name}/User`, `~/AppData/Roaming/${name}/User`],
      other: [`$XDG_CONFIG_HOME/${name}/User`, `~/.config/${name}/User`],
    }[platform === 'darwin' || platform === 'win32' ? platform : 'other'],
  });
  const remote = (folder: string): Editor => ({
    extensions: `~/${folder}/extensions`,
    settings: [`~/${folder}/data/Machine`],
  });
  return [
    desktop('.vscode', 'Code'),
    desktop('.vscode-insiders', 'Code - Insiders'),
    desktop('.vscode-oss', 'VSCodium'),
    desktop('.cursor', 'Cursor'),
    desktop('.windsurf', 'Windsurf'),
    remote('.vscode-server'),
    remote('.cursor-server'),
  ];
}

/** Every editor in which an extension is installed, with its newest version there. @param id `publisher.name` */
export async function findExtension(id: string, machine: Machine): Promise<Extension[]> {
  const installations = await Promise.all(editorsOf(machine).map((editor) => newestIn(editor, id, machine)));
  return installations.filter((extension) => extension !== null);
}

/** The folders with the settings of every editor that has an extension; VS Code's where none has. */
export async function settingsFolders(id: string, machine: Machine): Promise<string[]> {
  const installed = (await findExtension(id, machine)).map(({ editor }) => editor);
  const editors = installed.length > 0 ? installed : editorsOf(machine).slice(0, 1);
  return editors.flatMap(({ settings }) => {
    const folder = settings.map((one) => expanded(one, machine)).find((one) => one !== null);
    return folder === undefined ? [] : [folder];
  });
}

async function newestIn(editor: Editor, id: string, machine: Machine): Promise<Extension | null> {
  const { join } = pathsOf(machine);
  const folder = expanded(editor.extensions, machine);
  if (folder === null) return null;
  const [names, removed] = await Promise.all([readdir(folder).catch(() => []), removedFrom(folder, machine)]);
  const prefix = `${id.toLowerCase()}-`;
  const versions = names
    .filter((name) => name.toLowerCase().startsWith(prefix) && /^\d/.test(name.slice(prefix.length)))
    .filter((name) => !removed.has(name))
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  const [newest] = versions;
  if (newest === undefined) return null;
  const path = join(folder, newest);
  return { path, editor, version: await versionOf(join(path, 'package.json')) };
}

/** Extensions that were removed stay in their folder until the editor starts again, and are listed in a file. */
async function removedFrom(folder: string, machine: Machine): Promise<Set<string>> {
  try {
    const listed: unknown = JSON.parse(await readFile(pathsOf(machine).join(folder, '.obsolete'), 'utf8'));
    return new Set(typeof listed === 'object' && listed !== null ? Object.keys(listed) : []);
  } catch {
    return new Set();
  }
}

async function versionOf(path: string): Promise<string | null> {
  try {
    const { version } = JSON.parse(await readFile(path, 'utf8'));
    return typeof version === 'string' ? version : null;
  } catch {
    return null;
  }
}
