import { formats } from '../files/formats.ts';
import type { ToolRow } from '../schema.ts';
import type { ConfigFile, Tool } from '../tool.ts';
import { filledSetting, filledText, type Values } from './template.ts';

/** The placeholders that are left for the user to fill in. */
const blanks: Values = { base_url: '<base_url>', api_key: '<api_key>', model: '<model>' };

type ByHand = (tool: Tool, paths: readonly string[]) => ToolRow['by_hand'];

/** `byHand`, which remembers the text of each file: recipes do not change. */
export function createByHand(): ByHand {
  const texts = new Map<ConfigFile, string>();
  const remembered = (file: ConfigFile) => {
    const text = texts.get(file) ?? textOf(file);
    texts.set(file, text);
    return text;
  };
  return (tool, paths) => byHand(tool, paths, remembered);
}

/**
 * What the user has to write to point a tool at a gateway by hand, with `<base_url>`, `<api_key>` and `<model>` to be
 * filled in.
 * @param paths of the tool's files, in the order of its recipe
 */
function byHand(
  { recipe }: Tool,
  paths: readonly string[],
  textIn: (file: ConfigFile) => string,
): ToolRow['by_hand'] {
  const { environment = {}, files, steps = [] } = recipe;
  const texts = files.flatMap((file, index) => {
    const text = textIn(file);
    return text === '' ? [] : [{ path: paths[index] ?? file.names.at(-1) ?? '', text }];
  });
  const refersToVariable = JSON.stringify(files).includes('<key_variable>');
  const variables = Object.entries(environment).map(([name, text]) => [name, filledText(text, blanks)]);
  if (refersToVariable) variables.push([filledText('<key_variable>', blanks), '<api_key>']);
  return {
    files: texts,
    environment: Object.fromEntries(variables),
    steps: steps.map((step) => filledText(step, blanks)),
  };
}

/** The file with nothing but the settings of the gateway in it. */
function textOf(file: ConfigFile): string {
  const format = formats[file.format];
  return file.settings.reduce((text, setting) => {
    const filled = filledSetting(setting, blanks);
    return filled === null ? text : format.set(text, filled.path, filled.value);
  }, '');
}
