import { fromBinary, fromJson } from '@bufbuild/protobuf';
import { type Event, EventSchema } from '../gen/io/opensergo/proto/event/v1/event_pb.ts';
import type { Checks } from './checks.ts';
import { checkComponents } from './components.ts';
import type { EventConfig } from './config.ts';
import { checkCycles } from './dead-letters.ts';
import { type ReadMessage, readMessage } from './message-reader.ts';
import type { ConfigProblem, FieldPath, Report } from './problem.ts';
import { checkRoutes } from './routes.ts';
import { type Key, parseText, type SourceText } from './source-text.ts';
import { checkStrategies } from './strategies.ts';

/** `text`: YAML, or JSON, which is a part of it. `protobuf`: the message's bytes. */
export type ConfigSource =
  | { readonly format: 'text'; readonly text: string }
  | { readonly format: 'protobuf'; readonly bytes: Uint8Array };

export interface DecodeOptions {
  /** Take what other implementations write wrong and nothing else can be meant by, with a warning. */
  readonly lenient?: boolean;
  /** Reports more about a configuration, of which what is wrong is missing. */
  readonly alsoCheck?: (config: EventConfig, report: Report) => void;
}

export type DecodedConfig =
  | { readonly ok: true; readonly config: EventConfig; readonly warnings: readonly ConfigProblem[] }
  /** Errors and warnings. */
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/** Larger files are refused: a thousand routers take a tenth of it. */
const maxConfigBytes = 4_194_304;

/**
 * Reads and checks a configuration whole.
 * @returns the configuration with its warnings, or everything that is wrong with it
 */
export function decodeConfig(
  source: ConfigSource,
  { alsoCheck = () => {}, lenient = false }: DecodeOptions = {},
): DecodedConfig {
  const size = source.format === 'text' ? Buffer.byteLength(source.text) : source.bytes.byteLength;
  if (size > maxConfigBytes) return failed(`The configuration is larger than ${maxConfigBytes} bytes`);
  if (source.format === 'protobuf') {
    const message = messageOfBytes(source.bytes);
    if (message === null) return failed('The bytes are not a message io.opensergo.proto.event.v1.Event');
    const { problems, report } = collector();
    const config = checkedConfig(message, { report, lenient });
    alsoCheck(config, report);
    return result(config, problems);
  }
  const parsed = parseText(source.text);
  if (!parsed.ok) return failed(parsed.message, parsed.place ?? {});
  const { problems, report } = collector();
  const read = readMessage(EventSchema, parsed.text.value ?? {}, report);
  const config = checkedConfig(fromJson(EventSchema, read.json), { report, lenient });
  alsoCheck(config, report);
  return result(config, placed(problems, read, parsed.text));
}

function checkedConfig(message: Event, checks: Checks): EventConfig {
  const components = checkComponents(message.components, checks);
  const { sources, triggers, triggerPath } = checkStrategies(message.strategy, components, checks);
  const routes = checkRoutes(message.routerRules, components, triggers, checks);
  const inputs = new Map<string, Set<string>>();
  for (const { channelId, triggerId } of routes)
    inputs.set(triggerId, (inputs.get(triggerId) ?? new Set()).add(channelId));
  checkCycles(triggers, inputs, (id) => `${triggerPath(id)}.dead_letter_strategy.channel`, checks);
  return { message, channels: components.channels, sources, triggers, routes };
}

function messageOfBytes(bytes: Uint8Array): Event | null {
  try {
    return fromBinary(EventSchema, bytes);
  } catch {
    return null;
  }
}

function collector(): { problems: ConfigProblem[]; report: Report } {
  const problems: ConfigProblem[] = [];
  const wrong = new Set<FieldPath>();
  const add = (severity: ConfigProblem['severity']) => (path: FieldPath, message: string) => {
    // What could not be read is not missing too.
    if (severity === 'error' && wrong.has(path)) return;
    if (severity === 'error') wrong.add(path);
    problems.push({ severity, path, message });
  };
  return { problems, report: { error: add('error'), warning: add('warning') } };
}

function failed(message: string, place: { line?: number; column?: number } = {}): DecodedConfig {
  return { ok: false, problems: [{ severity: 'error', path: '', message, ...place }] };
}

function result(config: EventConfig, problems: readonly ConfigProblem[]): DecodedConfig {
  return problems.some(({ severity }) => severity === 'error')
    ? { ok: false, problems }
    : { ok: true, config, warnings: problems };
}

/** The problems with the names that the file uses and the places where they are, in the order of the file. */
function placed(
  problems: readonly ConfigProblem[],
  { written }: ReadMessage,
  text: SourceText,
): ConfigProblem[] {
  const camelCase = [...written.values()].some((keys) => /[a-z][A-Z]/.test(String(keys.at(-1))));
  return problems
    .map((problem): ConfigProblem => {
      const keys = writtenKeys(problem.path, written, camelCase);
      return { ...problem, path: pathOf(keys), ...(text.placeOf(keys) ?? {}) };
    })
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

/** A field that is not there is named as the file names others. */
function writtenKeys(
  path: FieldPath,
  written: ReadonlyMap<FieldPath, readonly Key[]>,
  camelCase: boolean,
): readonly Key[] {
  if (path === '') return [];
  const existing = written.get(path);
  if (existing !== undefined) return existing;
  const at = Math.max(path.lastIndexOf('.'), path.lastIndexOf('['), 0);
  const before = path.slice(0, at);
  const name = path.slice(path[at] === '.' ? at + 1 : at);
  const own = camelCase ? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : name;
  return [...writtenKeys(before, written, camelCase), own];
}

function pathOf(keys: readonly Key[]): string {
  return keys
    .map((key, index) => (typeof key === 'number' ? `[${key}]` : index === 0 ? key : `.${key}`))
    .join('');
}
