import { z } from 'zod';
import { configFile } from '../config.ts';

interface JsonSchema {
  properties?: Readonly<Record<string, JsonSchema>>;
}

/** Says what `config.json` may have for a setting, as JSON Schema; null for what cannot stand there. */
export function openAllowedValues(): (name: string) => unknown {
  let whole: JsonSchema | null = null;
  return (name) => {
    // Made when it is first asked for, which few gateways are.
    whole ??= z.toJSONSchema(configFile, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
    let schema: JsonSchema | undefined = whole;
    for (const part of name.split('.')) schema = schema?.properties?.[part];
    return schema ?? null;
  };
}
