import { atFault, isObject, type Members } from './input.ts';

const MAX_EDITS = 200;

/** Names that would change the prototype of an object. */
const unsafe: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * The fields that a list of edits (ManageIQ's `PATCH`) changes, each with its whole new value. `add` and `edit` set a
 * field, `remove` makes it null. A path such as `labels/team` leads into an object, from which `remove` deletes the field.
 * @param row the resource as it is now
 * @throws GatewayError `invalid_request` with the edit at fault
 */
export function membersOfEdits(edits: readonly unknown[], row: Readonly<Members>): Members {
  if (edits.length > MAX_EDITS) throw atFault('body', `at most ${MAX_EDITS} edits can be made at once`);
  const members: Members = {};
  for (const [index, edit] of edits.entries()) {
    const at = `[${index}]`;
    if (!isObject(edit)) throw atFault(at, 'an edit is an object with action, path and value');
    const { action, path, value, ...others } = edit;
    const [other] = Object.keys(others);
    if (other !== undefined) throw atFault(`${at}.${other.slice(0, 100)}`, 'an edit has no such member');
    if (action !== 'add' && action !== 'edit' && action !== 'remove')
      throw atFault(`${at}.action`, 'an edit is add, edit or remove');
    if (action === 'remove' && value !== undefined)
      throw atFault(`${at}.value`, 'what is removed has no value');
    if (action !== 'remove' && value === undefined) throw atFault(`${at}.value`, 'a value is missing');
    const steps = stepsOf(path, `${at}.path`);
    apply(members, row, steps, action === 'remove' ? undefined : value, `${at}.path`);
  }
  return members;
}

function stepsOf(path: unknown, at: string): readonly [string, ...string[]] {
  if (typeof path !== 'string') throw atFault(at, 'a path is text, like "name"');
  const [first, ...others] = path.replace(/^\//, '').split('/');
  const steps: [string, ...string[]] = [first ?? '', ...others];
  if (steps.length > 8 || steps.some((step) => step === '' || unsafe.has(step)))
    throw atFault(at, 'this is not a path to a field');
  return steps;
}

/** Changes a field, which is copied from the row with its first change. Without a value, it is removed. */
function apply(
  members: Members,
  row: Readonly<Members>,
  [first, ...others]: readonly [string, ...string[]],
  value: unknown,
  at: string,
): void {
  const last = others.pop();
  if (last === undefined) {
    members[first] = value === undefined ? null : value;
    return;
  }
  if (!Object.hasOwn(members, first)) {
    members[first] = Object.hasOwn(row, first) ? structuredClone(row[first] ?? {}) : {};
  }
  let target = members[first];
  for (const step of others) {
    if (!isObject(target)) break;
    if (!Object.hasOwn(target, step)) target[step] = {};
    target = target[step];
  }
  if (!isObject(target)) throw atFault(at, 'it leads into a value that is not an object');
  if (value === undefined) delete target[last];
  else target[last] = value;
}
