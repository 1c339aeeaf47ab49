import { describe, type Log } from '../../lib/log.ts';
import type { EventConfig } from '../config/config.ts';
import { type ConfigSource, type DecodedConfig, type DecodeOptions, decodeConfig } from '../config/decode.ts';
import type { ConfigProblem } from '../config/problem.ts';
import { type ConfigChanges, configChanges } from '../engine/config-changes.ts';
import type { Engine } from '../engine/engine.ts';
import type { ConfigFile } from './config-file.ts';
import { configText } from './config-text.ts';
import type { ConfigVersion, ConfigVersions } from './config-versions.ts';

export interface ConfigControlInput {
  file: ConfigFile;
  versions: ConfigVersions;
  engine: Pick<Engine, 'apply'>;
  log: Log;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** What runs while there is no file. */
  builtIn: string;
  /** Reports what the engine does not do. */
  alsoCheck: NonNullable<DecodeOptions['alsoCheck']>;
  /** The configuration that runs, made of the one that is written, and how that came. */
  extend(config: EventConfig, via: ConfigInForce['version']['via']): EventConfig;
}

/** The configuration that runs. */
export interface ConfigInForce {
  /** Version 0 is the built-in one. */
  readonly version: Omit<ConfigVersion, 'via'> & { readonly via: ConfigVersion['via'] | 'built-in' };
  readonly config: EventConfig;
  readonly warnings: readonly ConfigProblem[];
}

/** A file that was not put into force. */
export interface RejectedFile {
  readonly problems: readonly ConfigProblem[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export type CheckedConfig =
  | { readonly ok: true; readonly warnings: readonly ConfigProblem[]; readonly changes: ConfigChanges }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

export type AppliedConfig =
  | {
      readonly kind: 'applied';
      readonly inForce: ConfigInForce;
      readonly changes: ConfigChanges;
      /** How many comments of the file could not be kept. */
      readonly lostComments: number;
    }
  | { readonly kind: 'invalid'; readonly problems: readonly ConfigProblem[] }
  /** Another version is in force than was expected. */
  | { readonly kind: 'conflict'; readonly version: number };

export interface ApplyOptions {
  /** The version that must be in force; null for any. */
  readonly expected: number | null;
  /** The name of whoever changes it. */
  readonly author: string;
}

/** Changes which configuration runs, keeps the file up to date, and remembers earlier versions. */
export interface ConfigControl {
  inForce(): ConfigInForce;
  /** Null when the file is in force, or there is none. */
  rejected(): RejectedFile | null;
  /** Everything that is wrong with a configuration, and what it would change. Changes nothing. */
  validate(source: ConfigSource): CheckedConfig;
  /** @throws the system's error when the file or the version cannot be written; the old configuration goes on */
  apply(source: ConfigSource, options: ApplyOptions): Promise<AppliedConfig>;
  /** Goes back to an earlier version, as a new one. @returns null when there is no such version */
  rollback(version: number, options: ApplyOptions): Promise<AppliedConfig | null>;
  versions: Pick<ConfigVersions, 'find' | 'list'>;
  /** Puts the file into force when it is another one. Never rejects. */
  lookAtFile(): Promise<void>;
  /** Runs the same configuration again, where `extend` makes another one of it. @throws Error when it cannot be run */
  extendAgain(): Promise<void>;
  /** Calls the listener when another configuration is in force, or a file is rejected. @returns what ends that */
  onChange(listener: () => void): () => void;
}

/**
 * Puts the file into force. When it is wrong, the last version that was not goes on, or the built-in one.
 * @throws the system's error when the file or the versions cannot be read
 */
export async function openConfigControl(input: ConfigControlInput): Promise<ConfigControl> {
  const { alsoCheck, builtIn, engine, extend, file, log, now, versions } = input;
  const decode: Decode = (source) => decodeConfig(source, { alsoCheck });
  const listeners = new Set<() => void>();
  let turn: Promise<unknown> = Promise.resolve();
  let rejectedFile: RejectedFile | null = null;
  let current = builtInConfig(builtIn, decode);
  let running = false;

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(work);
    turn = done.catch(() => {});
    return done;
  };
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const reject = (problems: readonly ConfigProblem[]) => {
    rejectedFile = { problems, at: now() };
    for (const { line, message, path, severity } of problems)
      log[severity === 'error' ? 'error' : 'warn']({ file: file.path, line, path }, message);
    log.error(
      { file: file.path, running: current.version.number },
      'events.yaml is not valid and was not applied',
    );
    tell();
  };
  const run = async (next: ConfigInForce) => {
    await engine.apply(extend(next.config, next.version.via));
    current = next;
    running = true;
  };

  /** The configuration of a text that is in the file already. */
  const takeFile = async (text: string | null) => {
    const source = text ?? builtIn;
    if (running && source === current.version.text) {
      if (rejectedFile === null) return;
      rejectedFile = null;
      return tell();
    }
    const decoded = decode({ format: 'text', text: source });
    if (!decoded.ok) return reject(decoded.problems);
    const initialVersion =
      text === null ? builtInVersion(builtIn) : await earlierVersion(text, current, versions);
    const version =
      initialVersion ?? (await versions.add({ text: source, at: now(), author: 'events.yaml', via: 'file' }));
    try {
      await run({ version, config: decoded.config, warnings: decoded.warnings });
    } catch (error) {
      if (initialVersion === null) await versions.remove(version.number);
      return reject([problemOf(error)]);
    }
    rejectedFile = null;
    for (const { line, message, path } of decoded.warnings)
      log.warn({ file: file.path, line, path }, message);
    log.info({ version: current.version.number }, 'a configuration of events is in force');
    tell();
  };

  const put = async (
    source: ConfigSource,
    via: ConfigVersion['via'],
    { author, expected }: ApplyOptions,
  ): Promise<AppliedConfig> => {
    const before = current;
    if (expected !== null && expected !== before.version.number)
      return { kind: 'conflict', version: before.version.number };
    const decoded = decode(source);
    if (!decoded.ok) return { kind: 'invalid', problems: decoded.problems };
    const { config, warnings } = decoded;
    const { lostComments, text } = await fileText(source, config, file);
    const version = await versions.add({ text, at: now(), author, via });
    try {
      await run({ version, config, warnings });
    } catch (error) {
      await versions.remove(version.number);
      return { kind: 'invalid', problems: [problemOf(error), ...warnings] };
    }
    try {
      await file.write(text);
    } catch (error) {
      await run(before);
      await versions.remove(version.number);
      throw error;
    }
    rejectedFile = null;
    log.info({ version: version.number, author }, 'a configuration of events is in force');
    tell();
    return { kind: 'applied', inForce: current, changes: configChanges(before.config, config), lostComments };
  };

  await start(input, decode, takeFile, () => rejectedFile, run);
  return {
    versions,
    inForce: () => current,
    rejected: () => rejectedFile,
    validate(source) {
      const decoded = decode(source);
      return decoded.ok
        ? { ok: true, warnings: decoded.warnings, changes: configChanges(current.config, decoded.config) }
        : decoded;
    },
    apply: (source, options) => inTurn(() => put(source, 'api', options)),
    rollback: (number, options) =>
      inTurn(async () => {
        const version = await versions.find(number);
        return version === null ? null : put({ format: 'text', text: version.text }, 'rollback', options);
      }),
    lookAtFile: () =>
      inTurn(async () => {
        if (await file.changed()) await takeFile(await file.read());
      }).catch((error: unknown) => {
        log.error({ file: file.path, error: describe(error) }, 'events.yaml cannot be read');
      }),
    extendAgain: () => inTurn(() => engine.apply(extend(current.config, current.version.via))),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

type Decode = (source: ConfigSource) => DecodedConfig;

/** Takes the file; when that is wrong, the newest version that still can be run. */
async function start(
  { builtIn, file, log, versions }: ConfigControlInput,
  decode: Decode,
  takeFile: (text: string | null) => Promise<void>,
  rejected: () => RejectedFile | null,
  run: (next: ConfigInForce) => Promise<void>,
): Promise<void> {
  await takeFile(await file.read());
  if (rejected() === null) return;
  const newest = await versions.newest();
  const decoded = newest === null ? null : decode({ format: 'text', text: newest.text });
  try {
    if (newest !== null && decoded?.ok === true) {
      const { config, warnings } = decoded;
      await run({ version: newest, config, warnings });
      log.warn({ version: newest.number }, 'the last valid configuration of events is in force');
      return;
    }
    await run(builtInConfig(builtIn, decode));
  } catch (error) {
    log.error({ error: describe(error) }, 'no configuration of events can be applied');
  }
}

function builtInVersion(text: string): ConfigInForce['version'] {
  return { number: 0, text, at: 0, author: 'modelgate', via: 'built-in' };
}

function builtInConfig(text: string, decode: Decode): ConfigInForce {
  const decoded = decode({ format: 'text', text });
  if (!decoded.ok)
    throw new Error(`The built-in configuration is wrong: ${JSON.stringify(decoded.problems)}`);
  return { version: builtInVersion(text), config: decoded.config, warnings: decoded.warnings };
}

/** The version that the file was when it was last in force; null when it is another one. */
async function earlierVersion(
  text: string,
  { version }: ConfigInForce,
  versions: ConfigVersions,
): Promise<ConfigVersion | null> {
  const newest = version.via === 'built-in' ? await versions.newest() : null;
  return newest?.text === text ? newest : null;
}

/** YAML as it came; of all else YAML with the comments of the file. */
async function fileText(source: ConfigSource, { message }: EventConfig, file: ConfigFile) {
  if (source.format === 'text' && !isJson(source.text)) return { text: source.text, lostComments: 0 };
  return configText(message, (await file.read()) ?? '');
}

const isJson = (text: string): boolean => text.trimStart().startsWith('{');

function problemOf(error: unknown): ConfigProblem {
  return { severity: 'error', path: '', message: error instanceof Error ? error.message : String(error) };
}
