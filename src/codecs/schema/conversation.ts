import type { FunctionTool, OutputShape, Tool } from '../model/conversation.ts';
import type { WireFormat } from '../wire-format.ts';
import { type FitSchema, fitSchema } from './fit.ts';
import type { RestorePlan } from './restore.ts';
import type { SchemaRules } from './rules.ts';
import { isStrict } from './strict.ts';
import { outputRulesFor, rulesFor, type SchemaRuleName } from './targets.ts';

export interface FittedTools {
  tools: Tool[];
  /** For tools whose arguments have to be converted back. */
  plans: ReadonlyMap<Tool, RestorePlan>;
}

/**
 * The tools with schemas that the target takes.
 * @param dropped gets `tools.NAME.keyword` for each keyword that holds no longer
 * @param fit fits one schema
 * @throws GatewayError `invalid_request` that names a tool whose schema is too deep or too large
 */
export function fitTools(
  tools: readonly Tool[],
  { format, name }: { format: WireFormat; name: SchemaRuleName },
  dropped: string[],
  fit: FitSchema = fitSchema,
): FittedTools {
  const rules = rulesFor(format, name);
  const plans = new Map<Tool, RestorePlan>();
  const fitted = tools.map((tool) => {
    if (tool.kind !== 'function') return tool;
    const path = `tools.${tool.name}`;
    const { plan, schema } = fitOne(tool, rules, path, dropped, fit);
    const strict = strictFlag(tool.strict, schema, rules, path, dropped);
    const result = { ...tool, schema, strict };
    if (plan !== null) plans.set(result, plan);
    return result;
  });
  return { tools: fitted, plans };
}

function fitOne(
  { schema }: FunctionTool,
  rules: SchemaRules,
  path: string,
  dropped: string[],
  fit: FitSchema,
): { schema: FunctionTool['schema']; plan: RestorePlan | null } {
  if (schema === null) return { schema, plan: null };
  const fitted = fit(schema, rules, path);
  dropped.push(...fitted.lost.map((keyword) => `${path}.${keyword}`));
  return fitted;
}

/** `strict`, as long as the schema is of the kind that may be held to it; else an explicit no, for some hold it to be the default. */
function strictFlag(
  strict: boolean | null,
  schema: FunctionTool['schema'],
  { strictRefused }: SchemaRules,
  path: string,
  dropped: string[],
): boolean | null {
  if (strict !== true || strictRefused === null || isStrict(schema ?? {}, strictRefused)) return strict;
  dropped.push(`${path}.strict`);
  return false;
}

/**
 * The shape of the answer with a schema that the target takes.
 * @param path what the client's format calls it
 */
export function fitOutput(
  output: OutputShape,
  { format, name }: { format: WireFormat; name: SchemaRuleName },
  path: string,
  dropped: string[],
): OutputShape {
  if (output.kind !== 'schema') return output;
  const rules = outputRulesFor(format, name);
  const { lost, schema } = fitSchema(output.schema, rules, path);
  dropped.push(...lost.map((keyword) => `${path}.${keyword}`));
  return { ...output, schema, strict: strictFlag(output.strict, schema, rules, path, dropped) };
}
