import type {
  EventChannel,
  EventComponents,
  EventProcessorRef,
} from '../gen/io/opensergo/proto/event/v1/event_pb.ts';
import { checkChannelUrl, topicProblem } from './channel-url.ts';
import type { Checks } from './checks.ts';
import type { Channel, Processor, ProcessorKind } from './config.ts';

export interface Components {
  readonly channels: ReadonlyMap<string, Channel>;
  readonly sources: ReadonlyMap<string, Processor>;
  readonly triggers: ReadonlyMap<string, Processor>;
  /** What each id was given to, those of broken components included, so that references to them are not reported too. */
  readonly ids: ReadonlyMap<string, ComponentKind>;
  /** Where the component of an id stands. */
  readonly paths: ReadonlyMap<string, string>;
}

export type ComponentKind = 'channel' | 'source' | 'trigger';

const longestId = 128;
/** Ids of what the gateway adds to every configuration. */
const ownPrefix = 'modelgate:';

interface KindRule {
  readonly source: boolean;
  readonly trigger: boolean;
  /** Whether a trigger of this kind needs a name. */
  readonly named: boolean;
}

const kindRules: Readonly<Record<ProcessorKind, KindRule>> = {
  service: { source: true, trigger: true, named: true },
  http: { source: true, trigger: true, named: true },
  gateway: { source: true, trigger: true, named: true },
  function: { source: false, trigger: true, named: true },
  rpcservice: { source: true, trigger: true, named: true },
  channel: { source: true, trigger: true, named: true },
  log: { source: false, trigger: true, named: false },
};

const kindNames = ['service', 'http', 'gateway', 'function', 'rpc_service', 'channel', 'log'];

const isKind = (text: string): text is ProcessorKind => Object.hasOwn(kindRules, text);

export function checkComponents(message: EventComponents | undefined, checks: Checks): Components {
  const ids = new Map<string, ComponentKind>();
  const paths = new Map<string, string>();
  const channels = new Map<string, Channel>();
  const sources = new Map<string, Processor>();
  const triggers = new Map<string, Processor>();
  for (const [index, one] of (message?.channels ?? []).entries()) {
    const path = `components.channels[${index}]`;
    paths.set(one.uniqueId, path);
    const fresh = checkId(one.uniqueId, 'channel', `${path}.unique_id`, ids, checks);
    const channel = checkChannel(one, path, checks);
    if (fresh && channel !== null) channels.set(one.uniqueId, channel);
  }
  for (const [index, { ref }] of (message?.sources ?? []).entries()) {
    const path = `components.sources[${index}].ref`;
    paths.set(ref?.uniqueId ?? '', path);
    addProcessor(sources, ref, 'source', path, ids, checks);
  }
  for (const [index, { ref }] of (message?.triggers ?? []).entries()) {
    const path = `components.triggers[${index}].ref`;
    paths.set(ref?.uniqueId ?? '', path);
    addProcessor(triggers, ref, 'trigger', path, ids, checks);
  }
  const components = { channels, sources, triggers, ids, paths };
  checkBridges(message, components, checks);
  warnOfTwins(message?.channels ?? [], checks);
  return components;
}

/** Ids are unique among all components, because strategies and routers name them without their kind. */
function checkId(
  id: string,
  kind: ComponentKind,
  path: string,
  ids: Map<string, ComponentKind>,
  { report }: Checks,
): boolean {
  const other = ids.get(id);
  if (id === '') report.error(path, `The ${kind} has no id`);
  else if (id.startsWith(ownPrefix))
    report.error(path, `Ids that begin with ${ownPrefix} are those of the gateway itself`);
  else if (id.length > longestId) report.error(path, `An id has at most ${longestId} characters`);
  else if (other !== undefined)
    report.error(path, `A ${other} has this id already. Ids are unique among all components`);
  else {
    ids.set(id, kind);
    return true;
  }
  return false;
}

/** Checks the address and the topic. @returns null when something was reported */
export function checkChannel(message: EventChannel, path: string, { report }: Checks): Channel | null {
  const { mqTopicName: topic, uniqueId: id, url } = message;
  const checked = checkChannelUrl(url);
  if (!checked.ok) {
    report.error(`${path}.url`, checked.message);
    if (topic === '') report.error(`${path}.mq_topic_name`, 'The topic is missing');
    return null;
  }
  const problem = topicProblem(checked.scheme, topic);
  if (problem !== null) report.error(`${path}.mq_topic_name`, problem);
  return problem === null ? { id, scheme: checked.scheme, url, topic } : null;
}

function addProcessor(
  processors: Map<string, Processor>,
  ref: EventProcessorRef | undefined,
  role: 'source' | 'trigger',
  path: string,
  ids: Map<string, ComponentKind>,
  checks: Checks,
): void {
  if (ref === undefined) {
    checks.report.error(path, `The ${role} has no ref, which names what it is`);
    return;
  }
  const fresh = checkId(ref.uniqueId, role, `${path}.unique_id`, ids, checks);
  const processor = checkProcessor(ref, role, path, checks);
  if (fresh && processor !== null) processors.set(ref.uniqueId, processor);
}

/** Kinds are compared without case, `_` and `-`. */
function checkProcessor(
  { kind: written, name }: EventProcessorRef,
  role: 'source' | 'trigger',
  path: string,
  { report }: Checks,
): Processor | null {
  const kind = written.toLowerCase().replace(/[_-]/g, '');
  if (!isKind(kind) || !kindRules[kind][role]) {
    const possible = kindNames.filter((one) => {
      const plain = one.replace('_', '');
      return isKind(plain) && kindRules[plain][role];
    });
    const what = written === '' ? `The ${role} has no kind` : `A ${role} cannot be of this kind`;
    report.error(`${path}.kind`, `${what}. Its kinds are ${possible.join(', ')}`);
    return null;
  }
  const problem = nameProblem(kind, name, role);
  if (problem !== null) report.error(`${path}.name`, problem);
  return problem === null ? { kind, name } : null;
}

function nameProblem(kind: ProcessorKind, name: string, role: 'source' | 'trigger'): string | null {
  if (name === '') {
    if (kind === 'channel') return 'The name is missing: the id of the channel';
    return role === 'trigger' && kindRules[kind].named ? `A trigger of the kind ${kind} needs a name` : null;
  }
  if (kind !== 'http' && kind !== 'service') return null;
  if (!name.includes('://')) return null;
  const url = URL.parse(name.replace(/\$\{[A-Za-z_][A-Za-z0-9_]*\}/g, 'x'));
  if (url === null || !/^https?:$/.test(url.protocol)) return 'The address must be a URL of http or https';
  return url.username !== '' || url.password !== ''
    ? 'The address has a user or a password in it. Declare a service, which keeps its credentials apart'
    : null;
}

/** A processor of the kind `channel` is named after the channel. */
function checkBridges(
  message: EventComponents | undefined,
  components: Components,
  { report }: Checks,
): void {
  const check = (
    ref: EventProcessorRef | undefined,
    path: string,
    processors: ReadonlyMap<string, Processor>,
  ) => {
    const processor = processors.get(ref?.uniqueId ?? '');
    if (processor?.kind === 'channel' && components.ids.get(processor.name) !== 'channel')
      report.error(`${path}.name`, 'There is no channel with this id');
  };
  for (const [index, { ref }] of (message?.sources ?? []).entries())
    check(ref, `components.sources[${index}].ref`, components.sources);
  for (const [index, { ref }] of (message?.triggers ?? []).entries())
    check(ref, `components.triggers[${index}].ref`, components.triggers);
}

function warnOfTwins(channels: readonly EventChannel[], { report }: Checks): void {
  const first = new Map<string, string>();
  for (const [index, { mqTopicName, uniqueId, url }] of channels.entries()) {
    const key = JSON.stringify([url, mqTopicName]);
    const twin = first.get(key);
    if (twin === undefined) first.set(key, uniqueId);
    else
      report.warning(`components.channels[${index}]`, `It is the same topic as that of the channel ${twin}`);
  }
}
