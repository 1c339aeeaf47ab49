import type { ToolPlace } from '../../tools/configuring/configure.ts';
import { currentKey } from '../../tools/configuring/current-key.ts';
import { keyVariable, type Tool } from '../../tools/tool.ts';
import { audited } from '../audit.ts';
import type { Options } from '../command.ts';
import type { Context } from '../context.ts';
import { failure, usageError } from '../terminal/failure.ts';
import { keyFromFlags } from './gateway-facts.ts';

/** The gateway key that a tool gets. `new` is made only when something is written. */
export type ToolKey = { kind: 'given'; text: string } | { kind: 'none' } | { kind: 'new'; name: string };

export interface MadeKey {
  id: string;
  name: string;
  /** The text, which is shown once. */
  key: string;
}

/** Stands in the diff for a key that does not exist yet. */
const KEY_TO_COME = 'sk-a-key-that-is-made-when-this-is-written';

export function keyInPlan(key: ToolKey): string | null {
  if (key.kind === 'given') return key.text;
  return key.kind === 'new' ? KEY_TO_COME : null;
}

/**
 * The key for a setup: the given one, the one that the tool has already, or a new one of this machine's gateway. A key
 * of another machine's gateway is asked for.
 * @throws a failure where none is given and there is no terminal to ask at
 */
export async function keyForSetup(
  tool: Tool,
  place: ToolPlace,
  options: Options,
  context: Context,
): Promise<ToolKey> {
  const keyFromFlag = await keyFromFlags(options, context);
  if (keyFromFlag !== null) return { kind: 'given', text: keyFromFlag };
  if (options.text('remote') !== undefined) return askForKey(context);
  const present = await workingKey(tool, place, context);
  if (present !== null) return { kind: 'given', text: present };
  const name = await freeName(tool.id, context);
  const { interactive, ask } = context.io;
  if (!interactive || options.on('yes') || options.on('dry-run')) return { kind: 'new', name };
  const isConfirmed = await ask.confirm(`Make a gateway key "${name}" for ${tool.name}?`, true);
  if (isConfirmed === null) throw cancelled();
  return isConfirmed ? { kind: 'new', name } : askForKey(context);
}

async function askForKey({ io }: Context): Promise<ToolKey> {
  if (!io.interactive)
    throw usageError(`Give the gateway key with --api-key, ${keyVariable} or GATEWAY_API_KEY`);
  const check = (text: string) => (text.trim() === '' ? 'This is needed' : undefined);
  const text = await io.ask.secret('The gateway key', { check });
  if (text === null) throw cancelled();
  return { kind: 'given', text: text.trim() };
}

function cancelled() {
  return failure(1, 'cancelled', 'Cancelled, nothing was changed.');
}

/** The key in the tool's file, when it is one of this gateway. */
async function workingKey(tool: Tool, place: ToolPlace, context: Context): Promise<string | null> {
  // A file that cannot be read is refused when it is written.
  const key = await currentKey(tool, place.machine).catch(() => null);
  const store = await context.existingStore();
  if (key === null || store === null) return null;
  const { hasKey } = await import('../../access/store.ts');
  return (await hasKey(store, key)) ? key : null;
}

/** `codex`, or `codex-2` where there is a key of that name. */
async function freeName(base: string, context: Context): Promise<string> {
  const store = await context.existingStore();
  if (store === null) return base;
  const { keyStore } = await import('../../access/store.ts');
  const keys = keyStore(store);
  let name = base;
  for (let number = 2; await keys.isTaken(name); number += 1) name = `${base}-${number}`;
  return name;
}

/**
 * Makes a key without restrictions, of this name or, where it is taken, of one like it, and returns once a running
 * gateway has loaded it.
 */
export async function makeKey(baseName: string, context: Context): Promise<MadeKey> {
  const name = await freeName(baseName, context);
  const { limitedKeys } = await import('../../budgets/key-limits.ts');
  const store = await context.store();
  const { key, row } = await audited(context, { action: 'keys.create', target: name, input: { name } }, () =>
    limitedKeys(store, context.now).create({ name }),
  );
  await context.settle();
  return { id: row.id, name, key };
}

/** Takes a key away that was made for something that failed. */
export async function removeKey({ id, name }: MadeKey, context: Context): Promise<void> {
  const { keyStore } = await import('../../access/store.ts');
  const store = await context.store();
  await audited(context, { action: 'keys.delete', target: name }, () => keyStore(store).remove(id));
}
