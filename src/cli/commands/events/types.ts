import {
  type EventName,
  eventTypes,
  isEventName,
  nameOfType,
  typeOf,
} from '../../../events/types/catalogue.ts';
import { jsonSchemaOf } from '../../../events/types/schema-document.ts';
import type { Command } from '../../command.ts';
import { usageError } from '../../terminal/failure.ts';

interface Row {
  name: string;
  type: string;
  when: string;
}

export const eventsTypesCommand: Command = {
  arguments: [
    {
      name: 'type',
      summary: 'show the JSON Schema of this type; the name alone will do (budget.exceeded)',
      required: false,
      suggestions: Object.keys(eventTypes),
    },
  ],
  flags: [],
  needs: 'nothing',
  about: 'These are the events of the gateway itself. Configurations and alerts choose among them.',
  examples: [
    { command: 'gateway events types', does: 'every type and when it comes' },
    { command: 'gateway events types budget.exceeded', does: 'the JSON Schema of its data' },
  ],
  run: async (options, { io }) => {
    const typeArgument = options.argument('type');
    if (typeArgument !== undefined) {
      const schema = jsonSchemaOf(nameOf(typeArgument));
      io.result(schema, () => JSON.stringify(schema, null, 2));
      return 0;
    }
    const types: Row[] = (Object.keys(eventTypes) as EventName[]).map((name) => ({
      name,
      type: typeOf(name),
      when: eventTypes[name].when,
    }));
    io.result({ types }, () =>
      io.table<Row>(
        [
          { title: 'NAME', cell: ({ name }) => name },
          { title: 'WHEN', cell: ({ when }) => when },
        ],
        types,
      ),
    );
    return 0;
  },
};

/** @throws Failure for what is no type */
function nameOf(text: string): EventName {
  const name = isEventName(text) ? text : nameOfType(text);
  if (name !== null) return name;
  throw usageError(`There is no type "${text}": \`gateway events types\` lists them`);
}
