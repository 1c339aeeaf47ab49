import type { FormatId } from './files/formats.ts';
import type { Path } from './files/path.ts';
import type { Json } from './files/value.ts';

/** A coding tool or agent that can be pointed at the gateway, as data. */
export interface Tool {
  id: string;
  name: string;
  /** `#RRGGBB`. */
  color: string;
  description: string;
  docsUrl: string;
  category: 'code' | 'agent';
  vendor: string;
  /** Whether the gateway can also start it as an ACP agent. */
  acpSpawnable: boolean;
  /** How far it can be pointed at another endpoint. `none` is not shown. */
  baseUrlSupport: 'full' | 'partial' | 'none';
  configType: 'env' | 'custom' | 'guide' | 'custom-builder' | 'mitm';
  /** Names of its program, the preferred one first; without the endings of Windows. */
  binaries: readonly string[];
  /** Id of its extension for VS Code and its relatives, `publisher.name`: it is here where that is installed. */
  extension?: string;
  /** Why it can be pointed elsewhere in part only, or not at all. */
  limitation?: string;
  /** For its newest version, and where its version is not known. */
  recipe: Recipe;
  /** How older versions are set up, the oldest first. */
  formerRecipes?: readonly FormerRecipe[];
  evidence: Evidence;
}

export interface FormerRecipe {
  /** The first version that is set up in another way. */
  before: string;
  recipe: Recipe;
}

/** What the facts of an entry were seen in. */
export interface Evidence {
  /** The package that was run or read, with its version. */
  package: string;
  /** `run`: the program was run with these files. `read`: they were found in its source or its documentation. */
  by: 'run' | 'read';
  /** ISO date. */
  date: string;
}

/** The API that a tool speaks once it is set up; it decides the form of the base address. */
export type ToolApi = 'anthropic-messages' | 'openai-chat' | 'openai-responses' | 'gemini';

export interface Recipe {
  api: ToolApi;
  /** Whether a model has to be named, because the tool's own choice need not exist here. */
  model: 'required' | 'optional';
  /** Configuration files. A tool without any reads its environment only. */
  files: readonly ConfigFile[];
  /** What has to be in the environment of the tool, for tools that take it from there; placeholders as in settings. */
  environment?: Readonly<Record<string, string>>;
  /** What its user still has to do by hand, one sentence each; placeholders as in settings, without the key. */
  steps?: readonly string[];
}

export interface ConfigFile {
  format: FormatId;
  /**
   * The first that counts on a machine: all its variables are set, and what it depends on is there. `~` is the home
   * folder, `$NAME` an environment variable. Empty for files of an editor.
   */
  folders: readonly Folder[];
  /** The file is one of the user folder of every editor that has this extension; of VS Code where none has. */
  editorsWith?: string;
  /** File names: the first that exists, else the last. */
  names: readonly string[];
  settings: readonly Setting[];
  /** Entries that would win over the settings. They are taken away, and put back by a restore. */
  conflicts?: readonly Path[];
}

/** A folder, or one that counts only while something is there: tools keep reading the places of older versions. */
export type Folder = string | { folder: string; where: string };

/**
 * One entry of a file. `<base_url>`, `<api_key>`, `<key_variable>` and `<model>` in names and values are filled in.
 * Without a model or a key the settings that need it are left out.
 */
export interface Setting {
  path: Path;
  value: Json;
  /** Set only where nothing stands yet. */
  ifAbsent?: boolean;
}

/** How a tool is pointed at a gateway for one run, by its environment and arguments alone. */
export interface LaunchRecipe {
  /** Placeholders as in settings. What needs a model is left out without one. */
  environment: Readonly<Record<string, string>>;
  /**
   * Groups of arguments that stand before those of the user. An object is handed over as JSON. No key may be in them: others
   * can see them.
   */
  arguments?: readonly (readonly (string | { env: Readonly<Record<string, string>> })[])[];
  /** Variables that would win over the environment above, or send the key elsewhere. They are taken out. */
  conflicts: readonly string[];
}

/** The environment variable that holds the gateway key, for tools that can refer to one. */
export const keyVariable = 'MODELGATE_API_KEY';
