import type { Role } from '../../access/permissions.ts';
import type { NewBudget } from '../../budgets/store.ts';
import type { NewCombo } from '../../combos/store.ts';

/** What a small team might have set up. Nothing here leads anywhere: names under `.invalid` never resolve (RFC 6761). */

export interface DemoUser {
  name: string;
  displayName: string;
  role: Role;
}

export const users: readonly DemoUser[] = [
  { name: 'admin', displayName: 'Ada Admin', role: 'admin' },
  { name: 'otto', displayName: 'Otto Operator', role: 'operator' },
  { name: 'vera', displayName: 'Vera Viewer', role: 'viewer' },
];

export interface DemoConnection {
  name: string;
  provider: string;
  baseUrl: string | null;
  /** Whether it has a credential. */
  keyed: boolean;
  active: boolean;
  priority: number;
  billing: 'metered' | 'plan';
  /** What its last test said; null for a good one. */
  fault: string | null;
}

export const connections: readonly DemoConnection[] = [
  {
    name: 'anthropic-team',
    provider: 'anthropic',
    baseUrl: 'https://api.anthropic.invalid',
    keyed: true,
    active: true,
    priority: 0,
    billing: 'metered',
    fault: null,
  },
  {
    name: 'anthropic-spare',
    provider: 'anthropic',
    baseUrl: 'https://spare.anthropic.invalid',
    keyed: true,
    active: true,
    priority: 1,
    billing: 'plan',
    fault: null,
  },
  {
    name: 'openai-team',
    provider: 'openai',
    baseUrl: 'https://api.openai.invalid/v1',
    keyed: true,
    active: true,
    priority: 0,
    billing: 'metered',
    fault: null,
  },
  {
    name: 'google',
    provider: 'gemini',
    baseUrl: 'https://generativelanguage.google.invalid',
    keyed: true,
    active: true,
    priority: 0,
    billing: 'metered',
    fault: null,
  },
  {
    name: 'deepseek-night',
    provider: 'deepseek',
    baseUrl: 'https://api.deepseek.invalid',
    keyed: true,
    active: true,
    priority: 0,
    billing: 'metered',
    fault: null,
  },
  {
    name: 'groq-trial',
    provider: 'groq',
    baseUrl: 'https://api.groq.invalid/openai/v1',
    keyed: true,
    active: false,
    priority: 0,
    billing: 'metered',
    fault: 'the provider answered 401 Invalid API Key: enter another key',
  },
];

export interface DemoKey {
  name: string;
  models: string[] | null;
  /** Days before the end at which it was made. */
  age: number;
  disabled: boolean;
  owner: string | null;
  team: string;
  labels: Readonly<Record<string, string>>;
}

export const keys: readonly DemoKey[] = [
  { name: 'ana-laptop', models: null, age: 41, disabled: false, owner: 'ana', team: 'core', labels: {} },
  { name: 'ben-laptop', models: null, age: 38, disabled: false, owner: 'ben', team: 'core', labels: {} },
  {
    name: 'chen-workstation',
    models: null,
    age: 33,
    disabled: false,
    owner: 'chen',
    team: 'data',
    labels: {},
  },
  {
    name: 'ci-review-bot',
    models: ['review', 'openai-team/*'],
    age: 30,
    disabled: false,
    owner: null,
    team: 'core',
    labels: { env: 'ci' },
  },
  {
    name: 'nightly-docs',
    models: ['deepseek-night/*', 'cheap'],
    age: 26,
    disabled: false,
    owner: null,
    team: 'docs',
    labels: { env: 'ci' },
  },
  {
    name: 'intern-2025',
    models: ['cheap'],
    age: 60,
    disabled: true,
    owner: 'ines',
    team: 'data',
    labels: {},
  },
];

export const combos: readonly (NewCombo & { active: boolean })[] = [
  {
    name: 'coding',
    strategy: 'priority',
    targets: [
      { target: 'anthropic-team/claude-sonnet-4-5', weight: 1 },
      { target: 'anthropic-spare/claude-sonnet-4-5', weight: 1 },
      { target: 'openai-team/gpt-5', weight: 1 },
    ],
    active: true,
  },
  {
    name: 'review',
    strategy: 'lowest-cost',
    targets: [
      { target: 'openai-team/gpt-5-mini', weight: 1 },
      { target: 'google/gemini-2.5-flash', weight: 1 },
    ],
    active: false,
  },
  {
    name: 'cheap',
    strategy: 'round-robin',
    targets: [
      { target: 'deepseek-night/deepseek-chat', weight: 1 },
      { target: 'google/gemini-2.5-flash', weight: 1 },
    ],
    active: false,
  },
];

export const aliases: readonly { name: string; target: string }[] = [
  { name: 'fast', target: 'google/gemini-2.5-flash' },
  { name: 'best', target: 'anthropic-team/claude-sonnet-4-5' },
];

/** The limit is this share of what will have been spent by the end; above 1 it is not reached. */
export interface DemoBudget
  extends Pick<NewBudget, 'scope' | 'metric' | 'period' | 'softPercent' | 'unpriced'> {
  /** Name of the key, connection or combo. */
  subject: string | null;
  ofSpent: number;
}

export const budgets: readonly DemoBudget[] = [
  {
    scope: 'global',
    subject: null,
    metric: 'usd',
    period: 'month',
    softPercent: 80,
    unpriced: 'allow',
    // Above its soft limit, also where the limit is rounded up.
    ofSpent: 1.1,
  },
  {
    scope: 'key',
    subject: 'ana-laptop',
    metric: 'usd',
    period: 'month',
    softPercent: 80,
    unpriced: 'allow',
    ofSpent: 1.9,
  },
  {
    scope: 'key',
    subject: 'ci-review-bot',
    metric: 'usd',
    period: 'month',
    softPercent: 80,
    unpriced: 'allow',
    ofSpent: 1,
  },
  {
    scope: 'connection',
    subject: 'deepseek-night',
    metric: 'tokens',
    period: 'month',
    softPercent: 90,
    unpriced: 'allow',
    ofSpent: 3.2,
  },
];
