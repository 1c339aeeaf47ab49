import { GatewayError } from '../lib/error.ts';
import { findProvider } from '../providers/index.ts';
import type { ComboTarget } from './combo-schema.ts';
import { comboName } from './name-schema.ts';
import { MAX_DEPTH } from './pool/compile.ts';

/** A combo as far as its targets go. */
export interface ComboDefinition {
  name: string;
  targets: readonly ComboTarget[];
}

/** The targets that a combo may name, beside providers. */
export interface AvailableTargets {
  /** Names and ids of connections, active or not. */
  connections: ReadonlySet<string>;
  /** The other combos. */
  combos: readonly ComboDefinition[];
}

/** The name as it is stored. @throws GatewayError for one that is not valid */
export function checkedComboName(name: string): string {
  const checked = comboName.safeParse(name);
  if (!checked.success) throw bad('name', checked.error.issues[0]?.message ?? 'the name is not valid');
  return checked.data;
}

/** @throws GatewayError for a target that leads nowhere, or back to the combo itself */
export function checkTargets(combo: ComboDefinition, available: AvailableTargets): void {
  if (combo.targets.length === 0) throw bad('targets', 'name at least one target, e.g. openai/gpt-5');
  const all = new Map([combo, ...available.combos].map((one) => [one.name, one]));
  for (const [index, { target }] of combo.targets.entries()) {
    const problem = problemOf(target, all, available);
    if (problem !== null) throw bad(`targets[${index}]`, problem);
  }
  // A change here may also make others too deep.
  for (const { name } of all.values()) {
    const problem = depthProblem(name, all);
    if (problem !== null) throw bad('targets', problem);
  }
}

function problemOf(
  target: string,
  all: ReadonlyMap<string, ComboDefinition>,
  { connections }: AvailableTargets,
): string | null {
  const slash = target.indexOf('/');
  if (slash === -1) {
    if (all.has(target)) return null;
    return `there is no combo "${target}"; a model is named as connection/model, e.g. openai/gpt-5`;
  }
  const prefix = target.slice(0, slash);
  if (slash === target.length - 1) return `"${target}" names no model behind the slash`;
  if (connections.has(prefix) || findProvider(prefix) !== undefined) return null;
  return `there is no connection or provider "${prefix}": \`gateway providers list\` shows the connections`;
}

function depthProblem(name: string, all: ReadonlyMap<string, ComboDefinition>): string | null {
  const depths = new Map<string, number>();
  const path: string[] = [];
  /** The depth of a combo, or how it leads back to itself. */
  const walk = (at: string): number | string => {
    const result = depths.get(at);
    if (result !== undefined) return result;
    if (path.includes(at)) return [...path.slice(path.indexOf(at)), at].join(' → ');
    path.push(at);
    let deepest = 0;
    for (const { target } of all.get(at)?.targets ?? []) {
      if (!all.has(target)) continue;
      const inner = walk(target);
      if (typeof inner === 'string') return inner;
      deepest = Math.max(deepest, inner);
    }
    path.pop();
    depths.set(at, deepest + 1);
    return deepest + 1;
  };
  const depth = walk(name);
  if (typeof depth === 'string') return `a combo must not lead back to itself: ${depth}`;
  return depth > MAX_DEPTH
    ? `combos may stand in one another ${MAX_DEPTH} deep, and "${name}" is ${depth}`
    : null;
}

function bad(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}
