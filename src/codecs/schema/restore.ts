import { isObject, parseObject } from '../json/values.ts';

/** How to bring a model's arguments back into the client's schema: what became of values that had to be sent as texts. */
export interface RestorePlan {
  /** What each text stands for. */
  values?: ReadonlyMap<string, unknown>;
  properties?: ReadonlyMap<string, RestorePlan>;
  items?: RestorePlan;
  /** For properties that have no plan of their own. */
  others?: RestorePlan;
  /** Of the schemas that the value may follow. */
  branches?: readonly RestorePlan[];
}

/** The plan, or null when there is nothing to bring back. */
export function planOf(plan: RestorePlan): RestorePlan | null {
  return Object.keys(plan).length === 0 ? null : plan;
}

/**
 * The arguments in the form of the client's schema. Text that is not a JSON object, and arguments without anything to
 * convert, are returned byte for byte.
 */
export function restoreArguments(text: string, plan: RestorePlan): string {
  const sent = parseObject(text);
  if (sent === null) return text;
  const restored = restore(sent, plan);
  return restored === sent ? text : JSON.stringify(restored);
}

/** The value itself when nothing in it changes. As deep as the plan, never as deep as the value. */
function restore(value: unknown, plan: RestorePlan): unknown {
  let result = value;
  if (typeof result === 'string' && plan.values?.has(result)) result = plan.values.get(result);
  if (Array.isArray(result) && plan.items !== undefined) result = restoreList(result, plan.items);
  if (isObject(result)) {
    const { others, properties } = plan;
    let changed = false;
    const entries = Object.entries(result).map(([name, inner]) => {
      const own = properties?.get(name) ?? others;
      const restored = own === undefined ? inner : restore(inner, own);
      if (restored !== inner) changed = true;
      return [name, restored] as const;
    });
    if (changed) result = Object.fromEntries(entries);
  }
  for (const branch of plan.branches ?? []) result = restore(result, branch);
  return result;
}

function restoreList(list: readonly unknown[], plan: RestorePlan): unknown {
  const restored = list.map((one) => restore(one, plan));
  return restored.some((one, index) => one !== list[index]) ? restored : list;
}
