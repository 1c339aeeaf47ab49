import { baseUrlFor, gatewayRoot, sameGateway } from '../configuring/base-url.ts';
import type { ToolPlace } from '../configuring/configure.ts';
import { currentKey } from '../configuring/current-key.ts';
import type { JsonObject } from '../files/value.ts';
import { sampleOf } from '../samples/by-tool.ts';
import { instructions, type Sample } from '../samples/sample.ts';
import type { Detection } from '../schema.ts';
import { readToolConfig, type ToolConfig } from '../status.ts';
import { keyVariable, type Tool } from '../tool.ts';
import { type AnswerFindings, answerFrom } from './answer.ts';
import { type Check, type CheckName, type Finding, fail, unchecked, warn } from './check.ts';
import type { DryRunAnswer } from './dry-run.ts';
import { checkConfiguration, checkEnvironment, checkProgram, type ToolEnvironment } from './local.ts';
import { type HttpAnswer, type Route, routeFrom, unreachedRoute } from './route.ts';

/** A request of a tool on its way. */
export interface ToolRequest {
  url: string;
  /** Null: the owner's own, which works on the machine of the gateway alone. */
  key: string | null;
  headers: Readonly<Record<string, string>>;
  body: JsonObject;
}

export interface DoctorInput {
  place: ToolPlace;
  tool: Tool;
  detection: Detection;
  /** Address of the gateway that is meant, unless the tool's files name one that was written there. */
  root: string;
  /** Null where it is not known: the gateway does not see the terminal in which a tool is started. */
  environment: ToolEnvironment | null;
  /** The key that was given to be tried; null takes the tool's own. */
  key: string | null;
  /** The model to try; null takes the tool's own. */
  model: string | null;
  /** Whether to also send the request to the model, which may cost money. */
  send: boolean;
  /** Ids of the models that a key may use; null where no gateway answers. */
  models(root: string, key: string | null): Promise<string[] | null>;
  /** @throws an Error whose message says why nothing answered */
  ask(request: ToolRequest): Promise<HttpAnswer>;
}

export interface Diagnosis {
  tool: string;
  gateway: string;
  model: string | null;
  /** The request that was tried, and what it is modelled on. */
  request: { url: string; bytes: number; seen_in: string | null };
  checks: Check[];
  /** Where it would go, and what each target would not be sent. */
  targets: DryRunAnswer['targets'];
  skipped: DryRunAnswer['skipped'];
}

/** Filler for the instructions of a tool, so that the request has the size of a real one. */
const FILLER = 'word ';

/**
 * Looks for what would keep a tool from working through the gateway: its program, its configuration, what its environment
 * brings along, its key and model, and what a model of another format would not be sent of its request.
 * Nothing is sent to a model unless `send` is set, and nothing is ever sent to another endpoint than the gateway.
 */
export async function diagnose(input: DoctorInput): Promise<Diagnosis> {
  const { detection, environment, place, tool } = input;
  const config = await readToolConfig(place, tool, [input.root]);
  const root = gatewayOf(config, input.root);
  const base = baseOf(tool, config, environment ?? unknownEnvironment, root);
  const sample = sampleOf(tool);
  const key = await keyOf(input);
  const model = input.model ?? config.model ?? modelInEnvironment(input) ?? null;
  const chosen = model ?? (await ownModel(input, root, key));
  const url = base + sample.path.replaceAll('<model>', encodeURI(chosen ?? ''));
  const route = await routeOf(input, { url, key, sample, model: chosen });
  const checks: Check[] = [
    named('Program', checkProgram(tool, detection)),
    named('Configuration', configurationOf(tool, config, environment, root)),
    named(
      'Environment',
      environment === null ? unchecked(unseen(tool)) : checkEnvironment(tool, environment),
    ),
    named('Address', addressOf(tool, config, root, route)),
    named('Key', keyFinding(tool, key, route)),
    named('Model', modelFinding(tool, { model: chosen, isOwn: model !== null }, route)),
    named('Translation', route.translation),
  ];
  if (input.send) checks.push(...(await answered(input, { url, key, sample, model: chosen, route })));
  return {
    tool: tool.id,
    gateway: root,
    model: chosen,
    request: { url, bytes: sample.bytes, seen_in: sample.seenIn },
    checks,
    targets: route.answer?.targets ?? [],
    skipped: route.answer?.skipped ?? [],
  };
}

function configurationOf(
  tool: Tool,
  config: ToolConfig,
  environment: ToolEnvironment | null,
  root: string,
): Finding {
  const byEnvironment = tool.recipe.files.length === 0 && tool.recipe.environment !== undefined;
  if (environment === null && byEnvironment) return unchecked(unseen(tool));
  return checkConfiguration(tool, config, environment ?? unknownEnvironment, root);
}

const unknownEnvironment: ToolEnvironment = { variables: {}, set: [] };

function unseen({ id }: Tool): string {
  return `the variables of your terminal are known there only: \`gateway tools doctor ${id}\` looks at them`;
}

function named(name: CheckName, { message, status }: Finding): Check {
  return { name, status, message };
}

/** The gateway that the tool points at, where that is one that was written there; else the one that is meant. */
function gatewayOf({ drifted, endpoint, status }: ToolConfig, root: string): string {
  const ours = status === 'configured' || (status === 'not_configured' && drifted.length > 0);
  return ours && endpoint !== null && URL.canParse(endpoint) ? gatewayRoot(endpoint) : root;
}

/** The base address that the tool has, as far as it is one of the gateway; requests go nowhere else. */
function baseOf(tool: Tool, { endpoint }: ToolConfig, { variables }: ToolEnvironment, root: string): string {
  const address = endpoint ?? variableOf(tool, variables, '<base_url>');
  return address !== null && sameGateway(address, root)
    ? address.replace(/\/$/, '')
    : baseUrlFor(tool.recipe.api, root);
}

/** The value of the variable that a recipe fills with a placeholder; null where it has none, or it is not set. */
function variableOf(
  { recipe }: Tool,
  variables: ToolEnvironment['variables'],
  placeholder: string,
): string | null {
  const variable = Object.entries(recipe.environment ?? {}).find(([, value]) => value === placeholder);
  return variable === undefined ? null : (variables[variable[0]] ?? null);
}

function modelInEnvironment({ environment, tool }: DoctorInput): string | null {
  return variableOf(tool, (environment ?? unknownEnvironment).variables, '<model>');
}

async function keyOf({ environment, key, place, tool }: DoctorInput): Promise<string | null> {
  if (key !== null) return key;
  const inFile = await currentKey(tool, place.machine).catch(() => null);
  const { variables } = environment ?? unknownEnvironment;
  return inFile ?? variableOf(tool, variables, '<api_key>') ?? variables[keyVariable] ?? null;
}

/** For a tool that asks for models by names of its own: one of those that the gateway has. */
async function ownModel(
  { models, tool }: DoctorInput,
  root: string,
  key: string | null,
): Promise<string | null> {
  const ids = await models(root, key);
  const modelPattern = tool.recipe.api === 'anthropic-messages' ? /(^|\/)claude-/ : /./;
  return ids?.find((id) => modelPattern.test(id)) ?? null;
}

interface Trial {
  url: string;
  key: string | null;
  sample: Sample;
  model: string | null;
}

async function routeOf(input: DoctorInput, { key, model, sample, url }: Trial): Promise<Route> {
  const headers = { ...sample.headers, 'x-gateway-dry-run': '1' };
  try {
    const body = bodyOf(sample, model ?? 'none', sample.bytes);
    return routeFrom(url, await input.ask({ url, key, headers, body }), sample.bytes);
  } catch (error) {
    return unreachedRoute(url, error instanceof Error ? error.message : 'no answer');
  }
}

/** The sample's body for a model. @param bytes that it shall have at least */
function bodyOf({ body }: Sample, model: string, bytes: number): JsonObject {
  const text = JSON.stringify(body).replaceAll('"<model>"', () => JSON.stringify(model));
  const missing = Math.max(bytes - text.length, 0);
  const filler = FILLER.repeat(Math.floor(missing / FILLER.length));
  return JSON.parse(text, (_name, value: unknown) =>
    value === instructions ? `${instructions} ${filler}` : value,
  );
}

function addressOf(tool: Tool, { endpoint }: ToolConfig, root: string, { address }: Route): Finding {
  const expectedUrl = baseUrlFor(tool.recipe.api, root);
  if (address.status !== 'ok' || endpoint === null || !sameGateway(endpoint, root)) return address;
  const configuredUrl = endpoint.replace(/\/$/, '');
  return pathOf(configuredUrl) === pathOf(expectedUrl)
    ? address
    : warn(
        `${configuredUrl} should be ${expectedUrl} for ${tool.name}. The gateway understands it; other servers would not`,
      );
}

function pathOf(address: string): string {
  return new URL(address).pathname.replace(/\/$/, '');
}

function keyFinding({ name }: Tool, key: string | null, { key: finding }: Route): Finding {
  if (key !== null || finding.status !== 'ok') return finding;
  return warn(`none is known here: give the one that ${name} has with --api-key. The owner's own was used`);
}

/** @param isOwn whether it is the one that the tool is set to, or that was given */
function modelFinding(
  { name }: Tool,
  { isOwn, model }: { isOwn: boolean; model: string | null },
  { model: finding }: Route,
): Finding {
  if (model === null)
    return fail(
      `${name} asks for models by their own names, and no connection here has one: name a model with --model`,
    );
  return isOwn
    ? finding
    : { ...finding, message: `none is set for ${name}, so one was tried: ${finding.message}` };
}

/** The request itself, without filler. */
async function answered(input: DoctorInput, trial: Trial & { route: Route }): Promise<Check[]> {
  const { key, model, route, sample, url } = trial;
  const checks = ({ answer, streaming, toolCalls }: AnswerFindings): Check[] => [
    named('Answer', answer),
    named('Streaming', streaming),
    named('Tool calls', toolCalls),
  ];
  const not = (reason: string): Check[] => {
    const later = warn(`not checked: ${reason}`);
    return checks({ answer: later, streaming: later, toolCalls: later });
  };
  if (route.answer === null || model === null) return not('the request would not reach a model');
  try {
    const request = { url, key, headers: sample.headers, body: bodyOf(sample, model, 0) };
    return checks(answerFrom(input.tool.recipe.api, await input.ask(request), sample.calls));
  } catch (error) {
    return not(error instanceof Error ? error.message : 'no answer');
  }
}
