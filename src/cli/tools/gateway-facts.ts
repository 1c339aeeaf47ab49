import { request } from 'undici';
import { tools } from '../../tools/catalogue/index.ts';
import { gatewayRoot, rootAt } from '../../tools/configuring/base-url.ts';
import type { ToolPlace } from '../../tools/configuring/configure.ts';
import { shownTools, toolById } from '../../tools/custom/store.ts';
import { forVersion } from '../../tools/detection/version.ts';
import { machineOf, machineVariables } from '../../tools/machine.ts';
import { keyVariable, type Tool } from '../../tools/tool.ts';
import type { Options } from '../command.ts';
import type { Context } from '../context.ts';
import type { RunningGateway } from '../gateway/client.ts';
import { failure, reportOf } from '../terminal/failure.ts';

const TIMEOUT_MS = 10_000;

/** The tool that is meant. @throws a failure with exit 2 when there is none of this id */
export async function namedTool(id: string | undefined, context: Context): Promise<Tool> {
  const dataDir = await context.dataDir();
  const tool = await toolById(dataDir, id ?? '');
  if (tool === null)
    throw failure(2, 'bad_usage', `There is no tool "${id}": \`gateway tools list\` shows what there is`);
  return tool;
}

/** One tool by its id, or every tool that is shown. */
export async function chosenTools(id: string | undefined, context: Context): Promise<readonly Tool[]> {
  if (id !== undefined) return [await namedTool(id, context)];
  const dataDir = await context.dataDir();
  return shownTools(dataDir);
}

export const toolIds = tools.map(({ id }) => id);

/** The tool with the recipe of the version that is installed here, where its recipes differ. */
export async function installedTool(tool: Tool, { machine }: ToolPlace): Promise<Tool> {
  if (tool.formerRecipes === undefined) return tool;
  const { createDetector } = await import('../../tools/detection/detect.ts');
  const { version } = await createDetector(machine).detect(tool);
  return forVersion(tool, version ?? null);
}

/** This machine and the data directory, for the use cases of tools. */
export async function toolPlace(context: Context): Promise<ToolPlace> {
  const dataDir = await context.dataDir();
  const machine = machineOf(await context.variables(machineVariables));
  return { machine, dataDir, now: context.now };
}

/** The gateway key that was given with `--api-key` or in the environment, or null. */
export async function keyFromFlags(options: Options, context: Context): Promise<string | null> {
  const flag = options.text('api-key');
  if (flag !== undefined) return flag;
  return (await context.variable(keyVariable)) ?? (await context.variable('GATEWAY_API_KEY')) ?? null;
}

/** Where this gateway listens, or would: the running one's address unless a port was named. */
export async function localRoot(context: Context): Promise<string> {
  const config = await context.config().catch(() => null);
  const running = config?.sources.port === 'flag' ? null : await context.findGateway();
  if (running !== null) return gatewayRoot(running.url);
  const { host, port } = await context.config();
  return rootAt(host, port);
}

export interface GatewayFacts {
  root: string;
  /** Ids of the models that the key may use; null when the gateway could not be asked. */
  models: string[] | null;
  /** The gateway of this data directory, when it is the one that is meant and runs. */
  running: RunningGateway | null;
}

/**
 * The gateway that a tool is to be pointed at, with its models. A key is checked before it is written anywhere.
 * @throws a failure: exit 4 for a key that it refuses, exit 1 when a remote gateway does not answer
 */
export async function targetGateway(
  options: Options,
  context: Context,
  key: string | null,
): Promise<GatewayFacts> {
  const remote = options.text('remote');
  if (remote !== undefined) {
    const root = gatewayRoot(remote);
    return { root, models: await modelsOf(root, key), running: null };
  }
  const root = await localRoot(context);
  const running = await context.findGateway();
  if (running !== null && gatewayRoot(running.url) === root) {
    if (key !== null) return { root, models: await modelsOf(root, key), running };
    return { root, models: await modelsForOwner(running), running };
  }
  if (key === null) return { root, models: null, running: null };
  const { sources } = await context.config();
  try {
    // A named port may be that of another gateway of this machine, whose keys are not known here.
    if (sources.port === 'flag') return { root, models: await modelsOf(root, key), running: null };
  } catch (error) {
    if (reportOf(error).code !== 'gateway_unreachable') throw error;
  }
  await checkStoredKey(key, context);
  return { root, models: null, running: null };
}

async function checkStoredKey(key: string, context: Context): Promise<void> {
  const store = await context.existingStore();
  const { hasKey } = await import('../../access/store.ts');
  if (store !== null && (await hasKey(store, key))) return;
  throw wrongKey('This gateway');
}

function wrongKey(who: string) {
  return failure(4, 'invalid_api_key', `${who} has no such key: make one with \`gateway keys add NAME\``);
}

/** Ids of the models that a key may use, or the owner's where no key is known; null where no gateway answers. */
export async function modelsAt(
  root: string,
  key: string | null,
  running: RunningGateway | null,
): Promise<string[] | null> {
  if (key !== null) return modelsOf(root, key).catch(() => null);
  return running === null || gatewayRoot(running.url) !== root ? null : modelsForOwner(running);
}

async function modelsForOwner(running: RunningGateway): Promise<string[] | null> {
  const { body, status } = await running.send('/v1/models', { method: 'GET', timeoutMs: TIMEOUT_MS });
  const text = await textOf(body);
  return status === 200 ? modelIds(parsed(text)) : null;
}

/** @throws a failure when the gateway refuses the key or does not answer */
async function modelsOf(root: string, key: string | null): Promise<string[] | null> {
  if (key === null) return null;
  const url = `${root}/v1/models`;
  const answer = await request(url, {
    headers: { authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
    throw failure(1, 'gateway_unreachable', `No gateway answers at ${root} (${reason})`);
  });
  const text = await textOf(answer.body);
  if (answer.statusCode === 401) throw wrongKey(`The gateway at ${root}`);
  if (answer.statusCode !== 200)
    throw failure(
      1,
      'unexpected_answer',
      `${url} answered ${answer.statusCode}: is that the address of a gateway?`,
    );
  const models = modelIds(parsed(text));
  if (models !== null) return models;
  throw failure(
    1,
    'unexpected_answer',
    `${url} answered no list of models: is that the address of a gateway?`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function modelIds(list: unknown): string[] | null {
  if (typeof list !== 'object' || list === null || !('data' in list) || !Array.isArray(list.data))
    return null;
  return list.data.flatMap((model: { id?: unknown }) => (typeof model?.id === 'string' ? [model.id] : []));
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

/**
 * Command lines that put the variables of a tool into the environment.
 * @param madeKey a key that was made for it just now; null leaves a key that is known already unsaid
 */
export function exportLines(
  environment: Readonly<Record<string, string | null>>,
  madeKey: string | null,
): string[] {
  return Object.entries(environment).map(([name, value]) => {
    const shown = value ?? madeKey ?? (name === keyVariable ? 'sk-…' : `"$${keyVariable}"`);
    return process.platform === 'win32' ? `setx ${name} ${shown}` : `export ${name}=${shown}`;
  });
}
