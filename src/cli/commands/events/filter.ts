import {
  type CesqlError,
  type CompiledExpression,
  compile,
  type Evaluation,
  type Position,
  print,
  type Warning,
} from '../../../events/cesql/cesql.ts';
import type { EventAttributes } from '../../../events/cloudevents/event.ts';
import type { Command } from '../../command.ts';
import type { Context } from '../../context.ts';
import { eventsInFile } from '../../events/events-in-file.ts';
import { excerpt } from '../../terminal/expression-excerpt.ts';
import type { Io } from '../../terminal/io.ts';
import { count, printable } from '../../terminal/text.ts';

export const eventsFilterCommand: Command = {
  arguments: [
    { name: 'expression', summary: 'a CESQL expression, in quotes for your shell', required: true },
  ],
  flags: [
    {
      name: 'event',
      value: 'FILE',
      summary: 'test it on the CloudEvents in this file; - is stdin',
    },
  ],
  needs: 'nothing',
  about:
    'Shows where an expression is wrong, and warns about expressions that are valid but rarely intended. The file has one event in the JSON format of CloudEvents, a list of them, or one on each line. Exit 2 when the expression is wrong, 1 when no event passes.',
  examples: [
    { command: `gateway events filter "type LIKE 'com.example.%'"`, does: 'check an expression' },
    {
      command: `gateway events filter "priority > 3" --event event.json --json`,
      does: 'the value for an event, and what went wrong',
    },
  ],
  run: async (options, { io }: Context) => {
    const text = options.argument('expression') ?? '';
    const compiled = compile(text);
    if (!compiled.ok) {
      if (!io.json) io.note(noteOf('', text, compiled.error));
      if (io.json) io.result(invalidDocument(text, compiled.error), () => '');
      return 2;
    }
    const { expression } = compiled;
    if (!io.json) for (const warning of expression.warnings) io.note(noteOf('Warning: ', text, warning));
    const file = options.text('event');
    const events =
      file === undefined ? null : (await eventsInFile(file, io)).map(({ attributes }) => attributes);
    const outcomes = events?.map((event) => outcomeOf(expression, event)) ?? null;
    io.result(validDocument(expression, outcomes), () => textOf(expression, outcomes, io));
    return outcomes === null || outcomes.some(({ passes }) => passes) ? 0 : 1;
  },
};

interface Outcome extends Evaluation {
  id: string;
  source: string;
  type: string;
  passes: boolean;
}

function outcomeOf(expression: CompiledExpression, event: EventAttributes): Outcome {
  const { id, source, type } = event;
  return { id, source, type, passes: expression.matches(event), ...expression.evaluate(event) };
}

const placeOf = ({ column, end, line, offset }: Position) => ({ line, column, offset, end });
const errorDocument = ({ kind, message, position }: CesqlError) => ({
  kind,
  message,
  ...placeOf(position),
});
const warningDocument = ({ code, message, position }: Warning) => ({
  code,
  message,
  ...placeOf(position),
});

function invalidDocument(text: string, error: CesqlError) {
  return { expression: text, valid: false, error: errorDocument(error) };
}

function validDocument(expression: CompiledExpression, outcomes: readonly Outcome[] | null) {
  return {
    expression: expression.text,
    valid: true,
    canonical: print(expression.syntax),
    type: expression.type,
    attributes: expression.attributes,
    warnings: expression.warnings.map(warningDocument),
    ...(outcomes === null ? {} : { events: outcomes.map(outcomeDocument) }),
  };
}

function outcomeDocument({ errors, id, passes, source, type, value }: Outcome) {
  return { id, source, type, passes, value, errors: errors.map(errorDocument) };
}

function noteOf(
  before: string,
  text: string,
  { message, position }: Pick<CesqlError, 'message' | 'position'>,
): string {
  const line = position.line > 1 ? `line ${position.line}, ` : '';
  return `${before}${line}column ${position.column}: ${message}\n${excerpt(text, position)}`;
}

function textOf(expression: CompiledExpression, outcomes: readonly Outcome[] | null, io: Io): string {
  const { attributes, text } = expression;
  if (outcomes === null) {
    const reads = attributes.length === 0 ? 'It reads no attribute.' : `It reads ${attributes.join(', ')}.`;
    return `The expression is valid. ${reads}`;
  }
  const [only] = outcomes;
  if (only !== undefined && outcomes.length === 1) return textOfOne(only, text);
  const table = io.table(
    [
      {
        title: 'PASSES',
        cell: ({ passes }) => (passes ? 'yes' : 'no'),
        style: ({ passes }) => (passes ? 'green' : null),
      },
      { title: 'ID', cell: ({ id }) => id },
      { title: 'SOURCE', cell: ({ source }) => source },
      { title: 'TYPE', cell: ({ type }) => type },
      { title: 'ERROR', cell: ({ errors }) => errors[0]?.message ?? '' },
    ],
    outcomes,
  );
  const passed = outcomes.filter(({ passes }) => passes).length;
  return `${table}\n${passed} of ${count(outcomes.length, 'event')} ${passed === 1 ? 'passes' : 'pass'}.`;
}

function textOfOne({ errors, passes, value }: Outcome, text: string): string {
  if (passes) return 'The event passes.';
  const why =
    errors.length > 0
      ? `${count(errors.length, 'error')}.`
      : `the value is ${printable(JSON.stringify(value))}.`;
  return [`The event does not pass: ${why}`, ...errors.map((error) => noteOf('', text, error))].join('\n');
}
