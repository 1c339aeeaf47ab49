import type { Concept } from '../../model/concept.ts';

/**
 * What the models of the vendor take, by the version in their name. Sources: Anthropic's "Adaptive thinking", "Effort"
 * and "Migrating to Claude Opus 4.7", and Amazon's page on adaptive thinking.
 */
export interface ModelTraits {
  /** `budget`: only a number of tokens. `adaptive`: only the model's own measure. */
  thinking: 'none' | 'budget' | 'either' | 'adaptive';
  /** The efforts that are accepted, from least to most. */
  efforts: readonly string[];
  /** Whether temperature, top_p and top_k are taken. */
  sampling: boolean;
  /** Whether thinking must be disabled explicitly: without the field the model thinks. */
  needsExplicitOff: boolean;
}

const allEfforts = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

/** For a name without a version: another vendor's model, or an alias. */
const unknown: ModelTraits = {
  thinking: 'either',
  efforts: allEfforts,
  sampling: true,
  needsExplicitOff: true,
};

interface Generation {
  /** The first version, as major.minor. */
  from: readonly [number, number];
  traits: ModelTraits;
}

const generations: readonly Generation[] = [
  {
    from: [5, 0],
    traits: { thinking: 'adaptive', efforts: allEfforts, sampling: false, needsExplicitOff: true },
  },
  {
    from: [4, 7],
    traits: { thinking: 'adaptive', efforts: allEfforts, sampling: false, needsExplicitOff: false },
  },
  {
    from: [4, 6],
    traits: {
      thinking: 'either',
      efforts: ['low', 'medium', 'high', 'max'],
      sampling: true,
      needsExplicitOff: true,
    },
  },
  { from: [3, 7], traits: { thinking: 'budget', efforts: [], sampling: true, needsExplicitOff: true } },
  { from: [0, 0], traits: { thinking: 'none', efforts: [], sampling: true, needsExplicitOff: false } },
];

/** Opus 4.5 is the one older model that takes an effort. */
const opus45: ModelTraits = {
  thinking: 'budget',
  sampling: true,
  needsExplicitOff: true,
  efforts: ['low', 'medium', 'high'],
};

/** `claude-opus-4-6`, `claude-3-7-sonnet-20250219`, `anthropic/claude-sonnet-5`, `us.anthropic.claude-opus-4-6-v1:0`. */
const versionIn = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/;

export function traitsOf(model: string): ModelTraits {
  const name = model.toLowerCase();
  const version = versionIn.exec(name);
  if (version === null) return unknown;
  const [major, minor] = [Number(version[1]), Number(version[2] ?? 0)];
  if (major === 4 && minor === 5 && name.includes('opus')) return opus45;
  const generation = generations.find(
    ({ from }) => major > from[0] || (major === from[0] && minor >= from[1]),
  );
  return generation?.traits ?? unknown;
}

/** Whether a model is known to think as it sees fit, where it cannot think to a budget. */
export function takesAdaptive(model: string): boolean {
  const traits = traitsOf(model);
  return traits !== unknown && (traits.thinking === 'either' || traits.thinking === 'adaptive');
}

/** The concepts of the format that the model refuses. */
export function unsupportedBy(model: string): readonly Concept[] {
  const { sampling, thinking } = traitsOf(model);
  return [
    ...(sampling ? [] : (['temperature', 'topP', 'topK'] as const)),
    ...(thinking === 'none' ? (['reasoning'] as const) : []),
  ];
}
