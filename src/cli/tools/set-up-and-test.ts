import type { Tool } from '../../tools/tool.ts';
import type { Options } from '../command.ts';
import type { Context } from '../context.ts';
import { type GatewayFacts, installedTool, targetGateway, toolPlace } from './gateway-facts.ts';
import { keyForSetup } from './key.ts';
import { chosenModel } from './model.ts';
import { type RouteTest, testRoute } from './route-test.ts';
import { type SetupOutcome, setUpTool } from './set-up.ts';

export interface SetupResult {
  /** With the recipe of the version that is installed. */
  tool: Tool;
  outcome: SetupOutcome;
  /** Null where nothing was sent. */
  test: RouteTest | null;
  model: string | null;
  facts: GatewayFacts;
}

/**
 * Points a tool at a gateway with a key and a model found or asked for, and sends one small request by the same way.
 * @param options the flags of `gateway setup-TOOL`
 * @throws a failure when the answer is no, or something is missing and there is no terminal to ask at
 */
export async function setUpAndTest(entry: Tool, options: Options, context: Context): Promise<SetupResult> {
  const place = await toolPlace(context);
  const tool = await installedTool(entry, place);
  const key = await keyForSetup(tool, place, options, context);
  const facts = await targetGateway(options, context, key.kind === 'given' ? key.text : null);
  const model = await chosenModel(tool, options.text('model') ?? null, facts, context);
  const outcome = await setUpTool({ tool, place, facts, key, model, options }, context);
  const tries = !outcome.dryRun && !options.on('no-test');
  const text = outcome.createdKey?.key ?? (key.kind === 'given' ? key.text : null);
  const test = tries ? await testRoute({ tool, facts, key: text, model }, context) : null;
  return { tool, outcome, test, model, facts };
}
