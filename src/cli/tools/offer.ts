import { findTool } from '../../tools/catalogue/index.ts';
import { isInstalled } from '../../tools/detection/detect.ts';
import { readToolConfig } from '../../tools/status.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Options } from '../command.ts';
import type { Context } from '../context.ts';
import { reportOf } from '../terminal/failure.ts';
import { localRoot, toolPlace } from './gateway-facts.ts';
import { changeText, noteEnvironment } from './set-up.ts';
import { setUpAndTest } from './set-up-and-test.ts';
import { setupTools } from './setup-tools.ts';

/**
 * Asks whether the tools that are installed here and do not point at this gateway yet are to be pointed at it, and does
 * so. Asks only at a terminal. No program is run for the question. What fails for one tool is reported, and the
 * others go on.
 * @param key the gateway key that they get; null makes one for each
 */
export async function offerToolSetup(key: string | null, context: Context): Promise<void> {
  const { io } = context;
  if (!io.interactive) return;
  const candidates = await toolsToSetUp(context);
  if (candidates.length === 0) return;
  const names = candidates.map(({ name }) => name).join(', ');
  const chosen = await io.ask.chooseMany(
    `Installed here: ${names}. Point any of them at this gateway?`,
    candidates.map(({ id, name }) => ({ value: id, label: name, hint: `gateway setup-${id}` })),
  );
  const left = candidates.filter(({ id }) => chosen?.includes(id) !== true);
  if (left.length > 0) io.note(`For later: ${left.map(({ id }) => `\`gateway setup-${id}\``).join(', ')}`);
  for (const tool of candidates.filter(({ id }) => chosen?.includes(id) === true))
    await setUp(tool, key, context);
}

/** The tools that are installed here and do not point at this gateway yet. No program is run for it. */
export async function toolsToSetUp(context: Context): Promise<Tool[]> {
  const place = await toolPlace(context);
  const root = await localRoot(context);
  const candidates: Tool[] = [];
  for (const { id } of setupTools) {
    const tool = findTool(id);
    if (tool === null || tool.recipe.files.length === 0) continue;
    if (!(await isInstalled(tool, place.machine))) continue;
    const { status } = await readToolConfig(place, tool, [root]);
    if (status !== 'configured') candidates.push(tool);
  }
  return candidates;
}

async function setUp(entry: Tool, key: string | null, context: Context): Promise<void> {
  const { io } = context;
  try {
    const { facts, outcome, test, tool } = await setUpAndTest(entry, agreed(key), context);
    io.note(`${changeText(outcome, tool, facts.root)}. \`gateway tools restore ${tool.id}\` undoes it.`);
    if (test?.ok === true) io.note(`The route works: ${test.model} answered in ${test.latency_ms} ms.`);
    else if (test !== null) io.note(`The route does not work yet. ${test.error}`);
    noteEnvironment(outcome, tool, context);
  } catch (error) {
    io.note(`${entry.name}: ${reportOf(error).message}`);
  }
}

/** The flags of a setup that was agreed to. */
function agreed(key: string | null): Options {
  return {
    argument: () => undefined,
    text: (flag) => (flag === 'api-key' && key !== null ? key : undefined),
    texts: () => [],
    count: () => undefined,
    rest: () => [],
    on: (flag) => flag === 'yes',
  };
}
