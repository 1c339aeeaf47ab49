import { gatewayUrl } from '../base-path.ts';
import { formats, type Prompt } from './formats.ts';
import type { FormatName } from './names.ts';

export const snippetKinds = ['curl', 'python', 'javascript'] as const;

export type SnippetKind = (typeof snippetKinds)[number];

/** The variable in which programs have their key: the text of a key never stands in a snippet. */
const VARIABLE = 'MODELGATE_KEY';

/** The same request as a program makes it. */
export function snippet(kind: SnippetKind, format: FormatName, prompt: Prompt): string {
  const { body, headers = {}, keyHeader, keyValue, path } = formats[format];
  const url = `${gatewayUrl()}${path(prompt)}`;
  const json = JSON.stringify(body(prompt), null, 2);
  switch (kind) {
    case 'curl':
      return [
        `curl ${prompt.stream ? '-N ' : ''}${shell(url)} \\`,
        `  -H "${keyHeader}: ${keyValue(`$${VARIABLE}`)}" \\`,
        ...Object.entries(headers).map(([name, value]) => `  -H ${shell(`${name}: ${value}`)} \\`),
        `  -H 'content-type: application/json' \\`,
        `  -d ${shell(json)}`,
      ].join('\n');
    case 'python':
      return [
        'import json, os, urllib.request',
        '',
        `body = json.loads(${JSON.stringify(JSON.stringify(body(prompt)))})`,
        'request = urllib.request.Request(',
        `    ${JSON.stringify(url)},`,
        '    data=json.dumps(body).encode(),',
        '    headers={',
        '        "content-type": "application/json",',
        ...Object.entries(headers).map(
          ([name, value]) => `        ${JSON.stringify(name)}: ${JSON.stringify(value)},`,
        ),
        `        ${JSON.stringify(keyHeader)}: ${pythonKey(keyValue)},`,
        '    },',
        ')',
        'with urllib.request.urlopen(request) as answer:',
        '    for line in answer:',
        '        print(line.decode(), end="")',
      ].join('\n');
    case 'javascript':
      return [
        `const response = await fetch(${JSON.stringify(url)}, {`,
        "  method: 'POST',",
        '  headers: {',
        "    'content-type': 'application/json',",
        ...Object.entries(headers).map(
          ([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},`,
        ),
        `    ${JSON.stringify(keyHeader)}: \`${keyValue(`\${process.env.${VARIABLE}}`)}\`,`,
        '  },',
        `  body: JSON.stringify(${json.replaceAll('\n', '\n  ')}),`,
        '});',
        'for await (const bytes of response.body) process.stdout.write(bytes);',
      ].join('\n');
  }
}

function pythonKey(keyValue: (key: string) => string): string {
  const before = keyValue('');
  const variable = `os.environ["${VARIABLE}"]`;
  return before === '' ? variable : `${JSON.stringify(before)} + ${variable}`;
}

/** A word of a POSIX shell. */
function shell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
