import { currentKey } from '../../tools/configuring/current-key.ts';
import { findBinary, findUnusable } from '../../tools/detection/binary.ts';
import { launchOf, launchRecipeOf } from '../../tools/launching/launch.ts';
import { windowsCommand } from '../../tools/launching/windows-command.ts';
import type { Machine } from '../../tools/machine.ts';
import { readToolConfig } from '../../tools/status.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Flag, Options } from '../command.ts';
import type { Context } from '../context.ts';
import type { ChildEnd } from '../terminal/exit-code.ts';
import { failure, usageError } from '../terminal/failure.ts';
import { CANNOT_RUN, runChild } from './child-program.ts';
import { toolFlags } from './flags.ts';
import { type GatewayFacts, keyFromFlags, targetGateway, toolPlace } from './gateway-facts.ts';
import { launchKey } from './launch-key.ts';
import { chosenModel } from './model.ts';

/** Flags of the commands that launch a tool. */
export const launchFlags: readonly Flag[] = [toolFlags.model, toolFlags.apiKey, toolFlags.remote];

export const launchArguments = {
  name: 'args',
  summary: 'what the tool is started with; flags of its own behind --',
  required: false,
  rest: true,
} as const;

/** What the help says of them. */
export const launchAbout =
  'Its environment is set for this run, variables that contradict it are left out, and none of its files is written. The tool has the terminal; its exit code and its signals are passed on. 127: it is not installed, 126: it cannot be run.';

/** As shells say that there is no such program. */
const NOT_FOUND = 127;

/**
 * Runs a tool that is pointed at a gateway by its environment and arguments, until it ends. None of its files is written.
 * @returns how the tool ended; 127 when it is not there, 126 when it cannot be run
 * @throws a failure when no gateway answers, or the tool cannot be launched so
 */
export async function launchTool(tool: Tool, options: Options, context: Context): Promise<ChildEnd> {
  const recipe = launchRecipeOf(tool);
  if (recipe === null)
    throw usageError(
      `${tool.name} reads its endpoint from its configuration: \`gateway tools configure ${tool.id}\` writes it`,
    );
  const place = await toolPlace(context);
  const binary = await findBinary(tool.binaries, place.machine);
  if (binary === null) return missing(tool, place.machine, context);
  const { facts, key } = await gatewayFor(tool, options, context);
  const own = await currentKey(tool, place.machine).catch(() => null);
  // What stands in the files of the tool may win over its environment.
  if (own !== null && own !== key && !(await servesHere(own, options, context)))
    throw failure(
      1,
      'conflicting_configuration',
      `The configuration of ${tool.name} holds another key, which wins over its environment: take it out, or run \`gateway tools configure ${tool.id}\``,
    );
  const configured = await readToolConfig(place, tool, [facts.root]);
  const modelId = options.text('model') ?? (configured.status === 'configured' ? configured.model : null);
  const model = await chosenModel(tool, modelId, facts, context);
  const launch = launchOf(tool, recipe, { root: facts.root, apiKey: key, model });
  const environment = await context.environment();
  for (const name of launch.removed) delete environment[name];
  const args = [...launch.arguments, ...options.rest('args')];
  const { io } = context;
  return runChild({
    command:
      place.machine.platform === 'win32'
        ? windowsCommand(binary.path, args, place.machine.variables['ComSpec'] ?? 'cmd.exe')
        : { file: binary.path, args, verbatim: false },
    environment: { ...environment, ...launch.environment },
    terminal: io.terminal,
    onRefused: (reason) => io.note(`gateway: ${binary.path} cannot be run (${reason})`),
  });
}

async function missing(tool: Tool, machine: Machine, { io }: Context): Promise<ChildEnd> {
  const unusable = await findUnusable(tool.binaries, machine);
  if (unusable !== null) {
    io.note(`gateway: ${unusable} may not be run: set its permission with chmod +x`);
    return { exitCode: CANNOT_RUN };
  }
  io.note(
    `gateway: ${tool.name} is not installed: no program "${tool.binaries[0]}" was found. See ${tool.docsUrl}`,
  );
  return { exitCode: NOT_FOUND };
}

/** The gateway with a key for it. @throws a failure with exit 3 when none runs here */
async function gatewayFor(
  tool: Tool,
  options: Options,
  context: Context,
): Promise<{ facts: GatewayFacts; key: string }> {
  const keyFromFlag = await keyFromFlags(options, context);
  if (keyFromFlag === null && options.text('remote') !== undefined)
    throw usageError('Give the key of that gateway with --api-key, MODELGATE_API_KEY or GATEWAY_API_KEY');
  if (keyFromFlag === null) await context.gateway();
  const key = keyFromFlag ?? (await launchKey(tool.id, context));
  const facts = await targetGateway(options, context, key);
  if (facts.models !== null) return { facts, key };
  throw failure(
    3,
    'gateway_not_running',
    `No gateway answers at ${facts.root}: start it with \`gateway serve\``,
  );
}

/** Whether a key is one of this machine's gateway, when that is the one that is meant. */
async function servesHere(key: string, options: Options, context: Context): Promise<boolean> {
  const store = options.text('remote') === undefined ? await context.existingStore() : null;
  const { hasKey } = await import('../../access/store.ts');
  return store !== null && (await hasKey(store, key));
}
