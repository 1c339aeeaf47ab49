import type { ToolChange, ToolPlace } from '../../tools/configuring/configure.ts';
import type { Tool } from '../../tools/tool.ts';
import { audited } from '../audit.ts';
import type { Options } from '../command.ts';
import type { Context } from '../context.ts';
import { confirmDestruction } from '../terminal/confirm.ts';
import { exportLines, type GatewayFacts } from './gateway-facts.ts';
import { keyInPlan, type MadeKey, makeKey, removeKey, type ToolKey } from './key.ts';

export interface SetupInput {
  tool: Tool;
  place: ToolPlace;
  facts: GatewayFacts;
  key: ToolKey;
  model: string | null;
  options: Options;
}

export interface SetupOutcome {
  change: ToolChange;
  dryRun: boolean;
  /** The key that was made for the tool, shown this once; null when none was. */
  createdKey: MadeKey | null;
}

/**
 * Points a tool at a gateway after showing the change and asking, unless `--yes` or `--dry-run` was given.
 * @throws a failure when the answer is no, and what `configureTool` throws
 */
export async function setUpTool(input: SetupInput, context: Context): Promise<SetupOutcome> {
  const { configureTool } = await import('../../tools/configuring/configure.ts');
  const { facts, key, model, options, place, tool } = input;
  const target = { tool, root: facts.root, model };
  const planned = await configureTool(place, { ...target, apiKey: keyInPlan(key), dryRun: true });
  const dryRun = options.on('dry-run');
  if (dryRun || !planned.changed) return { change: planned, dryRun, createdKey: null };
  if (!options.on('yes')) context.io.note(planned.diff);
  await confirmDestruction(`Write this into the configuration of ${tool.name}?`, options, context.io);
  const newKey = key.kind === 'new' ? await makeKey(key.name, context) : null;
  const apiKey = newKey?.key ?? (key.kind === 'given' ? key.text : null);
  const entry = { action: 'tools.configure', target: tool.id, input: { gateway: facts.root, model } };
  try {
    const change = await audited(context, entry, () => configureTool(place, { ...target, apiKey }));
    noteModel(model, facts, context);
    return { change, dryRun, createdKey: newKey };
  } catch (error) {
    if (newKey !== null) await removeKey(newKey, context);
    throw error;
  }
}

/** What came of it, in a sentence; of a dry run the change itself. */
export function changeText(
  { change, dryRun, createdKey }: SetupOutcome,
  { name, recipe }: Tool,
  root: string,
): string {
  const needed = exportLines(change.environment, createdKey?.key ?? null);
  if (recipe.files.length === 0) return needed.length > 0 ? needed.join('\n') : change.steps.join('\n');
  if (dryRun) return change.changed ? change.diff : `${name} points at ${root} already.`;
  if (!change.changed) return `${name} points at ${root} already: nothing was changed.`;
  return `${name} points at ${root} now: ${change.files.map(({ path }) => path).join(', ')}`;
}

/** Says which variables the tool needs besides, and what is left to do by hand. */
export function noteEnvironment(
  { change, dryRun, createdKey }: SetupOutcome,
  { name, recipe }: Tool,
  { io }: Context,
): void {
  const needed = exportLines(change.environment, createdKey?.key ?? null);
  if (io.json || dryRun) return;
  if (recipe.files.length > 0) {
    if (needed.length > 0) io.note(`It reads its key from the environment:\n  ${needed.join('\n  ')}`);
    for (const step of change.steps) io.note(step);
  } else if (needed.length > 0) io.note(`${name} reads its endpoint from these variables only.`);
}

function noteModel(model: string | null, { models, root }: GatewayFacts, { io }: Context): void {
  if (models === null || model === null || models.includes(model)) return;
  // A bare id is listed behind the name of its connection.
  if (models.some((id) => id.endsWith(`/${model}`))) return;
  io.note(`The gateway at ${root} lists no model "${model}": \`gateway models\` shows what there is.`);
}
