import { driftText } from '../drift/drift.ts';
import type { Detection } from '../schema.ts';
import type { ToolConfig } from '../status.ts';
import { keyVariable, type Tool } from '../tool.ts';
import { type Finding, fail, ok, unchecked, warn } from './check.ts';
import { overridingVariables } from './overrides.ts';

/** The environment in which the tool would be started. */
export interface ToolEnvironment {
  /** The variables that its recipe sets, with their values. */
  variables: Readonly<Record<string, string | undefined>>;
  /** Which of `watchedVariables` are set. */
  set: readonly string[];
}

/** Every variable whose presence matters to a tool. */
export function watchedVariables({ id, recipe }: Tool): string[] {
  return [...overridingVariables(id), ...Object.keys(recipe.environment ?? {}), keyVariable];
}

export function checkProgram({ binaries, extension, name }: Tool, detection: Detection): Finding {
  const { commandPath, installed, reason, runnable, version } = detection;
  if (!installed) {
    const missing =
      extension === undefined
        ? `no program ${binaries.join(' or ')} was found along PATH`
        : `the extension ${extension} was found in no editor`;
    return warn(reason ?? `${missing}: the rest holds for when it is here`);
  }
  if (!runnable) return warn(`${commandPath}: ${reason ?? 'it does not answer'}`);
  return ok(`${name} ${version ?? ''}, ${commandPath}`);
}

/** @param root address of the gateway that is meant */
export function checkConfiguration(
  tool: Tool,
  config: ToolConfig,
  { set }: ToolEnvironment,
  root: string,
): Finding {
  const { id, limitation, name, recipe } = tool;
  const mend = `run \`gateway tools configure ${id}\``;
  if (recipe.files.length > 0) return ofFiles(id, config, root, mend);
  if (recipe.environment === undefined && recipe.steps === undefined)
    return fail(`${name} cannot be pointed at a gateway${limitation === undefined ? '' : `: ${limitation}`}`);
  if (recipe.environment === undefined)
    return unchecked(
      `${name} keeps its endpoints where only it can read them${limitation === undefined ? '' : `: ${limitation}`}`,
    );
  const missing = Object.keys(recipe.environment).filter((variable) => !set.includes(variable));
  if (missing.length === 0)
    return ok(`${name} reads its endpoint from the environment, and all of it is set`);
  return fail(`not set in this environment: ${missing.join(', ')}. ${mend} shows what to set`);
}

function ofFiles(id: string, config: ToolConfig, root: string, mend: string): Finding {
  const { endpoint, error, paths, status } = config;
  const where = paths.join(', ');
  if (error !== null) return fail(error);
  const drift = driftText(id, config);
  if (drift !== null) return fail(drift);
  switch (status) {
    case 'configured':
      return ok(`${where} points at ${endpoint}`);
    case 'other':
      return fail(`${where} points at ${endpoint}, not at ${root}: ${mend}`);
    case 'not_configured':
      return fail(`${where} does not name a gateway: ${mend}`);
    case 'unknown':
      return fail(`${where} cannot be judged: ${mend}`);
  }
}

/** What the environment sets beside the files. */
export function checkEnvironment(tool: Tool, { set }: ToolEnvironment): Finding {
  const winning = overridingVariables(tool.id).filter((variable) => set.includes(variable));
  if (winning.length > 0)
    return fail(
      `${winning.join(', ')} ${winning.length === 1 ? 'is' : 'are'} set here and would win over the configuration: unset ${winning.join(' ')}`,
    );
  if (namesKeyVariable(tool) && !set.includes(keyVariable))
    return fail(
      `${tool.name} reads its key from ${keyVariable}, which is not set here: export ${keyVariable}=sk-…`,
    );
  return ok('nothing in it wins over the configuration');
}

/** Whether the tool's files name the variable and do not hold the key themselves. */
function namesKeyVariable({ recipe }: Tool): boolean {
  const templates = JSON.stringify(recipe.files);
  return templates.includes('<key_variable>') && !templates.includes('<api_key>');
}
