import { envSyntax } from './env.ts';
import { type FileFormat, fileFormat } from './format.ts';
import { jsoncSyntax, jsonSyntax } from './json.ts';
import { tomlSyntax } from './toml.ts';
import { yamlSyntax } from './yaml.ts';

/** Every format that configuration files of tools are in. */
export const formats = {
  json: fileFormat(jsonSyntax),
  jsonc: fileFormat(jsoncSyntax),
  yaml: fileFormat(yamlSyntax),
  toml: fileFormat(tomlSyntax),
  env: fileFormat(envSyntax),
} as const satisfies Readonly<Record<string, FileFormat>>;

export type FormatId = keyof typeof formats;
