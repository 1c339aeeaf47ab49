import { fc } from '../machine/properties.ts';

/** Configuration files as people leave them: odd indentation, comments everywhere, CRLF, marks, trailing commas. */
export interface ConfigText {
  text: string;
  eol: string;
}

type Value = string | number | boolean | Value[] | { [key: string]: Value };

interface Style {
  eol: string;
  unit: string;
  comments: boolean;
  trailingCommas: boolean;
  mark: boolean;
  finalNewline: boolean;
  /** Turns each decision of the layout. */
  seed: number;
}

const key = fc.constantFrom('a', 'b', 'env', 'list', 'models', 'x-y', 'zeta', 'Name');
const leaf = fc.oneof(
  fc.constantFrom(
    '',
    'plain',
    'https://example.com/v1',
    'with "quotes"',
    'ümlaut 🙂',
    "it's",
    'a # b',
    '// no',
  ),
  fc.integer({ min: -1000, max: 1000 }),
  fc.boolean(),
);
const { tree } = fc.letrec<{ tree: { [key: string]: Value }; item: Value }>((tie) => ({
  tree: fc.dictionary(key, tie('item'), { maxKeys: 4, noNullPrototype: true }),
  item: fc.oneof({ maxDepth: 3 }, leaf, tie('tree'), fc.array(leaf, { maxLength: 3 })),
}));

const style: fc.Arbitrary<Style> = fc.record({
  eol: fc.constantFrom('\n', '\r\n'),
  unit: fc.constantFrom('  ', '    ', '\t', '   '),
  comments: fc.boolean(),
  trailingCommas: fc.boolean(),
  mark: fc.boolean(),
  finalNewline: fc.boolean(),
  seed: fc.integer({ min: 1, max: 1_000_000 }),
});

/** Names of our own entries must be free, and what holds them must be a group or a list. */
function withRoom(value: { [key: string]: Value }, listAllowed: boolean): { [key: string]: Value } {
  const { env, list, ...rest } = value;
  return {
    ...rest,
    ...(isGroup(env) ? { env } : {}),
    ...(listAllowed && list !== undefined ? { list: [{ id: 'other', url: 'u' }, { id: 'third' }] } : {}),
  };
}

function isGroup(value: Value | undefined): value is { [key: string]: Value } {
  return typeof value === 'object' && !Array.isArray(value);
}

function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % sides;
  };
}

function finish(lines: readonly string[], { eol, finalNewline, mark }: Style): ConfigText {
  return {
    text: (mark ? '\ufeff' : '') + lines.join('\n').replaceAll('\n', eol) + (finalNewline ? eol : ''),
    eol,
  };
}

function jsonText(value: Value, chosen: Style, withComments: boolean): string {
  const roll = dice(chosen.seed);
  const comments = withComments && chosen.comments;
  const aside = () => (comments && roll(4) === 0 ? ` // note ${roll(1000)}, with: "marks" {` : '');
  const above = (indent: string) => (comments && roll(4) === 0 ? `${indent}/* note ${roll(1000)} */\n` : '');
  const render = (item: Value, indent: string): string => {
    if (typeof item !== 'object') return JSON.stringify(item);
    const entries = Array.isArray(item)
      ? item.map((one) => ['', one] as const)
      : Object.entries(item).map(
          ([name, one]) => [`${JSON.stringify(name)}:${' '.repeat(roll(3))}`, one] as const,
        );
    const [open, close] = Array.isArray(item) ? ['[', ']'] : ['{', '}'];
    if (entries.length === 0) return open + close;
    const last = withComments && chosen.trailingCommas ? ',' : '';
    if (roll(4) === 0 && entries.every(([, one]) => typeof one !== 'object')) {
      const row = entries.map(([name, one]) => name + JSON.stringify(one)).join(', ');
      return `${open} ${row}${last} ${close}`;
    }
    const inner = indent + chosen.unit;
    const lines = entries.map(([name, one], index) => {
      const comma = index === entries.length - 1 ? last : ',';
      return `${above(inner)}${inner}${name}${render(one, inner)}${comma}${aside()}`;
    });
    return `${open}\n${lines.join('\n')}\n${indent}${close}`;
  };
  return render(value, '');
}

export const jsonFiles = fc
  .tuple(tree, style)
  .map(([value, chosen]) => finish([jsonText(withRoom(value, true), chosen, false)], chosen));

export const jsoncFiles = fc
  .tuple(tree, style)
  .map(([value, chosen]) => finish([jsonText(withRoom(value, true), chosen, true)], chosen));

function yamlLines(
  value: { [key: string]: Value },
  indent: string,
  chosen: Style,
  roll: (n: number) => number,
): string[] {
  const unit = chosen.unit.startsWith('\t') ? '  ' : chosen.unit;
  const scalar = (item: Value) => (roll(3) === 0 && item === 'plain' ? 'plain' : JSON.stringify(item));
  const aside = () => (chosen.comments && roll(4) === 0 ? ` # note ${roll(1000)}: a, b` : '');
  return Object.entries(value).flatMap(([name, item]) => {
    const above = chosen.comments && roll(4) === 0 ? [`${indent}# note ${roll(1000)}`] : [];
    if (chosen.comments && roll(6) === 0) above.push('');
    const empty = typeof item === 'object' && Object.keys(item).length === 0;
    if (typeof item !== 'object' || empty || roll(5) === 0)
      return [
        ...above,
        `${indent}${name}: ${typeof item === 'object' ? JSON.stringify(item) : scalar(item)}${aside()}`,
      ];
    if (!Array.isArray(item))
      return [...above, `${indent}${name}:${aside()}`, ...yamlLines(item, indent + unit, chosen, roll)];
    const dash = roll(2) === 0 ? indent : indent + unit;
    const items = item.flatMap((one) => {
      if (!isGroup(one)) return [`${dash}- ${scalar(one)}${aside()}`];
      const [first = '', ...rest] = yamlLines(one, `${dash}  `, { ...chosen, comments: false }, roll);
      return [`${dash}- ${first.trimStart()}`, ...rest];
    });
    return [...above, `${indent}${name}:`, ...items];
  });
}

export const yamlFiles = fc
  .tuple(tree, style)
  .map(([value, chosen]) => finish(yamlLines(withRoom(value, true), '', chosen, dice(chosen.seed)), chosen));

function tomlValue(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, item]) => `${name} = ${tomlValue(item)}`)
    .join(', ')} }`;
}

function tomlLines(
  value: { [key: string]: Value },
  path: readonly string[],
  chosen: Style,
  roll: (n: number) => number,
): string[] {
  const above = () => (chosen.comments && roll(3) === 0 ? [`# note ${roll(1000)} = "x"`] : []);
  const aside = () => (chosen.comments && roll(4) === 0 ? ` # note ${roll(1000)}` : '');
  const groups: string[] = [];
  const own: string[] = [];
  for (const [name, item] of Object.entries(value)) {
    if (isGroup(item) && Object.keys(item).length > 0 && roll(4) !== 0) {
      const inner = [...path, name];
      const header = roll(5) === 0 ? ` [ ${inner.join('.')} ]` : `[${inner.join('.')}]`;
      groups.push('', ...above(), header + aside(), ...tomlLines(item, inner, chosen, roll));
    } else
      own.push(
        ...above(),
        `${roll(4) === 0 ? '  ' : ''}${name}${' '.repeat(roll(3))}= ${tomlValue(item)}${aside()}`,
      );
  }
  return [...own, ...groups];
}

export const tomlFiles = fc
  .tuple(tree, style)
  .map(([value, chosen]) => finish(tomlLines(withRoom(value, false), [], chosen, dice(chosen.seed)), chosen));

export const envFiles = fc
  .tuple(
    fc.array(
      fc.oneof(
        fc
          .tuple(
            fc.constantFrom('A', 'B_C', 'export D', '  E', 'F '),
            fc.constantFrom(
              '1',
              '"two words"',
              "'single # no comment'",
              'bare # comment',
              '',
              'https://example.com/v1?a=b',
            ),
          )
          .map(([name, value]) => `${name}=${value}`),
        fc.constantFrom('', '# a comment', '  # NAME=value'),
      ),
      { maxLength: 8 },
    ),
    style,
  )
  .map(([lines, chosen]) => finish(lines, chosen));
