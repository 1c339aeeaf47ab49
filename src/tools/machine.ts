import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { posix, win32 } from 'node:path';
import type { ConfigFile, Folder } from './tool.ts';

/** The machine whose tools are looked at, as far as they find their files and programs by it. */
export interface Machine {
  platform: NodeJS.Platform;
  home: string;
  /** Environment variables; only those of `machineVariables` are read. */
  variables: Readonly<Record<string, string | undefined>>;
}

/** Every environment variable that decides where a tool, its program or its configuration is. */
export const machineVariables = [
  'HOME',
  'PATH',
  'PATHEXT',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
  'ProgramFiles',
  'SystemRoot',
  'ComSpec',
  'XDG_CONFIG_HOME',
  'npm_config_prefix',
  'NPM_CONFIG_PREFIX',
  'NVM_DIR',
  'NVM_BIN',
  'FNM_DIR',
  'VOLTA_HOME',
  'ASDF_DATA_DIR',
  'MISE_DATA_DIR',
  'PNPM_HOME',
  'BUN_INSTALL',
  'CLAUDE_CONFIG_DIR',
  'CODEX_HOME',
  'CONTINUE_GLOBAL_DIR',
  'PI_CODING_AGENT_DIR',
  'QWEN_HOME',
  'HERMES_HOME',
  'OPENCLAW_STATE_DIR',
  'OPENCLAW_HOME',
  'GOOSE_PATH_ROOT',
  'LETTA_LOCAL_BACKEND_DIR',
  'CRUSH_GLOBAL_CONFIG',
  'CRUSH_GLOBAL_DATA',
  'XDG_DATA_HOME',
  'FORGE_CONFIG',
  'JCODE_HOME',
  'CODEWHALE_HOME',
  'GROK_HOME',
] as const;

/** The machine of this process. @param variables the values of `machineVariables` */
export function machineOf(variables: Machine['variables']): Machine {
  const { platform } = process;
  const home = platform === 'win32' ? variables['USERPROFILE'] : variables['HOME'];
  return { platform, home: home ?? homedir(), variables };
}

/** Paths as the machine writes them. */
export function pathsOf({ platform }: Machine): typeof posix {
  return platform === 'win32' ? win32 : posix;
}

/** A folder with `~` and `$NAME` at its start filled in, or null when the variable is not set. */
export function expanded(folder: string, machine: Machine): string | null {
  const { join, normalize } = pathsOf(machine);
  if (folder.startsWith('~')) return join(machine.home, folder.slice(1));
  if (!folder.startsWith('$')) return normalize(folder);
  const [name = ''] = /^\w+/.exec(folder.slice(1)) ?? [];
  const value = machine.variables[name];
  return value === undefined || value === '' ? null : join(value, folder.slice(name.length + 1));
}

/** Where a configuration file is, or would be. */
export function locate({ folders, names }: Pick<ConfigFile, 'folders' | 'names'>, machine: Machine): string {
  const { join } = pathsOf(machine);
  const folder = folders.map((one) => usable(one, machine)).find((one) => one !== null) ?? machine.home;
  const paths = names.map((name) => join(folder, name));
  return paths.find((path) => existsSync(path)) ?? paths.at(-1) ?? folder;
}

function usable(folder: Folder, machine: Machine): string | null {
  if (typeof folder === 'string') return expanded(folder, machine);
  const condition = expanded(folder.where, machine);
  return condition !== null && existsSync(condition) ? expanded(folder.folder, machine) : null;
}
