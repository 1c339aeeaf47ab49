import type { EventConfig, EventStatus } from './queries.ts';

export type NodeKind = 'source' | 'channel' | 'trigger';

/** A source, channel or trigger of the event engine. */
export interface GraphNode {
  /** Unique in the graph: `channel:main`. */
  key: string;
  kind: NodeKind;
  id: string;
  /** What it is: `http`, `sqlite`. */
  type: string | null;
  /** What is wrong with it. */
  problem: string | null;
  /** Of a trigger: dead letters that are kept. */
  deadLetters: number;
  paused: boolean;
}

/** Events on their way from a source into a channel, or from a channel to a trigger. */
export interface GraphEdge {
  key: string;
  from: string;
  to: string;
  /** Events a second; null until there were two looks. */
  rate: number | null;
  /** Events that wait; null where the channel does not say. */
  lag: number | null;
  problem: string | null;
  /** The expressions that events must fit, of which one suffices; none where all pass. */
  filters: readonly string[];
}

export interface Graph {
  nodes: readonly GraphNode[];
  edges: readonly GraphEdge[];
}

/** The state of the engine at a moment, in milliseconds of the browser's monotonic clock. */
export interface Sample {
  at: number;
  status: EventStatus;
}

/** Draws the engine's state as a graph. @param before an earlier look, from which rates are made */
export function graphOf(now: Sample, before: Sample | null, config: EventConfig | null): Graph {
  const { channels, sources, triggers } = now.status;
  const seconds = before === null ? 0 : (now.at - before.at) / 1000;
  const rate = (count: number, earlier: number | undefined): number | null => {
    // A counter that fell was begun anew.
    if (seconds <= 0 || earlier === undefined || count < earlier) return null;
    return (count - earlier) / seconds;
  };
  const kindOf = typesIn(config);
  const nodes: GraphNode[] = [
    ...sources.map(({ id, storage }) =>
      nodeOf('source', id, kindOf.get(`source:${id}`) ?? null, storage?.problem ?? null),
    ),
    ...channels.map(({ degraded, id, problem, scheme }) =>
      nodeOf('channel', id, scheme, problem ?? degraded[0] ?? null),
    ),
    ...triggers.map((trigger) => ({
      ...nodeOf('trigger', trigger.id, kindOf.get(`trigger:${trigger.id}`) ?? null, problemOf(trigger)),
      deadLetters: trigger.dead_letters,
      paused: trigger.paused !== null,
    })),
  ];
  const routes = config?.routerRules?.routers ?? [];
  const published = sources.flatMap((source) => {
    const earlier = before?.status.sources.find(({ id }) => id === source.id);
    return source.channels.map((out) => ({
      key: `${source.id} > ${out.channel}`,
      from: `source:${source.id}`,
      to: `channel:${out.channel}`,
      rate: rate(out.sent, earlier?.channels.find(({ channel }) => channel === out.channel)?.sent),
      lag: out.waiting,
      problem: out.last_error,
      filters: [],
    }));
  });
  const known = new Set(channels.map(({ id }) => id));
  const handled = triggers.flatMap((trigger) => {
    const earlier = before?.status.triggers.find(({ id }) => id === trigger.id);
    const inlets = trigger.channels.filter(({ channel }) => known.has(channel));
    return inlets.map(({ channel, problem, waiting }) => ({
      key: `${channel} > ${trigger.id}`,
      from: `channel:${channel}`,
      to: `trigger:${trigger.id}`,
      // What a trigger handled is counted for all its channels together.
      rate: inlets.length === 1 ? rate(handledBy(trigger), earlier && handledBy(earlier)) : null,
      lag: waiting,
      problem,
      filters: routes.flatMap(({ channelId, filter, triggerId }) =>
        channelId === channel && triggerId === trigger.id && filter?.cesql ? [filter.cesql] : [],
      ),
    }));
  });
  return { nodes, edges: [...published, ...handled] };
}

type TriggerState = EventStatus['triggers'][number];

function handledBy({ dead_lettered, delivered, discarded }: TriggerState): number {
  return delivered + dead_lettered + discarded;
}

function problemOf({ blocked_by, paused, last_error, dead_letters }: TriggerState): string | null {
  if (paused !== null) return paused.detail;
  if (blocked_by !== null) return blocked_by;
  return dead_letters > 0 ? (last_error?.message ?? null) : null;
}

function nodeOf(kind: NodeKind, id: string, type: string | null, problem: string | null): GraphNode {
  return { key: `${kind}:${id}`, kind, id, type, problem, deadLetters: 0, paused: false };
}

function typesIn(config: EventConfig | null): Map<string, string> {
  const { sources = [], triggers = [] } = config?.components ?? {};
  const named = (kind: NodeKind, all: typeof sources) =>
    all.flatMap(({ ref }) =>
      ref?.uniqueId === undefined || ref.kind === undefined
        ? []
        : [[`${kind}:${ref.uniqueId}`, ref.kind] as const],
    );
  return new Map([...named('source', sources), ...named('trigger', triggers)]);
}
