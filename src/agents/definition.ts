import type { ToolKind } from './schema.ts';

/**
 * A program that speaks the Agent Client Protocol (ACP) on its standard input and output, and how the gateway starts
 * it. The built-in ones stand in `catalogue/`; those of the owner have the same fields, without `route`.
 */
export interface AgentDefinition {
  /** Lower-case letters, digits and hyphens; the agent's model is `acp/<id>`. */
  id: string;
  name: string;
  description: string;
  /** Page that describes the agent. */
  docs: string;
  /** How it is installed: a command, or where to look. */
  install?: string;
  /** Name of the program on the PATH, or an absolute path. It is started without a shell. */
  binary: string;
  /** Arguments that make it speak ACP. */
  args: readonly string[];
  /**
   * Names of variables that the agent may have from the gateway's own environment, beside those that every program
   * needs (`PATH`, `HOME`, `LANG`, `TMPDIR` …). A secret of the gateway is never passed, even when it is named here.
   */
  env: readonly string[];
  /**
   * Variables that it always gets. They make it ask before it runs or changes something, where it would not do so by
   * itself: an agent that does not ask is not held back by `permissions`.
   */
  variables?: Readonly<Record<string, string>>;
  /** `user`: the agent sees its user's own login and settings. `session`: an empty folder of the session. */
  home: 'user' | 'session';
  /** `session`: a new empty folder for each session. A path: that folder, for all of its sessions. */
  cwd: 'session' | { path: string };
  /**
   * How its version is asked for: arguments, and what in the output is the version (the first x.y.z by default). Null for
   * a program that cannot be asked: then its npm package says so.
   */
  version: { args: readonly string[]; pattern?: RegExp } | null;
  /**
   * How a session's model is set: by the method `session/set_model`, by the configuration option of the category
   * `model` (`session/set_config_option`), by arguments of the program (`{model}` is replaced), or not at all.
   */
  model:
    | { by: 'set_model' }
    | { by: 'config_option' }
    | { by: 'argument'; args: readonly string[] }
    | { by: 'none' };
  /** Id of the method for `authenticate`, where the agent requires that before a session. */
  authMethod?: string;
  /** What it may do without a person who is asked. Everything else is refused. */
  permissions: readonly ToolKind[];
  /** What of the client's side it is offered. Files are confined to the folder of the session. */
  capabilities: { fs: boolean; terminal: boolean };
  /** From starting the program until its session is open. */
  startTimeoutMs: number;
  /** How it is made to use models of this gateway instead of its user's own account; absent where it cannot. */
  route?: AgentRoute;
  /** The provider whose models it uses when it is left alone, by id. */
  providerAlias?: string;
  /** What these facts were seen in. */
  evidence?: AgentEvidence;
}

/** Makes the settings with which an agent sends its own model requests to a gateway. */
export type AgentRoute = (gateway: GatewayAddress) => AgentSettings;

/** Where and how an agent reaches the gateway that started it. */
export interface GatewayAddress {
  /** Root of the gateway, without a path and without a trailing slash: `http://127.0.0.1:20128`. */
  baseUrl: string;
  /** A gateway key for this agent alone. It may stand in variables and files, never in arguments. */
  key: string;
  /** Model id of the gateway. */
  model: string;
}

export interface AgentSettings {
  /** Variables for the agent's environment. They win over those that are passed on. */
  env?: Readonly<Record<string, string>>;
  /** Arguments behind the agent's own. */
  args?: readonly string[];
  /** The model of a session, by the agent's own name, where the settings alone do not decide it. */
  model?: string;
  /** Path below the agent's home folder → content. With files it gets a home folder of its own, whatever `home` says. */
  files?: Readonly<Record<string, string>>;
}

/** What the facts of an agent were seen in. */
export interface AgentEvidence {
  /** The package that was run or read, with its version. */
  package: string;
  /** `run`: the program was run. `read`: the facts were found in its source or its documentation. */
  by: 'run' | 'read';
  /** ISO date. */
  date: string;
}
