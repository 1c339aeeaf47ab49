const timeGroupings = ['hour', 'day', 'week', 'month'] as const;
const namedGroupings = [
  'provider',
  'model',
  'connection',
  'key',
  'combo',
  'owner',
  'team',
  'tag',
  'format',
  'outcome',
  'tier',
  'session',
] as const;

export type TimeGrouping = (typeof timeGroupings)[number];

/** By the value of the tag of a name. */
export type LabelGrouping = `label:${string}`;

/** By what usage is summed up. Hours, days, weeks (from Monday) and months are those of a time zone, UTC by default. */
export type Grouping = TimeGrouping | (typeof namedGroupings)[number] | LabelGrouping;

/** The groupings that have a name of their own; beside them there is `label:NAME`. */
export const groupingNames = [...timeGroupings, ...namedGroupings] as const;
